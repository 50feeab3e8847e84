// A branch of the stream joins it: out = norm(x + drop(branch + bias)) scale + shift, forward and backward, one warp a row.
// Slopes of float16 are lifted, those of float32 are not.
//
// Macros: those of rows.cuh, BATCH (sequences per member), LENGTH (rows of x for each), QUERIES (rows of the branch for
//         each: of the last positions), BLOCKS (per member), RESIDUAL (1: there is an x), NORMED (1: there is a norm),
//         PASSES (1: the result is wanted as float32, too), LIFT

#include "rows.cuh"

#define OFFSET (LENGTH - QUERIES)
#define COUNT (BATCH * QUERIES)
#define WARPS 8
#define FOR_EVERY_ROW \
    for (int row = blockIdx.x % BLOCKS * WARPS + threadIdx.x / 32; row < COUNT; row += BLOCKS * WARPS)

extern "C" __global__ void __launch_bounds__(32 * WARPS) joining_forward(
#if RESIDUAL
    const float* __restrict__ x,          // [member][BATCH][LENGTH][256]
#endif
    const Half* __restrict__ branch,      // [member][BATCH][QUERIES][256]
    const float* __restrict__ vectors,    // [member][3][256]: scale, shift, bias of the branch
    const unsigned* __restrict__ words,   // [member][BATCH][2]
#if PASSES
    float* out,                           // [member][BATCH][QUERIES][256]
#endif
#if NORMED
    Half* normed,                         // the same before scale and shift
    float* inverse,                       // [member][BATCH][QUERIES]: 1 / deviation
#endif
    Half* factor)                         // the result again, for products
{
    const int lane = threadIdx.x % 32, member = blockIdx.x / BLOCKS;
    float scale[8], shift[8], bias[8];
    load_row(scale, vectors + (size_t)member * 768, lane);
    load_row(shift, vectors + (size_t)member * 768 + 256, lane);
    load_row(bias, vectors + (size_t)member * 768 + 512, lane);
    FOR_EVERY_ROW {
        const int sequence = member * BATCH + row / QUERIES, query = row % QUERIES;
        const size_t own = (size_t)member * COUNT + row;
        float v[8];
        load_row(v, branch + own * 256, lane);
#pragma unroll
        for (int u = 0; u < 8; u++) v[u] += bias[u];
        drop(v, kept_columns(words + 2 * (size_t)sequence, query, lane));
#if RESIDUAL
        float before[8];
        load_row(before, x + ((size_t)sequence * LENGTH + OFFSET + query) * 256, lane);
#pragma unroll
        for (int u = 0; u < 8; u++) v[u] += before[u];
#endif
#if NORMED
        const float found = normalise(v, lane);
        if (lane == 0) inverse[own] = found;
        store_row(normed + own * 256, v, lane);
#pragma unroll
        for (int u = 0; u < 8; u++) v[u] = v[u] * scale[u] + shift[u];
#endif
#if PASSES
        store_row(out + own * 256, v, lane);
#endif
        store_row(factor + own * 256, v, lane);
    }
}

extern "C" __global__ void __launch_bounds__(32 * WARPS) joining_backward(
#if NORMED
    const Half* __restrict__ normed, const float* __restrict__ inverse,
#endif
    const float* __restrict__ vectors, const unsigned* __restrict__ words,
#if PASSES
    const float* __restrict__ d_out,      // [member][BATCH][QUERIES][256]: dloss/dout
#endif
    const Half* __restrict__ d_factor,    // the same of the result that products took
#if RESIDUAL
    float* d_x,                           // [member][BATCH][LENGTH][256]
#endif
    Half* d_branch,                       // [member][BATCH][QUERIES][256]
    float* sums)                          // [member][BLOCKS][WARPS][3][256]: of slope normed, of the slope, in the branch
{
    const int lane = threadIdx.x % 32, member = blockIdx.x / BLOCKS, warp = threadIdx.x / 32;
    float products[8] = {}, slopes[8] = {}, in_branch[8] = {};
    FOR_EVERY_ROW {
        const int sequence = member * BATCH + row / QUERIES, query = row % QUERIES;
        const size_t own = (size_t)member * COUNT + row;
        float v[8], other[8];
        load_row(v, d_factor + own * 256, lane);
#if PASSES
        load_row(other, d_out + own * 256, lane);
#pragma unroll
        for (int u = 0; u < 8; u++) v[u] += LIFT * other[u];
#endif
#if NORMED
        load_row(other, normed + own * 256, lane);
#pragma unroll
        for (int u = 0; u < 8; u++) products[u] += v[u] * other[u], slopes[u] += v[u];
        norm_backward(v, other, inverse[own], vectors + (size_t)member * 768, lane);
#endif
#if RESIDUAL
#pragma unroll
        for (int u = 0; u < 8; u++) other[u] = v[u] * (1 / LIFT);
        float* of_x = d_x + (size_t)sequence * LENGTH * 256;
        store_row(of_x + (size_t)(OFFSET + query) * 256, other, lane);
        // Positions that no branch joins: each query clears its share of them.
        const float nothing[8] = {};
        for (int position = query; position < OFFSET; position += QUERIES) store_row(of_x + (size_t)position * 256, nothing, lane);
#endif
        drop(v, kept_columns(words + 2 * (size_t)sequence, query, lane));
#pragma unroll
        for (int u = 0; u < 8; u++) in_branch[u] += v[u];
        store_row(d_branch + own * 256, v, lane);
    }
    float* of_sums = sums + ((size_t)blockIdx.x * WARPS + warp) * 768;
    store_row(of_sums, products, lane);
    store_row(of_sums + 256, slopes, lane);
    store_row(of_sums + 512, in_branch, lane);
}
