// Attention of the last T of L positions, forward and backward, two warps per (sequence, head), on tensor cores, from
// float16 to float16; all sums, scores and probabilities are float32.
//
// Macros: LENGTH L <= 32, QUERIES T <= L, HEADS, SCORE (columns of a query and a key, a multiple of 8), VALUE (of a value),
//         ONE_KEY (1: all heads ask the same key), SUMMED (1: what the heads find is added up, so that they share a slope),
//         BATCH, PAIRS (of warps in a block), BLOCKS (per member), ROWS (of the table, per member), SHARED_ROWS (1: several
//         sequences use a row), DROPPED (share of the attention dropped times 2^32), KEPT (1 / (1 - share))
// A row of `table` holds the query, key and value of every head: [HEADS][SCORE], [HEADS][SCORE] and [HEADS][VALUE]; a key of
// all heads has a table of its own. `places[b][p]` says which row position p of sequence b has.

#include "tensor_cores.cuh"

#define STRIDE(columns) ((columns) / 8 % 2 ? (columns) : (columns) + 8)  // odd in units of 16 bytes: eight rows touch all banks once
#define OFFSET (LENGTH - QUERIES)
#define SCORE_STEPS (SCORE / 8)
#define VALUE_STEPS (VALUE / 8)
#define STEPS (SCORE > VALUE ? SCORE_STEPS : VALUE_STEPS)
#define QUERY_ROWS (QUERIES > 24 ? 32 : 24)
#define QUERY_TILES (QUERY_ROWS / 8)
#define SLOPE_STRIDE (QUERY_ROWS == 24 ? 24 : 40)

// Two numbers to each lane's columns 2t and 2t + 1 of a block. A row of the gradient may be shared with other sequences,
// which add to it in float32, or belong to this one alone.
__device__ __forceinline__ void give(float* at, float x, float y) { add_two(at, x, y); }
__device__ __forceinline__ void give(Half* at, float x, float y) { *reinterpret_cast<unsigned*>(at) = packed(x, y); }
__device__ __forceinline__ void give(float* at, float x, float y, float z, float w) { add_four(at, x, y, z, w); }
__device__ __forceinline__ void give(Half* at, float x, float y, float z, float w) {
    *reinterpret_cast<uint2*>(at) = make_uint2(packed(x, y), packed(z, w));
}

// The same of two blocks side by side, a and b, of which the first begins at `row`. Neighbours exchange two numbers, so
// that a lane has four in a row, and sixteen in a row are written at once: halves of what memory writes cost twice.
template <class Number>
__device__ __forceinline__ void give_both(Number* row, const float* a, const float* b, int t, bool wanted) {
    const bool odd = t % 2;
    const float x = __shfl_xor_sync(FULL, odd ? a[0] : b[0], 1), y = __shfl_xor_sync(FULL, odd ? a[1] : b[1], 1);
    if (!wanted) return;
    if (odd)
        give(row + 8 + 2 * t - 2, x, y, b[0], b[1]);
    else
        give(row + 2 * t, a[0], a[1], x, y);
}

// Blocks c and c + 1 of a row, or c alone if it is the last.
template <int COLUMNS, class Number>
__device__ __forceinline__ void give_blocks(Number* row, int c, const float* a, const float* b, int t, bool wanted) {
    if (c + 1 < COLUMNS / 8)
        give_both(row + 8 * c, a, b, t, wanted);
    else if (wanted)
        give(row + 8 * c + 2 * t, a[0], a[1]);
}

#if SHARED_ROWS
typedef float Slope;
#else
typedef Half Slope;
#endif

// What dropout makes of a probability: a factor. `words` are the two of the sequence, or anything without dropout.
__device__ __forceinline__ float kept(const unsigned* words, int head, int query, int key) {
#if DROPPED
    const unsigned number = (head * QUERIES + query) * LENGTH + key;
    return hashed(hashed(number ^ words[0]) + words[1]) >= DROPPED ? KEPT : 0;
#else
    return 1;
#endif
}

__device__ __forceinline__ void copy_across(Half* to, const Half* from) {  // sixteen bytes into shared memory
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(shared_address(to)), "l"(from));
}

