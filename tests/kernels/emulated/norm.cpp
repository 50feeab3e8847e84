// Both kernels of norm.cu, from files to files. SOURCE is their text, made ready for C++.
#include "lanes.h"
#include SOURCE

int main() {
    const auto x = read("x"), branch = read("branch"), vectors = read("vectors"), slope = read("slope"), said = read("words");
    std::vector<unsigned> words(said.size());
    memcpy(words.data(), said.data(), 4 * said.size());
    std::vector<float> out(branch.size(), NAN), normed(branch.size(), NAN), inverse(COUNT, NAN);
    std::vector<float> d_x(x.size(), NAN), d_branch(branch.size(), NAN), sums(BLOCKS * WARPS * 512, NAN);
    launch(BLOCKS, 32 * WARPS, 4, [&] {
        norm_forward(x.data(), branch.data(), vectors.data(), words.data(), out.data(), normed.data(), inverse.data());
    });
    launch(BLOCKS, 32 * WARPS, 4, [&] {
        norm_backward_of_rows(normed.data(), inverse.data(), vectors.data(), words.data(), slope.data(), d_x.data(), d_branch.data(), sums.data());
    });
    write("out", out), write("d_x", d_x), write("d_branch", d_branch), write("sums", sums);
}
