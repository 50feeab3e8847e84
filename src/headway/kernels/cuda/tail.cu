// What follows the heads in the full model, forward and backward in one pass over 16 predicted positions at a time:
// residual, norm, ReLU layer, residual, norm, readout, cross-entropy. Products on tensor cores, of float16 with sums in
// float32; the weights stay in shared memory for the whole launch and only what the weights' gradients need is written.
//
// Macros: WIDTH <= 256, TOKENS <= 56, BATCH, LENGTH, QUERIES, ROWS, BLOCKS (per member),
//         SHARED_ROWS (1: several sequences use a row of the stream), DROPPED (share dropped times 2^32), KEPT (1 / (1 - share))

#include "rows.cuh"

#define OFFSET (LENGTH - QUERIES)
#define COUNT (BATCH * QUERIES)           // predicted positions per member
#define ANSWERS ((TOKENS + 7) / 8 * 8)
#define TILE 16                            // predicted positions that a group of warps has at a time
#define WARPS 4                           // of a group
#define GROUPS 3                          // of a block: one computes while others wait
#define HELD (TILE / WARPS)               // positions that a warp has wherever work is by rows
#define SUMS_STRIDE 260                   // strides that spread a fragment over the banks: of sums, in float32,
#define SPREAD(columns) ((columns) / 8 % 2 ? (columns) : (columns) + 8)  // and of factors, in float16
#define TILE_STRIDE SPREAD(256)
#define HIDDEN_STRIDE SPREAD(64)
#define ANSWER_STRIDE SPREAD(ANSWERS)
#define WEIGHT_HALVES (256 * HIDDEN_STRIDE + 64 * TILE_STRIDE + 256 * ANSWER_STRIDE)
#define GROUP_BYTES (4 * TILE * SUMS_STRIDE + 2 * TILE * (TILE_STRIDE + HIDDEN_STRIDE))

enum { SCALE_1, SHIFT_1, SCALE_2, SHIFT_2, OUTER_BIAS, INNER_BIAS, VECTORS };

__device__ __forceinline__ void meet(int group) {  // of the warps of a group
    asm volatile("bar.sync %0, 128;" :: "r"(group + 1) : "memory");
}

// A number that the compiler takes for a new one. Otherwise it keeps all that is computed from what does not change,
// and lacks the registers for what does.
__device__ __forceinline__ unsigned again(unsigned number) {
    asm volatile("" : "+r"(number));
    return number;
}

// out[j] = the tile (WIDE columns) times columns 8 (first + j) .. of a matrix in shared memory, or of it transposed.
template <int WIDE, int COLUMNS, bool TRANSPOSED>
__device__ __forceinline__ void product(
    float (&out)[COLUMNS][4], const Half* tile, int tile_stride, const Half* matrix, int stride, int first, int lane) {
    // Of the matrix four blocks of eight at a time: two along the sum for each of two blocks of columns. If the sum ends
    // with eight, what is loaded beyond is not used.
    const int along = lane / 8 % 2 * 8, block = 8 * (first + lane / 16);
    const unsigned of_tile = again(shared_address(tile + lane % 16 * tile_stride + lane / 16 * 8));
    const unsigned of_matrix = again(shared_address(
        matrix + (TRANSPOSED ? (block + lane % 8) * stride + along : (along + lane % 8) * stride + block)));
#pragma unroll
    for (int j = 0; j < COLUMNS; j++)
#pragma unroll
        for (int e = 0; e < 4; e++) out[j][e] = 0;
#pragma unroll
    for (int from = 0; from < WIDE; from += 16) {
        unsigned a[4];
        load_halves(a, of_tile + 2 * from);
#pragma unroll
        for (int j = 0; j < COLUMNS; j += 2) {
            unsigned b[4];
            if (TRANSPOSED)
                load_halves(b, of_matrix + 2 * (8 * j * stride + from));
            else
                load_halves_transposed(b, of_matrix + 2 * (from * stride + 8 * j));
#pragma unroll
            for (int side = 0; side < 2; side++) {
                if (from + 16 <= WIDE)
                    multiply_halves(out[j + side], a[0], a[1], a[2], a[3], b[2 * side], b[2 * side + 1]);
                else
                    multiply_halves(out[j + side], a[0], a[1], b[2 * side]);
            }
        }
    }
}

__device__ __forceinline__ void put(float* tile, int stride, int column, const float (&c)[4], int lane) {
    const int g = lane / 4, t = lane % 4;
    *reinterpret_cast<float2*>(tile + g * stride + column + 2 * t) = make_float2(c[0], c[1]);
    *reinterpret_cast<float2*>(tile + (g + 8) * stride + column + 2 * t) = make_float2(c[2], c[3]);
}