// `count` rows of so many numbers into shared memory, all under way at once; `empty` rows of zeros behind them.
template <int COLUMNS>
__device__ __forceinline__ void fetch(
    Half* tile, const Half* rows, const int* places, int count, int empty, size_t width, int thread) {
#pragma unroll 4
    for (int n = thread; n < count * (COLUMNS / 8); n += 64) {
        const int r = n / (COLUMNS / 8), c = n % (COLUMNS / 8) * 8;
        copy_across(tile + r * STRIDE(COLUMNS) + c, rows + (places ? places[r] : r) * width + c);
    }
    for (int n = thread; n < empty * COLUMNS; n += 64) tile[(count + n / COLUMNS) * STRIDE(COLUMNS) + n % COLUMNS] = 0;
}

__device__ __forceinline__ void meet(int pair) {  // of the two warps of a pair
    asm volatile("bar.sync %0, 64;" :: "r"(pair + 1) : "memory");
}

__device__ __forceinline__ void wait_for_fetches(int pair) {
    asm volatile("cp.async.wait_all;" ::: "memory");
    meet(pair);
}

// Rows first .. first + 15 of a tile as the left factor of a product, columns 8 step and the sixteen from there; rows
// beyond the last repeat it. Of an odd number of steps the last has eight columns.
template <int COLUMNS>
__device__ __forceinline__ void left(unsigned (&a)[4], const Half* tile, int first, int last, int step, int lane) {
    const int row = min(first + lane % 16, last), column = 8 * step + lane / 16 * 8;
    load_halves(a, shared_address(tile + row * STRIDE(COLUMNS) + (column < COLUMNS ? column : 0)));
}

// The rows of two tiles of eight as columns of the right factor: of the first b[0] and b[1], of the second b[2] and b[3].
template <int COLUMNS>
__device__ __forceinline__ void right(unsigned (&b)[4], const Half* tile, int first, int second, int step, int lane) {
    const int row = (lane < 16 ? first : second) * 8 + lane % 8, column = 8 * step + lane / 8 % 2 * 8;
    load_halves(b, shared_address(tile + row * STRIDE(COLUMNS) + (column < COLUMNS ? column : 0)));
}

// Eight columns of all rows, eight rows a number: the right factor of a sum over rows; rows beyond the last repeat it.
template <int COLUMNS>
__device__ __forceinline__ void over_rows(unsigned (&b)[4], const Half* tile, int last, int column, int lane) {
    load_halves_transposed(b, shared_address(tile + min(lane, last) * STRIDE(COLUMNS) + column));
}

// A step of a product: sixteen columns, or the last eight.
template <int COLUMNS>
__device__ __forceinline__ void advance(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1, int step) {
    if (step + 1 < COLUMNS / 8)
        multiply_halves(c, a[0], a[1], a[2], a[3], b0, b1);
    else
        multiply_halves(c, a[0], a[1], b0);
}

// Sixteen rows of which the tiles of queries are columns, times what `over_rows` gives of the queries.
__device__ __forceinline__ void over_queries(float (&c)[4], const unsigned (&a)[QUERY_TILES][2], const unsigned (&b)[4]) {
#pragma unroll
    for (int n = 0; n + 1 < QUERY_TILES; n += 2) multiply_halves(c, a[n][0], a[n][1], a[n + 1][0], a[n + 1][1], b[n], b[n + 1]);
    if (QUERY_TILES % 2) multiply_halves(c, a[QUERY_TILES - 1][0], a[QUERY_TILES - 1][1], b[QUERY_TILES - 1]);
}

