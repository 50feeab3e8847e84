// What follows the heads in the full model, forward and backward in one pass over 32 predicted positions at a time:
// residual, norm, ReLU layer, residual, norm, readout, cross-entropy. Products on tensor cores (TF32); the weights stay
// in shared memory for the whole launch and only what the weights' gradients need is written out.
//
// Macros: WIDTH <= 256, TOKENS <= 56, BATCH, LENGTH, QUERIES, ROWS, BLOCKS (per member),
//         SHARED_ROWS (1: several sequences use a row of the stream), DROPPED (share dropped times 2^32), KEPT (1 / (1 - share))

#include "rows.cuh"

#define OFFSET (LENGTH - QUERIES)
#define COUNT (BATCH * QUERIES)           // predicted positions per member
#define ANSWERS ((TOKENS + 7) / 8 * 8)
#define TILE 32                            // predicted positions at a time
#define WARPS 8
#define HELD (TILE / WARPS)               // of which a warp has this many wherever work is by rows
#define TILE_STRIDE 260                   // strides that spread a fragment over the banks
#define HIDDEN_STRIDE 68
#define ANSWER_STRIDE (ANSWERS + 4)

enum { SCALE_1, SHIFT_1, SCALE_2, SHIFT_2, OUTER_BIAS, INNER_BIAS, VECTORS };

// The weights are stored without gaps; these exchanges of columns spread a fragment over the banks, whether it is
// read as it is or transposed.
__device__ __forceinline__ unsigned inner_at(unsigned row, unsigned column) {
    return row * 64 + (column ^ (row & 3) << 3 ^ (row & 4));
}
__device__ __forceinline__ unsigned outer_at(unsigned row, unsigned column) {
    return row * 256 + (column ^ (row & 3) << 3 ^ (row & 4));
}
__device__ __forceinline__ unsigned readout_at(unsigned row, unsigned column) { return row * ANSWERS + (column ^ (row & 4)); }

// out[m][j] = rows 16 m .. of the tile (8 STEPS wide) times columns 8 (first + j) .. of a matrix; at(row, column) is its
// place. Transposed, the matrix is read by rows, two steps at a time.
template <int STEPS, int COLUMNS, bool TRANSPOSED, typename Place>
__device__ __forceinline__ void product(
    float (&out)[2][COLUMNS][4], const float* tile, int stride, const float* matrix, Place at, unsigned first, unsigned lane) {
    const unsigned g = lane / 4, t = lane % 4;
    const unsigned tile_row = shared_address(tile + (lane & 15) * stride + (lane >> 4) * 4);
    float b[COLUMNS][4];
#pragma unroll
    for (int m = 0; m < 2; m++)
#pragma unroll
        for (int j = 0; j < COLUMNS; j++)
#pragma unroll
            for (int e = 0; e < 4; e++) out[m][j][e] = 0;
#pragma unroll
    for (int step = 0; step < STEPS; step++) {
        float a[2][4];
#pragma unroll
        for (int m = 0; m < 2; m++) load_blocks(a[m], tile_row + 4 * (16 * m * stride + 8 * step));
#pragma unroll
        for (int j = 0; j < COLUMNS; j++) {
            if (TRANSPOSED && step % 2 == 0) {  // of an odd number of steps the last half is not used
                const unsigned column = 8 * step + (lane >> 3) * 4;
                load_blocks(b[j], shared_address(matrix + at(8 * (first + j) + (lane & 7), column < 8 * STEPS ? column : 0)));
            }
            const float b0 = TRANSPOSED ? b[j][step % 2 * 2] : matrix[at(8 * step + t, 8 * (first + j) + g)];
            const float b1 = TRANSPOSED ? b[j][step % 2 * 2 + 1] : matrix[at(8 * step + t + 4, 8 * (first + j) + g)];
#pragma unroll
            for (int m = 0; m < 2; m++) multiply(out[m][j], a[m][0], a[m][1], a[m][2], a[m][3], b0, b1);
        }
    }
}

__device__ __forceinline__ void put(float* tile, int stride, int column, const float (&c)[4], int lane) {
    const int g = lane / 4, t = lane % 4;
    *reinterpret_cast<float2*>(tile + g * stride + column + 2 * t) = make_float2(c[0], c[1]);
    *reinterpret_cast<float2*>(tile + (g + 8) * stride + column + 2 * t) = make_float2(c[2], c[3]);
}

// A warp's 32 columns of a product to all rows of the tile.
__device__ __forceinline__ void put_columns(float* tile, const float (&c)[2][4][4], int warp, int lane) {
#pragma unroll
    for (int m = 0; m < 2; m++)
#pragma unroll
        for (int j = 0; j < 4; j++) put(tile + 16 * m * TILE_STRIDE, TILE_STRIDE, 32 * warp + 8 * j, c[m][j], lane);
}

