// Attention of the last T of L positions, forward and backward, two warps per (sequence, head), on tensor cores (TF32).
//
// Macros: LENGTH L <= 32, QUERIES T <= L, HEADS, PART (columns per head, a multiple of 8), BATCH, PAIRS (of warps
//         in a block), BLOCKS (per member), ROWS (of the table, per member), SHARED_ROWS (1: several sequences use a row),
//         DROPPED (share of the attention dropped times 2^32), KEPT (1 / (1 - share))
// A row of `table` holds the query, key and value of every head: [3][HEADS][PART]. `places[b][p]` says which row
// position p of sequence b has.

#include "tensor_cores.cuh"

#define STRIDE (PART + 4)                 // PART % 32 is 24 or so: fragments then touch 32 different banks
#define OFFSET (LENGTH - QUERIES)
#define STEPS (PART / 8)
#define QUERY_ROWS (QUERIES > 24 ? 32 : 24)
#define QUERY_TILES (QUERY_ROWS / 8)
// Half a unit of TF32's last place, so that the tensor cores, which cut the rest off, round to nearest.
__device__ __forceinline__ float nudged(float v) { return __int_as_float(__float_as_int(v) + 0x1000); }

// A row of the gradient may be shared with other sequences, or belong to this one alone.
__device__ __forceinline__ void add_pair(float* at, float x, float y) {
#if SHARED_ROWS
    add_two(at, x, y);
#else
    *reinterpret_cast<float2*>(at) = make_float2(x, y);
#endif
}

// What dropout makes of a probability: a factor. `words` are the two of the sequence, or anything without dropout.
__device__ __forceinline__ float kept(const unsigned* words, int head, int query, int key) {
#if DROPPED
    const unsigned number = (head * QUERIES + query) * LENGTH + key;
    return hashed(hashed(number ^ words[0]) + words[1]) >= DROPPED ? KEPT : 0;
#else
    return 1;
#endif
}

// `count` rows of PART numbers into shared memory, all under way at once; `empty` rows of zeros behind them.
__device__ __forceinline__ void fetch(
    float* tile, const float* rows, const int* places, int count, int empty, size_t width, int thread) {
    const unsigned to = (unsigned)__cvta_generic_to_shared(tile);
#pragma unroll 4
    for (int n = thread; n < count * (PART / 4); n += 64) {
        const int r = n / (PART / 4), c = n % (PART / 4) * 4;
        const float* from = rows + (places ? places[r] : r) * width + c;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(to + 4 * (r * STRIDE + c)), "l"(from));
    }
    for (int n = thread; n < empty * PART; n += 64) tile[(count + n / PART) * STRIDE + n % PART] = 0;
}

__device__ __forceinline__ void meet(int pair) {  // of the two warps of a pair
    asm volatile("bar.sync %0, 64;" :: "r"(pair + 1) : "memory");
}

__device__ __forceinline__ void wait_for_fetches(int pair) {
    asm volatile("cp.async.wait_all;" ::: "memory");
    meet(pair);
}

#define ROW_WIDTH ((size_t)3 * HEADS * PART)
#define FORWARD_FLOATS ((QUERIES + 32 + 32) * STRIDE + 32)
#define VALUE_FLOATS (32 * STRIDE > QUERY_ROWS * 36 ? 32 * STRIDE : QUERY_ROWS * 36)  // later the slopes of the scores
#define BACKWARD_FLOATS ((2 * QUERY_ROWS + 32) * STRIDE + VALUE_FLOATS + 32 + 2 * QUERY_ROWS)

