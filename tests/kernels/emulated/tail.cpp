// The kernel of tail.cu where every position has a row of its own, from files to files. SOURCE is its text.
#include "lanes.h"
#include SOURCE

static std::vector<int> whole(const char* path) {
    const auto said = read(path);
    std::vector<int> found(said.size());
    memcpy(found.data(), said.data(), 4 * said.size());
    return found;
}

int main() {
    const auto attended = read("attended"), stream = read("stream"), weights = read("weights");
    const auto inner = read("inner"), outer = read("outer"), readout = read("readout"), vectors = read("vectors");
    const auto targets = whole("targets"), said = whole("words");
    const std::vector<unsigned> words(said.begin(), said.end());
    std::vector<int> places(BATCH * LENGTH);
    for (int n = 0; n < BATCH * LENGTH; n++) places[n] = n;
    const auto empty = [](int columns) { return std::vector<float>((size_t)COUNT * columns, NAN); };
    auto d_stream = empty(256), d_attended = empty(256), normed = empty(256), d_outer = empty(256), last = empty(256);
    auto hidden = empty(64), d_hidden = empty(64), d_logits = empty(ANSWERS);
    std::vector<float> row_sums(BLOCKS * 3 * 256, NAN), losses(BLOCKS * WARPS, NAN);
    launch(BLOCKS, 32 * WARPS, BYTES, [&] {
        tail_gradient(attended.data(), stream.data(), places.data(), targets.data(), weights.data(), inner.data(), outer.data(),
            readout.data(), vectors.data(), words.data(), d_stream.data(), d_attended.data(), normed.data(), hidden.data(),
            d_hidden.data(), d_outer.data(), last.data(), d_logits.data(), row_sums.data(), losses.data());
    });
    write("d_stream", d_stream), write("d_attended", d_attended), write("normed", normed), write("hidden", hidden);
    write("d_hidden", d_hidden), write("d_outer", d_outer), write("final", last), write("d_logits", d_logits);
    write("row_sums", row_sums), write("losses", losses);
}