#define ROW_WIDTH ((size_t)HEADS * ((ONE_KEY ? 1 : 2) * SCORE + VALUE))
#define VALUES_AT (ROW_WIDTH - HEADS * VALUE)
#define SLOPE_WIDTH ((size_t)(SUMMED ? 1 : HEADS) * VALUE)
#define FORWARD_HALVES ((QUERIES + 32) * STRIDE(SCORE) + 32 * STRIDE(VALUE))
#define FORWARD_BYTES (2 * FORWARD_HALVES + 4 * 32)
#define VALUE_HALVES (32 * (STRIDE(VALUE) > SLOPE_STRIDE ? STRIDE(VALUE) : SLOPE_STRIDE))  // later the slopes of the scores
#define BACKWARD_HALVES (QUERY_ROWS * (STRIDE(SCORE) + STRIDE(VALUE)) + 32 * STRIDE(SCORE) + VALUE_HALVES)
#define BACKWARD_BYTES (2 * BACKWARD_HALVES + 4 * (32 + 2 * QUERY_ROWS))
#if ONE_KEY  // a table for keys alone, and slopes of them for every head
#define TABLE_OF_KEYS const Half* __restrict__ keys,
#define SLOPES_OF_KEYS , Half* d_keys
#define KEY_WIDTH ((size_t)SCORE)
#define D_KEY_WIDTH ((size_t)HEADS * SCORE)
#else
#define TABLE_OF_KEYS
#define SLOPES_OF_KEYS
#define KEY_WIDTH ROW_WIDTH
#define D_KEY_WIDTH ROW_WIDTH
#endif

extern "C" __global__ void __launch_bounds__(64 * PAIRS, 1) attention_forward(
    const Half* __restrict__ table,       // [member][ROWS], queries, keys and values
    TABLE_OF_KEYS                         // [member][ROWS][SCORE]
    const int* __restrict__ places,       // [member][BATCH][LENGTH]
    const unsigned* __restrict__ words,   // [member][BATCH][2]
    Half* output,                         // [member][BATCH][QUERIES][HEADS][VALUE]
    float* normaliser)                    // [member][BATCH][HEADS][32]: log sum exp of each query's scores
{
    extern __shared__ float shared[];
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, pair = threadIdx.x / 64, thread = threadIdx.x % 64;
    const int side = thread / 32;
    Half* q = reinterpret_cast<Half*>(shared + pair * (FORWARD_BYTES / 4));
    Half *k = q + QUERIES * STRIDE(SCORE), *v = k + 32 * STRIDE(SCORE);
    int* my_places = reinterpret_cast<int*>(v + 32 * STRIDE(VALUE));
    const int member = blockIdx.x / BLOCKS;
    const Half* my_table = table + member * ROWS * ROW_WIDTH;
#if !ONE_KEY
    const Half* keys = table + HEADS * SCORE;
#endif

    for (int unit = blockIdx.x % BLOCKS * PAIRS + pair; unit < BATCH * HEADS; unit += BLOCKS * PAIRS) {
        const int sample = unit / HEADS, head = unit % HEADS;
        const size_t sequence = (size_t)member * BATCH + sample;
        meet(pair);
        if (thread < LENGTH) my_places[thread] = places[sequence * LENGTH + thread];
        meet(pair);
        const Half* my_keys = keys + member * ROWS * KEY_WIDTH + (ONE_KEY ? 0 : head * SCORE);
        fetch<SCORE>(q, my_table + head * SCORE, my_places + OFFSET, QUERIES, 0, ROW_WIDTH, thread);
        fetch<SCORE>(k, my_keys, my_places, LENGTH, 0, KEY_WIDTH, thread);
        fetch<VALUE>(v, my_table + VALUES_AT + head * VALUE, my_places, LENGTH, 32 - LENGTH, ROW_WIDTH, thread);
        wait_for_fetches(pair);

        if (16 * side >= QUERIES) continue;  // a side has 16 queries: with few of them the second only fetches
        float s[4][4] = {};  // scores of keys 8 n + ...
#pragma unroll
        for (int step = 0; step < SCORE_STEPS; step += 2) {
            unsigned a[4];
            left<SCORE>(a, q, 16 * side, QUERIES - 1, step, lane);
#pragma unroll
            for (int n = 0; n < 4; n += 2) {
                unsigned b[4];
                right<SCORE>(b, k, n, n + 1, step, lane);
                advance<SCORE>(s[n], a, b[0], b[1], step);
                advance<SCORE>(s[n + 1], a, b[2], b[3], step);
            }
        }
        // Softmax over the keys: a row lies in the four lanes of the same g.
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const int query = 16 * side + 8 * half + g;
            float largest = LOWEST, sum = 0;
#pragma unroll
            for (int n = 0; n < 4; n++)
#pragma unroll
                for (int e = 0; e < 2; e++) {
                    float& score = s[n][2 * half + e];
                    const int key = 8 * n + 2 * t + e;
                    if (key > OFFSET + query || key >= LENGTH) score = LOWEST;
                    largest = fmaxf(largest, score);
                }
            largest = fmaxf(largest, __shfl_xor_sync(FULL, largest, 1));
            largest = fmaxf(largest, __shfl_xor_sync(FULL, largest, 2));
#pragma unroll
            for (int n = 0; n < 4; n++)
#pragma unroll
                for (int e = 0; e < 2; e++) sum += s[n][2 * half + e] = expf(s[n][2 * half + e] - largest);
            sum += __shfl_xor_sync(FULL, sum, 1);
            sum += __shfl_xor_sync(FULL, sum, 2);
            const float scale = 1 / sum;
#pragma unroll
            for (int n = 0; n < 4; n++)
#pragma unroll
                for (int e = 0; e < 2; e++)
                    s[n][2 * half + e] *= scale * kept(words + 2 * sequence, head, query, 8 * n + 2 * t + e);
            if (t == 0 && query < QUERIES) normaliser[(sequence * HEADS + head) * 32 + query] = largest + logf(sum);
        }
        // Mix the values: the scores lie as the left factor of a product has its numbers.
        unsigned p[4][2];
#pragma unroll
        for (int n = 0; n < 4; n++) p[n][0] = packed(s[n][0], s[n][1]), p[n][1] = packed(s[n][2], s[n][3]);
        Half* out = output + ((sequence * QUERIES) * HEADS + head) * VALUE;
#pragma unroll
        for (int c = 0; c < VALUE_STEPS; c += 2) {
            float o[2][4] = {};
#pragma unroll
            for (int next = 0; next < 2; next++)
                if (c + next < VALUE_STEPS) {
                    unsigned b[4];
                    over_rows<VALUE>(b, v, 31, 8 * (c + next), lane);
#pragma unroll
                    for (int n = 0; n < 4; n += 2)
                        multiply_halves(o[next], p[n][0], p[n][1], p[n + 1][0], p[n + 1][1], b[n], b[n + 1]);
                }
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const int query = 16 * side + 8 * half + g;
                Half* row = out + (size_t)query * HEADS * VALUE;
                give_blocks<VALUE>(row, c, o[0] + 2 * half, o[1] + 2 * half, t, query < QUERIES);
            }
        }
    }
}

