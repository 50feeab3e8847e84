// The kernels of window.cu where every window asks for itself, from files to files. SOURCE is their text.
#include "lanes.h"
#include SOURCE

int main() {
    const auto stream = read<Half>("stream"), questions = read<Half>("questions"), slope = read<Half>("slope");
    const auto tokens = read<int>("tokens");
    const auto words = read<unsigned>("words"), share_words = read<unsigned>("share_words");
    const auto d_last = read("d_last");
    auto pattern = empty(BATCH * HEADS * LENGTH), last = empty(BATCH * 256);
    auto mixed = empty<Half>(slope.size()), d_questions = mixed, last_half = empty<Half>(BATCH * 256);
    auto kept = empty<unsigned char>(BATCH * LENGTH * 32);
    std::vector<float> d_stream(stream.size(), 0);
    launch(BLOCKS, 32 * WARPS, 4, [&] { window_last(stream.data(), tokens.data(), words.data(), last.data(), last_half.data()); });
    launch(BLOCKS, 32 * WARPS, 4, [&] {
        window_forward(stream.data(), tokens.data(), words.data(), share_words.data(), questions.data(), pattern.data(),
            mixed.data(), kept.data());
    });
    launch(BLOCKS, 32 * WARPS, 4, [&] {
        window_backward(stream.data(), tokens.data(), kept.data(), share_words.data(), questions.data(), pattern.data(),
            slope.data(), nullptr, d_stream.data(), d_questions.data());
    });
    launch(BLOCKS, 32 * WARPS, 4, [&] {
        window_last_backward(d_last.data(), tokens.data(), words.data(), nullptr, d_stream.data());
    });
    write("last", last), write("mixed", mixed), write("d_questions", d_questions), write("d_stream", d_stream);
}
