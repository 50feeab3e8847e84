// The kernel of tail.cu where every position has a row of its own, from files to files. SOURCE is its text.
#include "lanes.h"
#include SOURCE

int main() {
    const auto attended = read<Half>("attended");
    const auto stream = read("stream"), weights = read("weights"), vectors = read("vectors");
    const auto inner = read("inner"), outer = read("outer"), readout = read("readout");
    const auto targets = read<int>("targets");
    const auto words = read<unsigned>("words");
    auto d_stream = empty(COUNT * 256), row_sums = empty(BLOCKS * 3 * 256), losses = empty(BLOCKS * GROUPS * WARPS);
    auto d_attended = empty<Half>(COUNT * 256), normed = d_attended, d_outer = d_attended, last = d_attended;
    auto hidden = empty<Half>(COUNT * 64), d_hidden = hidden, d_logits = empty<Half>(COUNT * ANSWERS);
    launch(BLOCKS, 32 * WARPS * GROUPS, BYTES, [&] {
        tail_gradient(attended.data(), stream.data(), targets.data(), weights.data(), inner.data(), outer.data(),
            readout.data(), vectors.data(), words.data(), d_stream.data(), d_attended.data(), normed.data(), hidden.data(),
            d_hidden.data(), d_outer.data(), last.data(), d_logits.data(), row_sums.data(), losses.data());
    }, 32 * WARPS);
    write("d_stream", d_stream), write("d_attended", d_attended), write("normed", normed), write("hidden", hidden);
    write("d_hidden", d_hidden), write("d_outer", d_outer), write("final", last), write("d_logits", d_logits);
    write("row_sums", row_sums), write("losses", losses);
}