extern "C" __global__ void __launch_bounds__(64 * PAIRS, 1) attention_backward(
    const Half* __restrict__ table, TABLE_OF_KEYS const int* __restrict__ places, const unsigned* __restrict__ words,
    const Half* __restrict__ slope,       // [member][BATCH][QUERIES][HEADS, if they are not summed][VALUE]: dloss/doutput
    const float* __restrict__ normaliser,
#if SHARED_ROWS
    const float*,                         // zeros that the gradient starts from: the same memory as below
#endif
    Slope* gradient                       // [member][ROWS], of queries, keys and values
    SLOPES_OF_KEYS)                       // [member][ROWS][HEADS][SCORE]
{
    extern __shared__ float shared[];
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, pair = threadIdx.x / 64, thread = threadIdx.x % 64;
    const int side = thread / 32;
    Half* q = reinterpret_cast<Half*>(shared + pair * (BACKWARD_BYTES / 4));
    Half *d = q + QUERY_ROWS * STRIDE(SCORE), *k = d + QUERY_ROWS * STRIDE(VALUE), *v = k + 32 * STRIDE(SCORE);
    Half* d_scores = v;                    // [key][query], where the values were
    int* my_places = reinterpret_cast<int*>(v + VALUE_HALVES);
    float* means = reinterpret_cast<float*>(my_places + 32);  // [side][query]
    const int member = blockIdx.x / BLOCKS;
    const Half* my_table = table + member * ROWS * ROW_WIDTH;
#if !ONE_KEY
    const Half* keys = table + HEADS * SCORE;
    Slope* d_keys = gradient + HEADS * SCORE;
#endif

    for (int unit = blockIdx.x % BLOCKS * PAIRS + pair; unit < BATCH * HEADS; unit += BLOCKS * PAIRS) {
        const int sample = unit / HEADS, head = unit % HEADS;
        const size_t sequence = (size_t)member * BATCH + sample;
        meet(pair);
        if (thread < LENGTH) my_places[thread] = places[sequence * LENGTH + thread];
        meet(pair);
        const Half* my_keys = keys + member * ROWS * KEY_WIDTH + (ONE_KEY ? 0 : head * SCORE);
        fetch<SCORE>(q, my_table + head * SCORE, my_places + OFFSET, QUERIES, QUERY_ROWS - QUERIES, ROW_WIDTH, thread);
        fetch<SCORE>(k, my_keys, my_places, LENGTH, 32 - LENGTH, KEY_WIDTH, thread);
        fetch<VALUE>(v, my_table + VALUES_AT + head * VALUE, my_places, LENGTH, 32 - LENGTH, ROW_WIDTH, thread);
        const Half* of_slope = slope + sequence * QUERIES * SLOPE_WIDTH + (SUMMED ? 0 : head * VALUE);
        fetch<VALUE>(d, of_slope, nullptr, QUERIES, QUERY_ROWS - QUERIES, SLOPE_WIDTH, thread);
        wait_for_fetches(pair);

        // Everything transposed: rows are keys, 16 a side, columns are queries 8 n + ...
        float p[QUERY_TILES][4] = {}, s[QUERY_TILES][4] = {};
#pragma unroll
        for (int step = 0; step < STEPS; step += 2) {
            unsigned of_k[4], of_v[4];
            if (step < SCORE_STEPS) left<SCORE>(of_k, k, 16 * side, 31, step, lane);
            if (step < VALUE_STEPS) left<VALUE>(of_v, v, 16 * side, 31, step, lane);
#pragma unroll
            for (int n = 0; n < QUERY_TILES; n += 2) {
                const int next = n + 1 < QUERY_TILES ? n + 1 : n;
                unsigned of_q[4], of_d[4];
                if (step < SCORE_STEPS) right<SCORE>(of_q, q, n, next, step, lane);
                if (step < VALUE_STEPS) right<VALUE>(of_d, d, n, next, step, lane);
                if (step < SCORE_STEPS) advance<SCORE>(p[n], of_k, of_q[0], of_q[1], step);
                if (step < VALUE_STEPS) advance<VALUE>(s[n], of_v, of_d[0], of_d[1], step);
                if (next > n && step < SCORE_STEPS) advance<SCORE>(p[next], of_k, of_q[2], of_q[3], step);
                if (next > n && step < VALUE_STEPS) advance<VALUE>(s[next], of_v, of_d[2], of_d[3], step);
            }
        }
        const float* of_normaliser = normaliser + (sequence * HEADS + head) * 32;
        unsigned shares[QUERY_TILES][2];  // probabilities behind dropout, and below the slopes of scores: left factors
#pragma unroll
        for (int n = 0; n < QUERY_TILES; n++) {
            float behind[4];
#pragma unroll
            for (int e = 0; e < 2; e++) {
                const int query = 8 * n + 2 * t + e;
                const float shift = query < QUERIES ? of_normaliser[query] : 0;
                float mean = 0;
#pragma unroll
                for (int half = 0; half < 2; half++) {
                    const int key = 16 * side + 8 * half + g, at = 2 * half + e;
                    const bool seen = query < QUERIES && key <= OFFSET + query && key < LENGTH;
                    const float keep = kept(words + 2 * sequence, head, query, key);
                    p[n][at] = seen ? expf(p[n][at] - shift) : 0;
                    s[n][at] *= keep;
                    behind[at] = p[n][at] * keep;
                    mean += p[n][at] * s[n][at];
                }
                mean += __shfl_xor_sync(FULL, mean, 4);
                mean += __shfl_xor_sync(FULL, mean, 8);
                mean += __shfl_xor_sync(FULL, mean, 16);
                if (g == 0) means[side * QUERY_ROWS + query] = mean;
            }
            shares[n][0] = packed(behind[0], behind[1]), shares[n][1] = packed(behind[2], behind[3]);
        }
        meet(pair);  // from here on nobody reads the values: the slopes of the scores take their place
        unsigned slopes[QUERY_TILES][2];
#pragma unroll
        for (int n = 0; n < QUERY_TILES; n++)
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const int query = 8 * n + 2 * t, at = 2 * half;
                const float first = means[query] + means[QUERY_ROWS + query];
                const float second = means[query + 1] + means[QUERY_ROWS + query + 1];
                slopes[n][half] = packed(p[n][at] * (s[n][at] - first), p[n][at + 1] * (s[n][at + 1] - second));
                *reinterpret_cast<unsigned*>(d_scores + (16 * side + 8 * half + g) * SLOPE_STRIDE + query) = slopes[n][half];
            }
        Slope* d_rows = gradient + member * ROWS * ROW_WIDTH;
        Slope* my_d_keys = d_keys + member * ROWS * D_KEY_WIDTH + head * SCORE;
#if !SHARED_ROWS
        for (int n = thread; n < OFFSET * SCORE_STEPS; n += 64) {  // positions that ask nothing
            Slope* row = d_rows + my_places[n / SCORE_STEPS] * ROW_WIDTH + head * SCORE;
            *reinterpret_cast<float4*>(row + n % SCORE_STEPS * 8) = make_float4(0, 0, 0, 0);
        }
#endif
        // Keys and values: contract over the queries.
#pragma unroll
        for (int c = 0; c < STEPS; c += 2) {
            float dk[2][4] = {}, dv[2][4] = {};
#pragma unroll
            for (int next = 0; next < 2; next++) {
                unsigned of_q[4], of_d[4];
                if (c + next < SCORE_STEPS) over_rows<SCORE>(of_q, q, QUERY_ROWS - 1, 8 * (c + next), lane);
                if (c + next < VALUE_STEPS) over_rows<VALUE>(of_d, d, QUERY_ROWS - 1, 8 * (c + next), lane);
                if (c + next < SCORE_STEPS) over_queries(dk[next], slopes, of_q);
                if (c + next < VALUE_STEPS) over_queries(dv[next], shares, of_d);
            }
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const int key = 16 * side + 8 * half + g;
                const size_t place = my_places[min(key, LENGTH - 1)];
                Slope* of_value = d_rows + place * ROW_WIDTH + VALUES_AT + head * VALUE;
                if (c < SCORE_STEPS)
                    give_blocks<SCORE>(
                        my_d_keys + place * D_KEY_WIDTH, c, dk[0] + 2 * half, dk[1] + 2 * half, t, key < LENGTH);
                if (c < VALUE_STEPS)
                    give_blocks<VALUE>(of_value, c, dv[0] + 2 * half, dv[1] + 2 * half, t, key < LENGTH);
            }
        }
        meet(pair);
        // Queries: contract over the keys; a side has every other pair of blocks of columns.
        unsigned a[2][2][4];