extern "C" __global__ void __launch_bounds__(64 * PAIRS, 1) attention_forward(
    const float* __restrict__ table,      // [member][ROWS][3][HEADS][PART]
    const int* __restrict__ places,       // [member][BATCH][LENGTH]
    const unsigned* __restrict__ words,   // [member][BATCH][2]
    float* output,                        // [member][BATCH][QUERIES][HEADS][PART]
    float* normaliser)                    // [member][BATCH][HEADS][32]: log sum exp of each query's scores
{
    extern __shared__ float shared[];
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, pair = threadIdx.x / 64, thread = threadIdx.x % 64;
    const int side = thread / 32;
    float* own = shared + pair * FORWARD_FLOATS;
    float *q = own, *k = q + QUERIES * STRIDE, *v = k + 32 * STRIDE;
    int* my_places = reinterpret_cast<int*>(v + 32 * STRIDE);
    const int member = blockIdx.x / BLOCKS;
    const float* my_table = table + member * ROWS * ROW_WIDTH;

    for (int unit = blockIdx.x % BLOCKS * PAIRS + pair; unit < BATCH * HEADS; unit += BLOCKS * PAIRS) {
        const int sample = unit / HEADS, head = unit % HEADS;
        const size_t sequence = (size_t)member * BATCH + sample;
        meet(pair);
        if (thread < LENGTH) my_places[thread] = places[sequence * LENGTH + thread];
        meet(pair);
        const float* of_head = my_table + head * PART;
        fetch(q, of_head, my_places + OFFSET, QUERIES, 0, ROW_WIDTH, thread);
        fetch(k, of_head + HEADS * PART, my_places, LENGTH, 0, ROW_WIDTH, thread);
        fetch(v, of_head + 2 * HEADS * PART, my_places, LENGTH, 32 - LENGTH, ROW_WIDTH, thread);
        wait_for_fetches(pair);

        if (16 * side >= QUERIES) continue;  // a side has 16 queries: with few of them the second only fetches
        float s[4][4] = {};  // scores of keys 8 n + ...
        const int low = min(16 * side + g, QUERIES - 1) * STRIDE, high = min(16 * side + 8 + g, QUERIES - 1) * STRIDE;
#pragma unroll
        for (int step = 0; step < STEPS; step++) {
            const int c = 8 * step + t;
            const float a0 = nudged(q[low + c]), a1 = nudged(q[high + c]);
            const float a2 = nudged(q[low + c + 4]), a3 = nudged(q[high + c + 4]);
#pragma unroll
            for (int n = 0; n < 4; n++)
                multiply(s[n], a0, a1, a2, a3, nudged(k[(8 * n + g) * STRIDE + c]), nudged(k[(8 * n + g) * STRIDE + c + 4]));
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
                    s[n][2 * half + e] =
                        rounded(s[n][2 * half + e] * scale * kept(words + 2 * sequence, head, query, 8 * n + 2 * t + e));
            if (t == 0 && query < QUERIES) normaliser[(sequence * HEADS + head) * 32 + query] = largest + logf(sum);
        }
        // Mix the values. The order of the keys inside a product is free, so the scores' own layout serves:
        // what the instruction calls columns t and t + 4 are here the keys 2t and 2t + 1.
        float* out = output + ((sequence * QUERIES) * HEADS + head) * PART;
#pragma unroll
        for (int c = 0; c < STEPS; c++) {
            float o[4] = {};
#pragma unroll
            for (int n = 0; n < 4; n++) {
                const int at = (8 * n + 2 * t) * STRIDE + 8 * c + g;
                multiply(o, s[n][0], s[n][2], s[n][1], s[n][3], nudged(v[at]), nudged(v[at + STRIDE]));
            }
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const int query = 16 * side + 8 * half + g;
                if (query < QUERIES)
                    *reinterpret_cast<float2*>(out + (size_t)query * HEADS * PART + 8 * c + 2 * t) =
                        make_float2(o[2 * half], o[2 * half + 1]);
            }
        }
    }
}

