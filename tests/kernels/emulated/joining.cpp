// Both kernels of joining.cu, from files to files. SOURCE is their text, made ready for C++.
#include "lanes.h"
#include SOURCE

int main() {
    const auto branch = read<Half>("branch"), d_factor = read<Half>("d_factor");
    const auto vectors = read("vectors");
    const auto words = read<unsigned>("words");
    auto normed = empty<Half>(branch.size()), factor = normed, d_branch = normed;
    auto out = empty(branch.size()), inverse = empty(COUNT), sums = empty(BLOCKS * WARPS * 768);
#if RESIDUAL
    const auto x = read("x");
    auto d_x = empty(x.size());
#endif
#if PASSES
    const auto d_out = read("d_out");
#endif
    launch(BLOCKS, 32 * WARPS, 4, [&] {
        joining_forward(
#if RESIDUAL
            x.data(),
#endif
            branch.data(), vectors.data(), words.data(),
#if PASSES
            out.data(),
#endif
#if NORMED
            normed.data(), inverse.data(),
#endif
            factor.data());
    });
    launch(BLOCKS, 32 * WARPS, 4, [&] {
        joining_backward(
#if NORMED
            normed.data(), inverse.data(),
#endif
            vectors.data(), words.data(),
#if PASSES
            d_out.data(),
#endif
            d_factor.data(),
#if RESIDUAL
            d_x.data(),
#endif
            d_branch.data(), sums.data());
    });
    write("out", out), write("factor", factor), write("d_branch", d_branch), write("sums", sums);
#if RESIDUAL
    write("d_x", d_x);
#endif
}
