// Both kernels of heads.cu, from files of float32 to files of float32. SOURCE is the kernels' text, made ready for C++.
#include "lanes.h"
#include SOURCE

int main() {
    const auto queries = read("queries"), slope = read("slope");
    std::vector<float> mixed(slope.size(), NAN), normaliser(SEQUENCES * HEADS * ASKED, NAN), d_queries(queries.size(), NAN);
#if TOGETHER
    launch(SEQUENCES * HEADS, THREADS, FORWARD_BYTES, [&] { heads_forward(queries.data(), mixed.data(), normaliser.data()); });
    launch(3 * SEQUENCES * HEADS, THREADS, BACKWARD_BYTES, [&] {
        heads_backward(queries.data(), mixed.data(), normaliser.data(), slope.data(), d_queries.data());
    });
#else
    const auto keys = read("keys");
    std::vector<float> d_keys(keys.size(), NAN);
    launch(SEQUENCES * HEADS, THREADS, FORWARD_BYTES, [&] {
        heads_forward(queries.data(), keys.data(), mixed.data(), normaliser.data());
    });
    launch(3 * SEQUENCES * HEADS, THREADS, BACKWARD_BYTES, [&] {
        heads_backward(queries.data(), keys.data(), mixed.data(), normaliser.data(), slope.data(), d_queries.data(), d_keys.data());
    });
    write("d_keys", d_keys);
#endif
    write("mixed", mixed);
    write("d_queries", d_queries);
}