#pragma unroll
        for (int m = 0; m < 2; m++)
#pragma unroll
            for (int step = 0; step < 2; step++) {
                const int key = 16 * step + lane / 16 * 8 + lane % 8, query = min(16 * m + lane / 8 % 2 * 8, QUERY_ROWS - 8);
                load_halves_transposed(a[m][step], shared_address(d_scores + key * SLOPE_STRIDE + query));
            }
#pragma unroll
        for (int c = 2 * side; c < SCORE_STEPS; c += 4) {
            unsigned b[2][4];
#pragma unroll
            for (int next = 0; next < 2; next++) over_rows<SCORE>(b[next], k, 31, 8 * min(c + next, SCORE_STEPS - 1), lane);
#pragma unroll
            for (int m = 0; m < 2; m++) {
                float dq[2][4] = {};
#pragma unroll
                for (int next = 0; next < 2; next++)
#pragma unroll
                    for (int step = 0; step < 2; step++)
                        multiply_halves(
                            dq[next], a[m][step][0], a[m][step][1], a[m][step][2], a[m][step][3],
                            b[next][2 * step], b[next][2 * step + 1]);
#pragma unroll
                for (int half = 0; half < 2; half++) {
                    const int query = 16 * m + 8 * half + g;
                    Slope* row = d_rows + my_places[OFFSET + min(query, QUERIES - 1)] * ROW_WIDTH + head * SCORE;
                    give_blocks<SCORE>(row, c, dq[0] + 2 * half, dq[1] + 2 * half, t, query < QUERIES);
                }
            }
        }
    }
}