// A warp's 64 columns of a product to the sums.
__device__ __forceinline__ void put_columns(float* sums, const float (&c)[8][4], int warp, int lane) {
#pragma unroll
    for (int j = 0; j < 8; j++) put(sums, SUMS_STRIDE, 64 * warp + 8 * j, c[j], lane);
}

// Eight hidden units of the positions to the tile, and to rows start .. of an array [member][COUNT][64].
__device__ __forceinline__ void put_hidden(Half* tile, Half* array, int member, int start, int column, const float (&c)[4], int lane) {
#pragma unroll
    for (int side = 0; side < 2; side++) {
        const int row = lane / 4 + 8 * side, n = start + row, at = column + 2 * (lane % 4);
        const unsigned both = packed(c[2 * side], c[2 * side + 1]);
        *reinterpret_cast<unsigned*>(tile + row * HIDDEN_STRIDE + at) = both;
        if (n < COUNT) *reinterpret_cast<unsigned*>(array + ((size_t)member * COUNT + n) * 64 + at) = both;
    }
}

// A matrix of float32 to shared memory, row by row.
__device__ __forceinline__ void hold(Half* to, int stride, const float* from, int rows, int columns) {
    for (int n = threadIdx.x; n < rows * columns / 2; n += 32 * WARPS * GROUPS) {
        const int row = 2 * n / columns, column = 2 * n % columns;
        *reinterpret_cast<unsigned*>(to + row * stride + column) = packed(from[2 * n], from[2 * n + 1]);
    }
}

