// CUDA on a CPU: every lane is a thread, what lanes do together is a barrier. Slow, and the same sums as on a GPU.
#include <algorithm>
#include <atomic>
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
struct uint2 { unsigned x, y; };
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
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

std::barrier<>* groups_here[16];  // of warps that may wait for each other

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

typedef unsigned short Half;

inline Half halved(float v) {  // to the nearest; what is too large becomes the largest
    const _Float16 found = std::isnan(v) ? v : std::min(std::max(v, -65504.f), 65504.f);
    Half bits;
    memcpy(&bits, &found, 2);
    return bits;
}

inline float whole(Half bits) {
    _Float16 found;
    memcpy(&found, &bits, 2);
    return found;
}

inline unsigned packed(float first, float second) { return halved(first) | (unsigned)halved(second) << 16; }
inline float2 unpacked(unsigned both) { return {whole(both), whole(both >> 16)}; }

// Two blocks of eight along the sum, or one: of a lane's words the first four (two) are its part of the left factor.
inline void multiply_blocks(float (&c)[4], const unsigned* own, int blocks) {
    exchange([&](float* at) { memcpy(at, own, 12 * blocks); }, [&] {
        const auto of = [](int lane, int word, int side) {
            unsigned both;
            memcpy(&both, &warp_here->numbers[lane][word], 4);
            return whole(both >> 16 * side);
        };
        for (int e = 0; e < 4; e++)
            for (int block = 0; block < blocks; block++)
                for (int k = 0; k < 8; k++)
                    c[e] += of(lane_here / 4 * 4 + k / 2, 2 * block + e / 2, k % 2)
                        * of((lane_here % 4 * 2 + e % 2) * 4 + k / 2, 2 * blocks + block, k % 2);
    });
}

inline void multiply_halves(float (&c)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1) {
    const unsigned own[] = {a0, a1, a2, a3, b0, b1};
    multiply_blocks(c, own, 2);
}

inline void multiply_halves(float (&c)[4], unsigned a0, unsigned a1, unsigned b0) {
    const unsigned own[] = {a0, a1, b0};
    multiply_blocks(c, own, 1);
}

inline float __shfl_sync(unsigned, float v, int other) {
    float found = 0;
    exchange([&](float* at) { at[0] = v; }, [&] { found = warp_here->numbers[other % 32][0]; });
    return found;
}

inline int __shfl_sync(unsigned, int v, int other) { return __float_as_int(__shfl_sync(FULL, __int_as_float(v), other)); }

inline float __shfl_xor_sync(unsigned, float v, int other) {
    float found = 0;
    exchange([&](float* at) { at[0] = v; }, [&] { found = warp_here->numbers[lane_here ^ other][0]; });
    return found;
}

inline float rsqrtf(float v) { return 1 / std::sqrt(v); }
inline void add(float& to, float v) { std::atomic_ref(to).fetch_add(v); }
inline void add_two(float* at, float x, float y) { add(at[0], x), add(at[1], y); }
inline void add_four(float* at, float x, float y, float z, float w) { add_two(at, x, y), add_two(at + 2, z, w); }

inline unsigned hashed(unsigned bits) {
    bits = (bits ^ (bits >> 16)) * 0x85EBCA6Bu;
    bits = (bits ^ (bits >> 13)) * 0xC2B2AE35u;
    return bits ^ (bits >> 16);
}

inline float warp_sum(float v) {
    for (int half = 16; half > 0; half /= 2) v += __shfl_xor_sync(FULL, v, half);
    return v;
}

inline unsigned shared_address(const void* at) { return (const char*)at - (const char*)shared_here; }

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

inline void load_halves_of(unsigned (&v)[4], unsigned address, bool transposed) {
    exchange([&](float* at) { memcpy(at, &address, 4); }, [&] {
        for (int e = 0; e < 4; e++)
            for (int side = 0; side < 2; side++) {
                const int g = lane_here / 4, other = lane_here % 4 * 2 + side;
                unsigned from;
                memcpy(&from, warp_here->numbers[e * 8 + (transposed ? other : g)], 4);
                if (from % 16) fprintf(stderr, "not aligned\n"), abort();
                Half found;
                memcpy(&found, (const char*)shared_here + from + 2 * (transposed ? g : other), 2);
                v[e] = side ? v[e] | (unsigned)found << 16 : found;
            }
    });
}

inline void load_halves(unsigned (&v)[4], unsigned address) { load_halves_of(v, address, false); }
inline void load_halves_transposed(unsigned (&v)[4], unsigned address) { load_halves_of(v, address, true); }

// One block after the other; shared memory holds no numbers before something is written there.
template <class Kernel> void launch(int blocks, int threads, int bytes, Kernel kernel, int group = 64) {
    std::vector<float> memory(bytes / 4);
    shared_here = memory.data();
    for (int block = 0; block < blocks; block++) {
        std::fill(memory.begin(), memory.end(), NAN);
        std::vector<Warp> warps(threads / 32);
        std::barrier<> all(threads);
        block_here = &all;
        std::vector<std::unique_ptr<std::barrier<>>> groups;
        for (int n = 0; n < threads / group && n < 16; n++)
            groups.push_back(std::make_unique<std::barrier<>>(group)), groups_here[n] = groups[n].get();
        std::vector<std::thread> lanes;
        for (int n = 0; n < threads; n++)
            lanes.emplace_back([&, n] {
                threadIdx.x = n, blockIdx.x = block, warp_here = &warps[n / 32], lane_here = n % 32;
                kernel();
            });
        for (auto& lane : lanes) lane.join();
    }
}

template <class T = float> std::vector<T> read(const char* path) {
    FILE* file = fopen(path, "rb");
    fseek(file, 0, SEEK_END);
    std::vector<T> found(ftell(file) / sizeof(T));
    rewind(file);
    if (fread(found.data(), sizeof(T), found.size(), file) != found.size()) abort();
    fclose(file);
    return found;
}

template <class T> void write(const char* path, const std::vector<T>& values) {
    FILE* file = fopen(path, "wb");
    fwrite(values.data(), sizeof(T), values.size(), file);
    fclose(file);
}

// No number before something is written there.
template <class T = float> std::vector<T> empty(size_t count) {
    std::vector<T> found(count);
    memset(found.data(), 0xff, count * sizeof(T));
    return found;
}
