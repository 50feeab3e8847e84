// Both kernels of attention.cu where every position has a row of its own, from files to files. SOURCE is their text.
#include "lanes.h"
#include SOURCE

int main() {
    const auto rows = read<Half>("rows"), slope = read<Half>("slope");
    const auto words = read<unsigned>("words");
    std::vector<int> places(BATCH * LENGTH);
    for (int n = 0; n < BATCH * LENGTH; n++) places[n] = n;
    auto mixed = empty<Half>(slope.size()), d_rows = empty<Half>(rows.size());
    auto normaliser = empty(BATCH * HEADS * 32);
    launch(BLOCKS, 64 * PAIRS, PAIRS * FORWARD_BYTES, [&] {
        attention_forward(rows.data(), places.data(), words.data(), mixed.data(), normaliser.data());
    });
    launch(BLOCKS, 64 * PAIRS, PAIRS * BACKWARD_BYTES, [&] {
        attention_backward(rows.data(), places.data(), words.data(), slope.data(), normaliser.data(), d_rows.data());
    });
    write("mixed", mixed), write("d_rows", d_rows);
}
