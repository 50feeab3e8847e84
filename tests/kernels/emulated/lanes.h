// CUDA on a CPU: every lane is a thread, what lanes do together is a barrier. Slow, and the same sums as on a GPU.
#include <algorithm>
#include <barrier>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

using std::max, std::min;
struct float2 { float x, y; };
struct float4 { float x, y, z, w; };
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
#define __device__
#define __forceinline__ inline
#define __global__
#define __launch_bounds__(...)
#define FULL 0xffffffffu
#define LOWEST (-INFINITY)

struct Place { int x; };
struct Warp {
    std::barrier<> together{32};
    float numbers[32][6];
};
thread_local Place threadIdx, blockIdx;
inline int __float_as_int(float v) { int bits; memcpy(&bits, &v, 4); return bits; }
inline float __int_as_float(int bits) { float v; memcpy(&v, &bits, 4); return v; }

thread_local Warp* warp_here;
thread_local int lane_here;
std::barrier<>* block_here;
float* shared_here;

std::barrier<>* pairs_here[16];  // of two warps each, which may wait for each other

inline float __fdividef(float x, float y) { return x / y; }
inline void __syncwarp() { warp_here->together.arrive_and_wait(); }
inline void __syncthreads() { block_here->arrive_and_wait(); }

// What every lane has given, seen by all of them.
template <class Give, class Take> void exchange(Give give, Take take) {
    give(warp_here->numbers[lane_here]);
    warp_here->together.arrive_and_wait();
    take();
    warp_here->together.arrive_and_wait();
}

inline float rounded(float v) {  // to TF32
    unsigned bits;
    memcpy(&bits, &v, 4);
    bits = (bits + 0x1000) & ~0x1fffu;
    memcpy(&v, &bits, 4);
    return v;
}

inline float cut(float v) {  // as tensor cores read a number: what TF32 has no room for is not there
    unsigned bits;
    memcpy(&bits, &v, 4);
    bits &= ~0x1fffu;
    memcpy(&v, &bits, 4);
    return v;
}

inline void multiply(float (&c)[4], float a0, float a1, float a2, float a3, float b0, float b1) {
    const float own[6] = {cut(a0), cut(a1), cut(a2), cut(a3), cut(b0), cut(b1)};
    exchange([&](float* at) { memcpy(at, own, sizeof own); }, [&] {
        for (int e = 0; e < 4; e++)
            for (int k = 0; k < 8; k++) {
                const float* left = warp_here->numbers[lane_here / 4 * 4 + k % 4];
                const float* right = warp_here->numbers[(lane_here % 4 * 2 + e % 2) * 4 + k % 4];
                c[e] += left[e / 2 + k / 4 * 2] * right[4 + k / 4];
            }
    });
}

inline float __shfl_xor_sync(unsigned, float v, int other) {
    float found = 0;
    exchange([&](float* at) { at[0] = v; }, [&] { found = warp_here->numbers[lane_here ^ other][0]; });
    return found;
}

inline float rsqrtf(float v) { return 1 / std::sqrt(v); }
inline void add_four(float* at, float x, float y, float z, float w) { at[0] += x, at[1] += y, at[2] += z, at[3] += w; }

inline unsigned hashed(unsigned bits) {
    bits = (bits ^ (bits >> 16)) * 0x85EBCA6Bu;
    bits = (bits ^ (bits >> 13)) * 0xC2B2AE35u;
    return bits ^ (bits >> 16);
}

inline float warp_sum(float v) {
    for (int half = 16; half > 0; half /= 2) v += __shfl_xor_sync(FULL, v, half);
    return v;
}

inline unsigned shared_address(const float* at) { return 4 * (unsigned)(at - shared_here); }

inline void load_blocks(float (&v)[4], unsigned address) {
    exchange([&](float* at) { memcpy(at, &address, 4); }, [&] {
        for (int e = 0; e < 4; e++) {
            unsigned from;
            memcpy(&from, warp_here->numbers[e * 8 + lane_here / 4], 4);
            if (from % 16) fprintf(stderr, "not aligned\n"), abort();
            v[e] = shared_here[from / 4 + lane_here % 4];
        }
    });
}

// One block after the other; shared memory holds no numbers before something is written there.
template <class Kernel> void launch(int blocks, int threads, int bytes, Kernel kernel) {
    std::vector<float> memory(bytes / 4);
    shared_here = memory.data();
    for (int block = 0; block < blocks; block++) {
        std::fill(memory.begin(), memory.end(), NAN);
        std::vector<Warp> warps(threads / 32);
        std::barrier<> all(threads);
        block_here = &all;
        std::vector<std::unique_ptr<std::barrier<>>> pairs;
        for (int n = 0; n < threads / 64 && n < 16; n++)
            pairs.push_back(std::make_unique<std::barrier<>>(64)), pairs_here[n] = pairs[n].get();
        std::vector<std::thread> lanes;
        for (int n = 0; n < threads; n++)
            lanes.emplace_back([&, n] {
                threadIdx.x = n, blockIdx.x = block, warp_here = &warps[n / 32], lane_here = n % 32;
                kernel();
            });
        for (auto& lane : lanes) lane.join();
    }
}

inline std::vector<float> read(const char* path) {
    FILE* file = fopen(path, "rb");
    fseek(file, 0, SEEK_END);
    std::vector<float> found(ftell(file) / 4);
    rewind(file);
    if (fread(found.data(), 4, found.size(), file) != found.size()) abort();
    fclose(file);
    return found;
}

inline void write(const char* path, const std::vector<float>& values) {
    FILE* file = fopen(path, "wb");
    fwrite(values.data(), 4, values.size(), file);
    fclose(file);
}
