// Both kernels of token_rows.cu, from files to files. SOURCE is their text.
#include "lanes.h"
#include SOURCE

int main() {
    const auto table = read("table"), d_last = read("d_last");
    const auto d_rows = read<Half>("d_rows");
    const auto places = read<int>("places");
    const auto words = read<unsigned>("words");
    auto last = empty(d_last.size());
    auto rows = empty<Half>(d_rows.size());
    std::vector<float> d_table(table.size(), 0);
    launch(1, 32 * WARPS, 4, [&] { token_rows(table.data(), places.data(), words.data(), last.data(), rows.data()); });
    launch(1, 32 * WARPS, 4, [&] {
        token_rows_backward(d_rows.data(), d_last.data(), places.data(), words.data(), nullptr, d_table.data());
    });
    write("last", last), write("rows", rows), write("d_table", d_table);
}
