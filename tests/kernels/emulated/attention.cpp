// Both kernels of attention.cu where every position has a row of its own, from files to files. SOURCE is their text.
#include "lanes.h"
#include SOURCE

int main() {
    const auto rows = read<Half>("rows"), keys = read<Half>("keys"), slope = read<Half>("slope");
    const auto words = read<unsigned>("words");
    std::vector<int> places(BATCH * LENGTH);
    for (int n = 0; n < BATCH * LENGTH; n++) places[n] = n;
    auto mixed = empty<Half>(BATCH * QUERIES * HEADS * VALUE), d_rows = empty<Half>(rows.size());
    auto d_keys = empty<Half>(keys.size() * HEADS);
    auto normaliser = empty(BATCH * HEADS * 32);
#if ONE_KEY
#define KEYS keys.data(),
#define D_KEYS , d_keys.data()
#else
#define KEYS
#define D_KEYS
#endif
    launch(BLOCKS, 64 * PAIRS, PAIRS * FORWARD_BYTES, [&] {
        attention_forward(rows.data(), KEYS places.data(), words.data(), mixed.data(), normaliser.data());
    });
    launch(BLOCKS, 64 * PAIRS, PAIRS * BACKWARD_BYTES, [&] {
        attention_backward(
            rows.data(), KEYS places.data(), words.data(), slope.data(), normaliser.data(), d_rows.data() D_KEYS);
    });
    write("mixed", mixed), write("d_rows", d_rows), write("d_keys", d_keys);
}
