// The rows of all positions of all sequences: looked up by (position, token), some of their numbers dropped, one warp a row.
//
// Macros: those of rows.cuh, BATCH (sequences per member), LENGTH, QUERIES (of the last positions), ROWS (of the table,
//         per member), BLOCKS (per member), LIFT (of the slopes of the rows over those of the stream)

#include "rows.cuh"

#define WARPS 8
#define OFFSET (LENGTH - QUERIES)
#define FOR_EVERY_ROW \
    for (int row = blockIdx.x % BLOCKS * WARPS + threadIdx.x / 32; row < BATCH * LENGTH; row += BLOCKS * WARPS)

extern "C" __global__ void __launch_bounds__(32 * WARPS) token_rows(
    const float* __restrict__ table,      // [member][ROWS][256]
    const int* __restrict__ places,       // [member][BATCH][LENGTH]: the row of each position
    const unsigned* __restrict__ words,   // [member][BATCH][2]
    float* stream,                        // [member][BATCH][QUERIES][256]: of the positions that predict
    Half* rows)                           // [member][BATCH][LENGTH][256]
{
    const int lane = threadIdx.x % 32, member = blockIdx.x / BLOCKS;
    FOR_EVERY_ROW {
        const size_t sequence = (size_t)member * BATCH + row / LENGTH, own = (size_t)member * BATCH * LENGTH + row;
        const int position = row % LENGTH;
        float v[8];
        load_row(v, table + ((size_t)member * ROWS + places[own]) * 256, lane);
        drop(v, kept_columns(words + 2 * sequence, position, lane));
        store_row(rows + own * 256, v, lane);
        if (position >= OFFSET) store_row(stream + (sequence * QUERIES + position - OFFSET) * 256, v, lane);
    }
}

extern "C" __global__ void __launch_bounds__(32 * WARPS) token_rows_backward(
    const Half* __restrict__ d_rows, const float* __restrict__ d_stream,
    const int* __restrict__ places, const unsigned* __restrict__ words,
    const float*,                         // zeros that the gradient starts from: the same memory as below
    float* d_table)                       // [member][ROWS][256]
{
    const int lane = threadIdx.x % 32, member = blockIdx.x / BLOCKS;
    FOR_EVERY_ROW {
        const size_t sequence = (size_t)member * BATCH + row / LENGTH, own = (size_t)member * BATCH * LENGTH + row;
        const int position = row % LENGTH;
        float v[8], passing[8] = {};
        load_row(v, d_rows + own * 256, lane);
        if (position >= OFFSET) load_row(passing, d_stream + (sequence * QUERIES + position - OFFSET) * 256, lane);
#pragma unroll
        for (int u = 0; u < 8; u++) v[u] += LIFT * passing[u];
        drop(v, kept_columns(words + 2 * sequence, position, lane));
        add_row(d_table + ((size_t)member * ROWS + places[own]) * 256, v, lane);
    }
}