extern "C" __global__ void __launch_bounds__(64 * PAIRS, 1) attention_backward(
    const float* __restrict__ table, const int* __restrict__ places, const unsigned* __restrict__ words,
    const float* __restrict__ slope,      // [member][BATCH][QUERIES][HEADS][PART]: dloss/doutput
    const float* __restrict__ normaliser,
#if SHARED_ROWS
    const float*,                         // zeros that the gradient starts from: the same memory as below
#endif
    float* gradient)                      // [member][ROWS][3][HEADS][PART]
{
    extern __shared__ float shared[];
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, pair = threadIdx.x / 64, thread = threadIdx.x % 64;
    const int side = thread / 32;
    float* own = shared + pair * BACKWARD_FLOATS;
    float *q = own, *d = q + QUERY_ROWS * STRIDE, *k = d + QUERY_ROWS * STRIDE, *v = k + 32 * STRIDE;
    int* my_places = reinterpret_cast<int*>(v + VALUE_FLOATS);
    float* means = v + VALUE_FLOATS + 32;  // [side][query]
    const int member = blockIdx.x / BLOCKS;
    const float* my_table = table + member * ROWS * ROW_WIDTH;

    for (int unit = blockIdx.x % BLOCKS * PAIRS + pair; unit < BATCH * HEADS; unit += BLOCKS * PAIRS) {
        const int sample = unit / HEADS, head = unit % HEADS;
        const size_t sequence = (size_t)member * BATCH + sample;
        meet(pair);
        if (thread < LENGTH) my_places[thread] = places[sequence * LENGTH + thread];
        meet(pair);
        const float* of_head = my_table + head * PART;
        fetch(q, of_head, my_places + OFFSET, QUERIES, QUERY_ROWS - QUERIES, ROW_WIDTH, thread);
        fetch(k, of_head + HEADS * PART, my_places, LENGTH, 32 - LENGTH, ROW_WIDTH, thread);
        fetch(v, of_head + 2 * HEADS * PART, my_places, LENGTH, 32 - LENGTH, ROW_WIDTH, thread);
        const float* of_slope = slope + ((sequence * QUERIES) * HEADS + head) * PART;
        fetch(d, of_slope, nullptr, QUERIES, QUERY_ROWS - QUERIES, (size_t)HEADS * PART, thread);
        wait_for_fetches(pair);

        // Everything transposed: rows are keys, 16 a side, columns are queries 8 n + ...
        float p[QUERY_TILES][4] = {}, s[QUERY_TILES][4] = {}, keep[QUERY_TILES][4];
#pragma unroll
        for (int step = 0; step < STEPS; step++) {
            const int c = 8 * step + t, low = (16 * side + g) * STRIDE + c, high = low + 8 * STRIDE;
            const float k0 = nudged(k[low]), k1 = nudged(k[high]), k2 = nudged(k[low + 4]), k3 = nudged(k[high + 4]);
            const float v0 = nudged(v[low]), v1 = nudged(v[high]), v2 = nudged(v[low + 4]), v3 = nudged(v[high + 4]);
#pragma unroll
            for (int n = 0; n < QUERY_TILES; n++) {
                const int column = (8 * n + g) * STRIDE + c;
                multiply(p[n], k0, k1, k2, k3, nudged(q[column]), nudged(q[column + 4]));
                multiply(s[n], v0, v1, v2, v3, nudged(d[column]), nudged(d[column + 4]));
            }
        }
        const float* of_normaliser = normaliser + (sequence * HEADS + head) * 32;
#pragma unroll
        for (int n = 0; n < QUERY_TILES; n++)
#pragma unroll
            for (int e = 0; e < 2; e++) {
                const int query = 8 * n + 2 * t + e;
                const float shift = query < QUERIES ? of_normaliser[query] : 0;
                float mean = 0;
#pragma unroll
                for (int half = 0; half < 2; half++) {
                    const int key = 16 * side + 8 * half + g, at = 2 * half + e;
                    const bool seen = query < QUERIES && key <= OFFSET + query && key < LENGTH;
                    p[n][at] = seen ? expf(p[n][at] - shift) : 0;
                    keep[n][at] = kept(words + 2 * sequence, head, query, key);
                    s[n][at] *= keep[n][at];
                    mean += p[n][at] * s[n][at];
                }
                mean += __shfl_xor_sync(FULL, mean, 4);
                mean += __shfl_xor_sync(FULL, mean, 8);
                mean += __shfl_xor_sync(FULL, mean, 16);
                if (g == 0) means[side * QUERY_ROWS + query] = mean;
            }
        meet(pair);  // from here on nobody reads the values: the slopes of the scores take their place
#pragma unroll
        for (int n = 0; n < QUERY_TILES; n++)
#pragma unroll
            for (int e = 0; e < 2; e++) {
                const int query = 8 * n + 2 * t + e;
                const float mean = means[query] + means[QUERY_ROWS + query];
#pragma unroll
                for (int half = 0; half < 2; half++) {
                    const int at = 2 * half + e;
                    s[n][at] = rounded(p[n][at] * (s[n][at] - mean));
                    p[n][at] = rounded(p[n][at] * keep[n][at]);
                    v[query * 36 + 16 * side + 8 * half + g] = s[n][at];
                }
            }
        float* of_gradient = gradient + member * ROWS * ROW_WIDTH + head * PART;
#if !SHARED_ROWS
        for (int n = thread; n < OFFSET * (PART / 4); n += 64)  // positions that ask nothing
            *reinterpret_cast<float4*>(of_gradient + my_places[n / (PART / 4)] * ROW_WIDTH + n % (PART / 4) * 4) =
                make_float4(0, 0, 0, 0);
#endif
        // Keys and values: contract over the queries, in the scores' own layout (see the forward pass).
#pragma unroll
        for (int c = 0; c < STEPS; c++) {
            float dk[4] = {}, dv[4] = {};
#pragma unroll
            for (int n = 0; n < QUERY_TILES; n++) {
                const int low = (8 * n + 2 * t) * STRIDE + 8 * c + g;
                multiply(dk, s[n][0], s[n][2], s[n][1], s[n][3], nudged(q[low]), nudged(q[low + STRIDE]));
                multiply(dv, p[n][0], p[n][2], p[n][1], p[n][3], nudged(d[low]), nudged(d[low + STRIDE]));
            }
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const int key = 16 * side + 8 * half + g;
                if (key < LENGTH) {
                    float* row = of_gradient + my_places[key] * ROW_WIDTH + 8 * c + 2 * t;
                    add_pair(row + HEADS * PART, dk[2 * half], dk[2 * half + 1]);
                    add_pair(row + 2 * HEADS * PART, dv[2 * half], dv[2 * half + 1]);
                }
            }
        }
        meet(pair);
        // Queries: contract over the keys; a side has every other block of columns.
        float a[2][4][4];
#pragma unroll
        for (int m = 0; m < 2; m++)
#pragma unroll
            for (int step = 0; step < 4; step++) {
                const int low = (16 * m + g) * 36 + 8 * step + t, high = min(16 * m + 8 + g, QUERY_ROWS - 1) * 36 + 8 * step + t;
                a[m][step][0] = v[low], a[m][step][1] = v[high], a[m][step][2] = v[low + 4], a[m][step][3] = v[high + 4];
            }
#pragma unroll 3
        for (int c = side; c < STEPS; c += 2) {
            float dq[2][4] = {};
#pragma unroll
            for (int step = 0; step < 4; step++) {
                const int low = (8 * step + t) * STRIDE + 8 * c + g;
                const float b0 = nudged(k[low]), b1 = nudged(k[low + 4 * STRIDE]);
#pragma unroll
                for (int m = 0; m < 2; m++)
                    multiply(dq[m], a[m][step][0], a[m][step][1], a[m][step][2], a[m][step][3], b0, b1);
            }
#pragma unroll
            for (int m = 0; m < 2; m++)
#pragma unroll
                for (int half = 0; half < 2; half++) {
                    const int query = 16 * m + 8 * half + g;
                    if (query < QUERIES)
                        add_pair(of_gradient + my_places[OFFSET + query] * ROW_WIDTH + 8 * c + 2 * t, dq[m][2 * half], dq[m][2 * half + 1]);
                }
        }
    }
}
