// Both kernels of attention.cu where every position has a row of its own, from files to files. SOURCE is their text.
#include "lanes.h"
#include SOURCE

int main() {
    const auto rows = read("rows"), slope = read("slope"), said = read("words");
    std::vector<unsigned> words(said.size());
    memcpy(words.data(), said.data(), 4 * said.size());
    std::vector<int> places(BATCH * LENGTH);
    for (int n = 0; n < BATCH * LENGTH; n++) places[n] = n;
    std::vector<float> mixed(slope.size(), NAN), normaliser(BATCH * HEADS * 32, NAN), d_rows(rows.size(), NAN);
    launch(BLOCKS, 64 * PAIRS, 4 * PAIRS * FORWARD_FLOATS, [&] {
        attention_forward(rows.data(), places.data(), words.data(), mixed.data(), normaliser.data());
    });
    launch(BLOCKS, 64 * PAIRS, 4 * PAIRS * BACKWARD_FLOATS, [&] {
        attention_backward(rows.data(), places.data(), words.data(), slope.data(), normaliser.data(), d_rows.data());
    });
    write("mixed", mixed);
    write("d_rows", d_rows);
}
