// A branch of the stream joins it: out = norm(x + drop branch) scale + shift, forward and backward, one warp a row.
//
// Macros: those of rows.cuh, BATCH (sequences per member), LENGTH (rows of x for each), QUERIES (rows of the branch for
//         each: of the last positions), BLOCKS (per member)

#include "rows.cuh"

#define OFFSET (LENGTH - QUERIES)
#define COUNT (BATCH * QUERIES)
#define WARPS 8
#define FOR_EVERY_ROW \
    for (int row = blockIdx.x % BLOCKS * WARPS + threadIdx.x / 32; row < COUNT; row += BLOCKS * WARPS)

extern "C" __global__ void __launch_bounds__(32 * WARPS) norm_forward(
    const float* __restrict__ x,          // [member][BATCH][LENGTH][256]
    const float* __restrict__ branch,     // [member][BATCH][QUERIES][256]
    const float* __restrict__ vectors,    // [member][2][256]: scale, shift
    const unsigned* __restrict__ words,   // [member][BATCH][2]
    float* out,                           // [member][BATCH][QUERIES][256]
    float* normed,                        // the same before scale and shift
    float* inverse)                       // [member][BATCH][QUERIES]: 1 / deviation
{
    const int lane = threadIdx.x % 32, member = blockIdx.x / BLOCKS;
    float scale[8], shift[8];
    load_row(scale, vectors + (size_t)member * 512, lane);
    load_row(shift, vectors + (size_t)member * 512 + 256, lane);
    FOR_EVERY_ROW {
        const int sequence = member * BATCH + row / QUERIES, query = row % QUERIES;
        const size_t own = (size_t)member * COUNT + row;
        float v[8], before[8];
        load_row(v, branch + own * 256, lane);
        load_row(before, x + ((size_t)sequence * LENGTH + OFFSET + query) * 256, lane);
        drop(v, kept_columns(words + 2 * (size_t)sequence, query, lane));
#pragma unroll
        for (int u = 0; u < 8; u++) v[u] += before[u];
        const float found = normalise(v, lane);
        if (lane == 0) inverse[own] = found;
        store_row(normed + own * 256, v, lane);
#pragma unroll
        for (int u = 0; u < 8; u++) v[u] = v[u] * scale[u] + shift[u];
        store_row(out + own * 256, v, lane);
    }
}

extern "C" __global__ void __launch_bounds__(32 * WARPS) norm_backward_of_rows(
    const float* __restrict__ normed, const float* __restrict__ inverse, const float* __restrict__ vectors,
    const unsigned* __restrict__ words,
    const float* __restrict__ slope,      // [member][BATCH][QUERIES][256]: dloss/dout
    float* d_x,                           // [member][BATCH][LENGTH][256]
    float* d_branch,                      // [member][BATCH][QUERIES][256]
    float* sums)                          // [member][BLOCKS][WARPS][2][256]: of slope normed, and of the slope
{
    const int lane = threadIdx.x % 32, member = blockIdx.x / BLOCKS, warp = threadIdx.x / 32;
    float products[8] = {}, slopes[8] = {};
    const float* scale = vectors + (size_t)member * 512;
    FOR_EVERY_ROW {
        const int sequence = member * BATCH + row / QUERIES, query = row % QUERIES;
        const size_t own = (size_t)member * COUNT + row;
        float v[8], n[8];
        load_row(v, slope + own * 256, lane);
        load_row(n, normed + own * 256, lane);
#pragma unroll
        for (int u = 0; u < 8; u++) products[u] += v[u] * n[u], slopes[u] += v[u];
        norm_backward(v, n, inverse[own], scale, lane);
        float* of_x = d_x + (size_t)sequence * LENGTH * 256;
        store_row(of_x + (size_t)(OFFSET + query) * 256, v, lane);
        drop(v, kept_columns(words + 2 * (size_t)sequence, query, lane));
        store_row(d_branch + own * 256, v, lane);
        // Positions that no branch joins: each query clears its share of them.
        const float nothing[8] = {};
        for (int position = query; position < OFFSET; position += QUERIES) store_row(of_x + (size_t)position * 256, nothing, lane);
    }
    float* of_sums = sums + ((size_t)blockIdx.x * WARPS + warp) * 512;
    store_row(of_sums, products, lane);
    store_row(of_sums + 256, slopes, lane);
}