// The same 16 x 8 numbers to rows start .. of an array [member][COUNT][64].
__device__ __forceinline__ void put_rows(float* array, int member, int start, int column, const float (&c)[4], int lane) {
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const int n = start + lane / 4 + 8 * half;
        if (n < COUNT)
            *reinterpret_cast<float2*>(array + ((size_t)member * COUNT + n) * 64 + column + 2 * (lane % 4)) =
                make_float2(c[2 * half], c[2 * half + 1]);
    }
}

extern "C" __global__ void __launch_bounds__(32 * WARPS, 1) tail_gradient(
    const float* __restrict__ attended,   // [member][COUNT][256]: the heads' output matrix applied
    const float* __restrict__ stream,     // [member][ROWS][256]: what enters the block
    const int* __restrict__ places,       // [member][BATCH][LENGTH]: the row of each position
    const int* __restrict__ targets,      // [member][COUNT]
    const float* __restrict__ weights,    // [member][BATCH], already divided by QUERIES and by their sum
    const float* __restrict__ inner,      // [member][256][64]
    const float* __restrict__ outer,      // [member][64][256]
    const float* __restrict__ readout,    // [member][256][ANSWERS]
    const float* __restrict__ vectors,    // [member][VECTORS][256]
    const unsigned* __restrict__ words,   // [member][BATCH][2 branches][2], or anything without dropout
#if SHARED_ROWS
    const float*,                         // zeros that d_stream starts from
#endif
    float* d_stream,                      // [member][ROWS][256] where rows are shared, else [member][COUNT][256]
    float* d_attended,                    // [member][COUNT][256]
    float* normed,                        // [member][COUNT][256]: what the first norm made, before its scale and shift
    float* hidden,                        // [member][COUNT][64]
    float* d_hidden,                      // [member][COUNT][64]
    float* d_outer,                       // [member][COUNT][256]: slope behind the ReLU layer
    float* final,                         // [member][COUNT][256]: the same of the second norm
    float* d_logits,                      // [member][COUNT][ANSWERS]
    float* row_sums,                      // [member][BLOCKS][3][256]: of slope_2 normed_1, slope_2, and slope_2 in the branch
    float* losses)                        // [member][BLOCKS][WARPS]
{
    extern __shared__ float shared[];
    float* w_inner = shared;
    float* w_outer = w_inner + 256 * 64;
    float* w_readout = w_outer + 64 * 256;
    float* tile = w_readout + 256 * ANSWERS;
    float* h = tile + TILE * TILE_STRIDE;
    float* answers = tile;                // the logits lie where the rows were that they were made from
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    const int member = blockIdx.x / BLOCKS, block = blockIdx.x % BLOCKS;

    for (int n = threadIdx.x; n < 256 * 64; n += 32 * WARPS) {
        w_inner[inner_at(n / 64, n % 64)] = rounded(inner[member * 256 * 64 + n]);
        w_outer[outer_at(n / 256, n % 256)] = rounded(outer[member * 64 * 256 + n]);
    }
    for (int n = threadIdx.x; n < 256 * ANSWERS; n += 32 * WARPS)
        w_readout[readout_at(n / ANSWERS, n % ANSWERS)] = rounded(readout[member * 256 * ANSWERS + n]);
    const auto in_inner = [](unsigned row, unsigned column) { return inner_at(row, column); };
    const auto in_outer = [](unsigned row, unsigned column) { return outer_at(row, column); };
    const auto in_readout = [](unsigned row, unsigned column) { return readout_at(row, column); };
    const float* vector = vectors + member * VECTORS * 256;
    const float bias[2] = {vector[INNER_BIAS * 256 + 8 * warp + 2 * t], vector[INNER_BIAS * 256 + 8 * warp + 2 * t + 1]};
    float product_sum[8] = {}, slope_sum[8] = {}, branch_sum[8] = {};
    float total = 0;
    __syncthreads();

    for (int start = TILE * block; start < COUNT; start += TILE * BLOCKS) {
        float normed_1[HELD][8], normed_2[HELD][8], slope_2[HELD][8], inverse_1[HELD], inverse_2[HELD];
        const int first = start + HELD * warp;
        const auto clipped = [&](int r) { return min(first + r, COUNT - 1); };  // beyond the end: the last row, with weight 0
        const auto row = [&](int r) { return (size_t)member * COUNT + clipped(r); };
        const auto sequence = [&](int r) { return (size_t)member * BATCH + clipped(r) / QUERIES; };
        const auto place = [&](int r) { return places[sequence(r) * LENGTH + OFFSET + clipped(r) % QUERIES]; };

        // Residual and norm.
#pragma unroll
        for (int r = 0; r < HELD; r++) {
            load_row(normed_1[r], attended + row(r) * 256, lane);
            load_row(slope_2[r], stream + ((size_t)member * ROWS + place(r)) * 256, lane);
        }
#pragma unroll
        for (int r = 0; r < HELD; r++) {
            float out[8], scale[8];
            drop(normed_1[r], words + sequence(r) * 4, clipped(r) % QUERIES, lane);
#pragma unroll
            for (int u = 0; u < 8; u++) normed_1[r][u] += slope_2[r][u];
            inverse_1[r] = normalise(normed_1[r], lane);
            load_row(scale, vector + SCALE_1 * 256, lane);
            load_row(out, vector + SHIFT_1 * 256, lane);
#pragma unroll
            for (int u = 0; u < 8; u++) slope_2[r][u] = out[u] += normed_1[r][u] * scale[u];  // kept for the residual
            store_rounded(tile + (HELD * warp + r) * TILE_STRIDE, out, lane);
            if (first + r < COUNT) store_row(normed + row(r) * 256, normed_1[r], lane);
        }
        __syncthreads();

        {  // hidden = relu(tile inner + bias): a warp has eight columns
            float c[2][1][4];
            product<32, 1, false>(c, tile, TILE_STRIDE, w_inner, in_inner, warp, lane);
#pragma unroll
            for (int m = 0; m < 2; m++) {
#pragma unroll
                for (int e = 0; e < 4; e++) c[m][0][e] = fmaxf(c[m][0][e] + bias[e % 2], 0);
                put_rows(hidden, member, start + 16 * m, 8 * warp, c[m][0], lane);
#pragma unroll
                for (int e = 0; e < 4; e++) c[m][0][e] = rounded(c[m][0][e]);
                put(h + 16 * m * HIDDEN_STRIDE, HIDDEN_STRIDE, 8 * warp, c[m][0], lane);
            }
        }
        __syncthreads();

        {  // tile = hidden outer: a warp has 32 columns
            float c[2][4][4];
            product<8, 4, false>(c, h, HIDDEN_STRIDE, w_outer, in_outer, 4 * warp, lane);
            put_columns(tile, c, warp, lane);
        }
        __syncthreads();

#pragma unroll
        for (int r = 0; r < HELD; r++) {  // residual and norm
            float out[8], x[8];
            load_row(normed_2[r], tile + (HELD * warp + r) * TILE_STRIDE, lane);
            load_row(x, vector + OUTER_BIAS * 256, lane);
#pragma unroll
            for (int u = 0; u < 8; u++) normed_2[r][u] += x[u];
            drop(normed_2[r], words + sequence(r) * 4 + 2, clipped(r) % QUERIES, lane);
#pragma unroll
            for (int u = 0; u < 8; u++) normed_2[r][u] += slope_2[r][u];
            inverse_2[r] = normalise(normed_2[r], lane);
            load_row(x, vector + SCALE_2 * 256, lane);
            load_row(out, vector + SHIFT_2 * 256, lane);
#pragma unroll
            for (int u = 0; u < 8; u++) out[u] += normed_2[r][u] * x[u];
            store_rounded(tile + (HELD * warp + r) * TILE_STRIDE, out, lane);
            if (first + r < COUNT) store_row(final + row(r) * 256, normed_2[r], lane);
        }
        __syncthreads();

        {  // answers = tile readout
            float c[2][1][4];
            if (warp < ANSWERS / 8) product<32, 1, false>(c, tile, TILE_STRIDE, w_readout, in_readout, warp, lane);
            __syncthreads();
            if (warp < ANSWERS / 8)
#pragma unroll
                for (int m = 0; m < 2; m++) put(answers + 16 * m * ANSWER_STRIDE, ANSWER_STRIDE, 8 * warp, c[m][0], lane);
        }
        __syncthreads();

#pragma unroll
        for (int r = 0; r < HELD; r++) {  // cross-entropy and its slope, in place
            float* logits = answers + (HELD * warp + r) * ANSWER_STRIDE;
            const int target = targets[row(r)];
            const float weight = first + r < COUNT ? weights[sequence(r)] : 0;
            float x[2], largest, sum;
#pragma unroll
            for (int e = 0; e < 2; e++) x[e] = lane + 32 * e < TOKENS ? logits[lane + 32 * e] : LOWEST;
            largest = fmaxf(x[0], x[1]);
#pragma unroll
            for (int half = 16; half > 0; half /= 2) largest = fmaxf(largest, __shfl_xor_sync(FULL, largest, half));
            const float found = logits[target] - largest;
            x[0] = expf(x[0] - largest), x[1] = expf(x[1] - largest);
            sum = warp_sum(x[0] + x[1]);
            const float scale = __fdividef(weight, sum);
            __syncwarp();
#pragma unroll
            for (int e = 0; e < 2; e++) {
                const int i = lane + 32 * e;
                const float slope = i < TOKENS ? x[e] * scale - (i == target ? weight : 0) : 0;
                if (i < ANSWERS) {
                    logits[i] = rounded(slope);
                    if (first + r < COUNT) d_logits[row(r) * ANSWERS + i] = slope;
                }
            }
            if (lane == 0) total += weight * (logf(sum) - found);
        }
        __syncthreads();

        {  // tile = slope readout^T
            float c[2][4][4];
            product<ANSWERS / 8, 4, true>(c, answers, ANSWER_STRIDE, w_readout, in_readout, 4 * warp, lane);
            __syncthreads();
            put_columns(tile, c, warp, lane);
        }
        __syncthreads();

#pragma unroll
        for (int r = 0; r < HELD; r++) {
            float branch[8];
            load_row(slope_2[r], tile + (HELD * warp + r) * TILE_STRIDE, lane);
            norm_backward(slope_2[r], normed_2[r], inverse_2[r], vector + SCALE_2 * 256, lane);
#pragma unroll
            for (int u = 0; u < 8; u++) branch[u] = slope_2[r][u];
            drop(branch, words + sequence(r) * 4 + 2, clipped(r) % QUERIES, lane);
#pragma unroll
            for (int u = 0; u < 8; u++) {
                product_sum[u] += slope_2[r][u] * normed_1[r][u];
                slope_sum[u] += slope_2[r][u];
                if (DROPPED) branch_sum[u] += branch[u];
            }
            store_rounded(tile + (HELD * warp + r) * TILE_STRIDE, branch, lane);
            if (first + r < COUNT) store_row(d_outer + row(r) * 256, branch, lane);
        }
        __syncthreads();

        {  // d_hidden = slope outer^T where the ReLU was open
            float c[2][1][4];
            product<32, 1, true>(c, tile, TILE_STRIDE, w_outer, in_outer, warp, lane);
#pragma unroll
            for (int m = 0; m < 2; m++) {
                float* of_hidden = h + 16 * m * HIDDEN_STRIDE;
#pragma unroll
                for (int e = 0; e < 4; e++)
                    c[m][0][e] = of_hidden[(g + 8 * (e / 2)) * HIDDEN_STRIDE + 8 * warp + 2 * t + e % 2] > 0 ? c[m][0][e] : 0;
                put_rows(d_hidden, member, start + 16 * m, 8 * warp, c[m][0], lane);
#pragma unroll
                for (int e = 0; e < 4; e++) c[m][0][e] = rounded(c[m][0][e]);
                put(of_hidden, HIDDEN_STRIDE, 8 * warp, c[m][0], lane);
            }
        }
        __syncthreads();

        {  // tile = d_hidden inner^T
            float c[2][4][4];
            product<8, 4, true>(c, h, HIDDEN_STRIDE, w_inner, in_inner, 4 * warp, lane);
            put_columns(tile, c, warp, lane);
        }
        __syncthreads();

#pragma unroll
        for (int r = 0; r < HELD; r++) {
            float slope[8];
            load_row(slope, tile + (HELD * warp + r) * TILE_STRIDE, lane);
#pragma unroll
            for (int u = 0; u < 8; u++) slope[u] += slope_2[r][u];
            norm_backward(slope, normed_1[r], inverse_1[r], vector + SCALE_1 * 256, lane);
            if (first + r < COUNT) {
#if SHARED_ROWS
                float* shared_row = d_stream + ((size_t)member * ROWS + place(r)) * 256;
                add_row(shared_row, slope, lane);
#else
                store_row(d_stream + row(r) * 256, slope, lane);
#endif
                drop(slope, words + sequence(r) * 4, clipped(r) % QUERIES, lane);
                store_row(d_attended + row(r) * 256, slope, lane);
            }
        }
        __syncthreads();  // the next rows overwrite the tile
    }

    // Sums over rows: the warps add up in shared memory, one after the other.
    float* sums = tile;
    for (int n = threadIdx.x; n < 3 * 256; n += 32 * WARPS) sums[n] = 0;
    __syncthreads();
    for (int turn = 0; turn < WARPS; turn++) {
        if (turn == warp)
#pragma unroll
            for (int u = 0; u < 8; u++) {
                const int c = column_of(u, lane);
                sums[c] += product_sum[u];
                sums[256 + c] += slope_sum[u];
                sums[512 + c] += DROPPED ? branch_sum[u] : slope_sum[u];
            }
        __syncthreads();
    }
    for (int n = threadIdx.x; n < 3 * 256; n += 32 * WARPS) row_sums[(size_t)blockIdx.x * 3 * 256 + n] = sums[n];
    if (lane == 0) losses[blockIdx.x * WARPS + warp] = total;
}