extern "C" __global__ void __launch_bounds__(32 * WARPS * GROUPS, 1) tail_gradient(
    const Half* __restrict__ attended,    // [member][COUNT][256]: the heads' output matrix applied
    const float* __restrict__ stream,     // what enters the block: [member][ROWS][256] where rows are shared, else [COUNT][256]
#if SHARED_ROWS
    const int* __restrict__ places,       // [member][BATCH][LENGTH]: the row of each position
#endif
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
    Half* d_attended,                     // [member][COUNT][256]
    Half* normed,                         // [member][COUNT][256]: what the first norm made, before its scale and shift
    Half* hidden,                         // [member][COUNT][64]
    Half* d_hidden,                       // [member][COUNT][64]
    Half* d_outer,                        // [member][COUNT][256]: slope behind the ReLU layer
    Half* final,                          // [member][COUNT][256]: the same of the second norm
    Half* d_logits,                       // [member][COUNT][ANSWERS]
    float* row_sums,                      // [member][BLOCKS][3][256]: of slope_2 normed_1, slope_2, and slope_2 in the branch
    float* losses)                        // [member][BLOCKS][GROUPS][WARPS]
{
    extern __shared__ float shared[];
    Half* w_inner = reinterpret_cast<Half*>(shared);
    Half* w_outer = w_inner + 256 * HIDDEN_STRIDE;
    Half* w_readout = w_outer + 64 * TILE_STRIDE;
    const int lane = threadIdx.x % 32, group = threadIdx.x / (32 * WARPS), warp = threadIdx.x / 32 % WARPS, t = lane % 4;
    const int g = lane / 4, member = blockIdx.x / BLOCKS, block = blockIdx.x % BLOCKS;
    float* vector = reinterpret_cast<float*>(w_inner + WEIGHT_HALVES);
    float* sums = vector + VECTORS * 256 + group * (GROUP_BYTES / 4);
    Half* tile = reinterpret_cast<Half*>(sums + TILE * SUMS_STRIDE);
    Half* h = tile + TILE * TILE_STRIDE;

    hold(w_inner, HIDDEN_STRIDE, inner + member * 256 * 64, 256, 64);
    hold(w_outer, TILE_STRIDE, outer + member * 64 * 256, 64, 256);
    hold(w_readout, ANSWER_STRIDE, readout + member * 256 * ANSWERS, 256, ANSWERS);
    // In shared memory, too: from elsewhere the compiler would keep them in registers, of which there are not enough.
    for (int n = threadIdx.x; n < VECTORS * 256; n += 32 * WARPS * GROUPS) vector[n] = vectors[member * VECTORS * 256 + n];
    __syncthreads();
    float product_sum[8] = {}, slope_sum[8] = {}, branch_sum[8] = {};
    float total = 0;

    for (int start = TILE * (block * GROUPS + group); start < COUNT; start += TILE * BLOCKS * GROUPS) {
        float inverse_1[HELD], inverse_2[HELD];
        unsigned normed_1[HELD][4], normed_2[HELD][4];  // packed, as they are written
        unsigned residual[HELD][4];                    // what passes by the ReLU layer, forward and then backward
        unsigned kept[2] = {};                         // of both branches, eight bits for each position
        const int first = start + HELD * warp;
        const auto clipped = [&](int r) { return min(first + r, COUNT - 1); };  // beyond the end: the last row, with weight 0
        const auto row = [&](int r) { return (size_t)member * COUNT + clipped(r); };
        const auto sequence = [&](int r) { return (size_t)member * BATCH + clipped(r) / QUERIES; };
        const auto place = [&](int r) {  // where its row of the stream begins
#if SHARED_ROWS
            return ((size_t)member * ROWS + places[sequence(r) * LENGTH + OFFSET + clipped(r) % QUERIES]) * 256;
#else
            return row(r) * 256;
#endif
        };

        // Residual and norm.
#pragma unroll
        for (int r = 0; r < HELD; r++) {
            float x[8], y[8];
            load_row(x, attended + row(r) * 256, lane);
            load_row(y, stream + place(r), lane);
            kept[0] |= kept_columns(words + sequence(r) * 4, clipped(r) % QUERIES, lane) << 8 * r;
            drop(x, kept[0] >> 8 * r);
#pragma unroll
            for (int u = 0; u < 8; u++) x[u] += y[u];
            inverse_1[r] = normalise(x, lane);
            pack(normed_1[r], x);
            load_row(y, vector + SCALE_1 * 256, lane);
#pragma unroll
            for (int u = 0; u < 8; u++) x[u] *= y[u];
            load_row(y, vector + SHIFT_1 * 256, lane);
#pragma unroll
            for (int u = 0; u < 8; u++) x[u] += y[u];
            pack(residual[r], x);
            store_row(tile + (HELD * warp + r) * TILE_STRIDE, residual[r], lane);
            if (first + r < COUNT) store_row(normed + row(r) * 256, normed_1[r], lane);
        }
        meet(group);

        {  // hidden = relu(tile inner + bias): a warp has 16 columns
            float c[2][4];
            product<256, 2, false>(c, tile, TILE_STRIDE, w_inner, HIDDEN_STRIDE, 2 * warp, lane);
#pragma unroll
            for (int j = 0; j < 2; j++) {
                const int column = 16 * warp + 8 * j;
#pragma unroll
                for (int e = 0; e < 4; e++) c[j][e] = fmaxf(c[j][e] + vector[INNER_BIAS * 256 + column + 2 * t + e % 2], 0);
                put_hidden(h, hidden, member, start, column, c[j], lane);
            }
        }
        meet(group);

        {  // sums = hidden outer: a warp has 64 columns
            float c[8][4];
            product<64, 8, false>(c, h, HIDDEN_STRIDE, w_outer, TILE_STRIDE, 8 * warp, lane);
            put_columns(sums, c, warp, lane);
        }
        meet(group);

#pragma unroll
        for (int r = 0; r < HELD; r++) {  // residual and norm
            float x[8], y[8];
            load_row(x, sums + (HELD * warp + r) * SUMS_STRIDE, lane);
            load_row(y, vector + OUTER_BIAS * 256, lane);
#pragma unroll
            for (int u = 0; u < 8; u++) x[u] += y[u];
            kept[1] |= kept_columns(words + sequence(r) * 4 + 2, clipped(r) % QUERIES, lane) << 8 * r;
            drop(x, kept[1] >> 8 * r);
            unpack(y, residual[r]);
#pragma unroll
            for (int u = 0; u < 8; u++) x[u] += y[u];
            inverse_2[r] = normalise(x, lane);
            pack(normed_2[r], x);
            load_row(y, vector + SCALE_2 * 256, lane);
#pragma unroll
            for (int u = 0; u < 8; u++) x[u] *= y[u];
            load_row(y, vector + SHIFT_2 * 256, lane);
#pragma unroll
            for (int u = 0; u < 8; u++) x[u] += y[u];
            store_row(tile + (HELD * warp + r) * TILE_STRIDE, x, lane);
            if (first + r < COUNT) store_row(final + row(r) * 256, normed_2[r], lane);
        }
        meet(group);

        {  // sums = tile readout: a warp has 16 columns, of which the last may be beyond the answers
            float c[2][4];
            product<256, 2, false>(c, tile, TILE_STRIDE, w_readout, ANSWER_STRIDE, min(2 * warp, ANSWERS / 8 - 1), lane);
#pragma unroll
            for (int j = 0; j < 2; j++)
                if (2 * warp + j < ANSWERS / 8) put(sums, SUMS_STRIDE, 16 * warp + 8 * j, c[j], lane);
        }
        meet(group);

#pragma unroll
        for (int r = 0; r < HELD; r++) {  // cross-entropy and its slope
            const float* logits = sums + (HELD * warp + r) * SUMS_STRIDE;
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
#pragma unroll
            for (int e = 0; e < 2; e++) {
                const int i = lane + 32 * e;
                const Half slope = packed(i < TOKENS ? x[e] * scale - (i == target ? weight : 0) : 0, 0);
                if (i < ANSWERS) {
                    tile[(HELD * warp + r) * TILE_STRIDE + i] = slope;
                    if (first + r < COUNT) d_logits[row(r) * ANSWERS + i] = slope;
                }
            }
            if (lane == 0) total += weight * (logf(sum) - found);
        }
        meet(group);

        {  // sums = slope readout^T
            float c[8][4];
            product<ANSWERS, 8, true>(c, tile, TILE_STRIDE, w_readout, ANSWER_STRIDE, 8 * warp, lane);
            put_columns(sums, c, warp, lane);
        }
        meet(group);

#pragma unroll
        for (int r = 0; r < HELD; r++) {
            float slope[8], other[8];
            load_row(slope, sums + (HELD * warp + r) * SUMS_STRIDE, lane);
            unpack(other, normed_2[r]);
            norm_backward(slope, other, inverse_2[r], vector + SCALE_2 * 256, lane);
            pack(residual[r], slope);
            unpack(other, normed_1[r]);
#pragma unroll
            for (int u = 0; u < 8; u++) product_sum[u] += slope[u] * other[u], slope_sum[u] += slope[u];
            drop(slope, kept[1] >> 8 * r);
#pragma unroll
            for (int u = 0; u < 8; u++)
                if (DROPPED) branch_sum[u] += slope[u];
            unsigned branch[4];
            pack(branch, slope);
            store_row(tile + (HELD * warp + r) * TILE_STRIDE, branch, lane);
            if (first + r < COUNT) store_row(d_outer + row(r) * 256, branch, lane);
        }
        meet(group);

        {  // d_hidden = slope outer^T where the ReLU was open
            float c[2][4];
            product<256, 2, true>(c, tile, TILE_STRIDE, w_outer, TILE_STRIDE, 2 * warp, lane);
#pragma unroll
            for (int j = 0; j < 2; j++) {
                const int column = 16 * warp + 8 * j;
#pragma unroll
                for (int e = 0; e < 4; e++)
                    if (!h[(g + 8 * (e / 2)) * HIDDEN_STRIDE + column + 2 * t + e % 2]) c[j][e] = 0;
                put_hidden(h, d_hidden, member, start, column, c[j], lane);
            }
        }
        meet(group);

        {  // sums = d_hidden inner^T
            float c[8][4];
            product<64, 8, true>(c, h, HIDDEN_STRIDE, w_inner, HIDDEN_STRIDE, 8 * warp, lane);
            put_columns(sums, c, warp, lane);
        }
        meet(group);

#pragma unroll
        for (int r = 0; r < HELD; r++) {
            float slope[8], other[8];
            load_row(slope, sums + (HELD * warp + r) * SUMS_STRIDE, lane);
            unpack(other, residual[r]);
#pragma unroll
            for (int u = 0; u < 8; u++) slope[u] += other[u];
            unpack(other, normed_1[r]);
            norm_backward(slope, other, inverse_1[r], vector + SCALE_1 * 256, lane);
            if (first + r < COUNT) {
#if SHARED_ROWS
                add_row(d_stream + place(r), slope, lane);
#else
                store_row(d_stream + place(r), slope, lane);
#endif
                drop(slope, kept[0] >> 8 * r);
                store_row(d_attended + row(r) * 256, slope, lane);
            }
        }
        meet(group);  // the next rows overwrite the tile
    }

    // Sums over rows: the warps add up in shared memory, one after the other.
    __syncthreads();
    float* of_rows = vector;
    for (int n = threadIdx.x; n < 3 * 256; n += 32 * WARPS * GROUPS) of_rows[n] = 0;
    __syncthreads();
    for (int turn = 0; turn < WARPS * GROUPS; turn++) {
        if (turn == WARPS * group + warp)
#pragma unroll
            for (int u = 0; u < 8; u++) {
                const int c = column_of(u, lane);
                of_rows[c] += product_sum[u];
                of_rows[256 + c] += slope_sum[u];
                of_rows[512 + c] += DROPPED ? branch_sum[u] : slope_sum[u];
            }
        __syncthreads();
    }
    for (int n = threadIdx.x; n < 3 * 256; n += 32 * WARPS * GROUPS) row_sums[(size_t)blockIdx.x * 3 * 256 + n] = of_rows[n];
    if (lane == 0) losses[(blockIdx.x * GROUPS + group) * WARPS + warp] = total;
}
