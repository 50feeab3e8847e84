// Rows of 256 numbers, one a warp: loads, norms and dropout, forward and backward.
//
// Macros: WIDTH <= 256 (what lies beyond is and stays zero), DROPPED (share dropped times 2^32), KEPT (1 / (1 - share))

#include "tensor_cores.cuh"

// A lane has eight columns of a row: 4 lane .. 4 lane + 3 and 128 more.
__device__ __forceinline__ int column_of(int u, int lane) { return u / 4 * 128 + 4 * lane + u % 4; }

__device__ __forceinline__ void load_row(float (&v)[8], const float* row, int lane) {
#pragma unroll
    for (int half = 0; half < 2; half++) {
        float4 x = *reinterpret_cast<const float4*>(row + 128 * half + 4 * lane);
        v[4 * half] = x.x, v[4 * half + 1] = x.y, v[4 * half + 2] = x.z, v[4 * half + 3] = x.w;
    }
}

__device__ __forceinline__ void store_row(float* row, const float (&v)[8], int lane) {
#pragma unroll
    for (int half = 0; half < 2; half++)
        *reinterpret_cast<float4*>(row + 128 * half + 4 * lane) =
            make_float4(v[4 * half], v[4 * half + 1], v[4 * half + 2], v[4 * half + 3]);
}

// The same of rows of float16; packed, a lane has them in four words.
__device__ __forceinline__ void pack(unsigned (&words)[4], const float (&v)[8]) {
#pragma unroll
    for (int n = 0; n < 4; n++) words[n] = packed(v[2 * n], v[2 * n + 1]);
}

__device__ __forceinline__ void unpack(float (&v)[8], const unsigned (&words)[4]) {
#pragma unroll
    for (int n = 0; n < 4; n++) {
        const float2 both = unpacked(words[n]);
        v[2 * n] = both.x, v[2 * n + 1] = both.y;
    }
}

__device__ __forceinline__ void load_row(float (&v)[8], const Half* row, int lane) {
    const uint2 low = *reinterpret_cast<const uint2*>(row + 4 * lane);
    const uint2 high = *reinterpret_cast<const uint2*>(row + 128 + 4 * lane);
    unpack(v, {low.x, low.y, high.x, high.y});
}

__device__ __forceinline__ void store_row(Half* row, const unsigned (&words)[4], int lane) {
    *reinterpret_cast<uint2*>(row + 4 * lane) = make_uint2(words[0], words[1]);
    *reinterpret_cast<uint2*>(row + 128 + 4 * lane) = make_uint2(words[2], words[3]);
}

__device__ __forceinline__ void store_row(Half* row, const float (&v)[8], int lane) {
    unsigned words[4];
    pack(words, v);
    store_row(row, words, lane);
}

__device__ __forceinline__ void add_row(float* row, const float (&v)[8], int lane) {
#pragma unroll
    for (int half = 0; half < 2; half++)
        add_four(row + 128 * half + 4 * lane, v[4 * half], v[4 * half + 1], v[4 * half + 2], v[4 * half + 3]);
}

// v becomes (v - mean) / deviation; returns 1 / deviation. Columns beyond WIDTH are and stay zero.
__device__ __forceinline__ float normalise(float (&v)[8], int lane) {
    float sum = 0, square = 0;
#pragma unroll
    for (int u = 0; u < 8; u++) sum += v[u];
    const float mean = warp_sum(sum) * (1.0f / WIDTH);
#pragma unroll
    for (int u = 0; u < 8; u++) {
        v[u] = column_of(u, lane) < WIDTH ? v[u] - mean : 0;
        square += v[u] * v[u];
    }
    const float inverse = rsqrtf(warp_sum(square) * (1.0f / WIDTH) + 1e-5f);
#pragma unroll
    for (int u = 0; u < 8; u++) v[u] *= inverse;
    return inverse;
}

// The slope before a norm, from the slope behind it.
__device__ __forceinline__ void norm_backward(
    float (&slope)[8], const float (&normed)[8], float inverse, const float* scale, int lane) {
    float sum = 0, product = 0, factor[8];
    load_row(factor, scale, lane);
#pragma unroll
    for (int u = 0; u < 8; u++) {
        slope[u] *= factor[u];
        sum += slope[u];
        product += slope[u] * normed[u];
    }
    sum = warp_sum(sum) * (1.0f / WIDTH);
    product = warp_sum(product) * (1.0f / WIDTH);
#pragma unroll
    for (int u = 0; u < 8; u++)
        slope[u] = column_of(u, lane) < WIDTH ? inverse * (slope[u] - sum - normed[u] * product) : 0;
}

// Which of the lane's columns dropout keeps of the row of one query, a bit for each; `words` are the two of the sequence
// and the branch.
__device__ __forceinline__ unsigned kept_columns(const unsigned* words, int query, int lane) {
    unsigned bits = 0;
#if DROPPED
    const unsigned first = words[0], second = words[1];
#pragma unroll
    for (int u = 0; u < 8; u++)
        bits |= (hashed(hashed((query * WIDTH + column_of(u, lane)) ^ first) + second) >= DROPPED) << u;
#endif
    return bits;
}

// v * keep / (1 - rate)
__device__ __forceinline__ void drop(float (&v)[8], unsigned kept) {
#if DROPPED
#pragma unroll
    for (int u = 0; u < 8; u++) v[u] = kept >> u & 1 ? v[u] * KEPT : 0;
#endif
}
