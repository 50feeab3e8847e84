// Attention of the last T of L positions, forward and backward, on tensor cores (TF32), one block per (sequence, head)
// and, backward, per slope: of queries, keys or values. Scores are never stored: each of them computes them again from
// the normalisers of the forward pass, so that no block waits for another and few registers are needed.
//
// Macros: LENGTH L, ASKED T, PART (columns per head: 32 or 64), HEADS, CAUSAL, SCALE (of the scores), TOGETHER (1: a row
//         of one array holds query, key and value; 0: queries are apart and a row of the other array holds key and
//         value), WARPS, GROUP (tiles of eight keys or queries that are taken at a time)
// In a fragment g = lane / 4 and t = lane % 4. Sums may run in any order and columns may stand in any, so
// - a sum over keys or queries takes key 2t as column t of the left factor and key 2t + 1 as column t + 4, which is how
//   a product of fragments leaves them (`mix`);
// - column g of its n-th product is PART / 8 * g + n, so that a lane reads and writes neighbours; for PART = 64 odd g
//   have their halves of eight the other way round, and no two lanes want the same bank at once.

#include "tensor_cores.cuh"

#define WIDTH (HEADS * PART)
#if TOGETHER
#define QUERY_ROW (3 * WIDTH)
#define KEY_ROW (3 * WIDTH)
#define KEY_AT WIDTH
#else
#define QUERY_ROW WIDTH
#define KEY_ROW (2 * WIDTH)
#define KEY_AT 0
#endif
#define VALUE_AT (KEY_AT + WIDTH)
#define STRIDE (PART + 4)
#define STEPS (PART / 8)
#define AT_ONCE (8 * GROUP)
#define FILLED(count) (((count) + AT_ONCE - 1) / AT_ONCE * AT_ONCE)
#define THREADS (32 * WARPS)
#define LOG2_E 1.44269504f

typedef float Rows[STEPS][4];  // sixteen rows of PART columns: the left factor of a product, or sums

__device__ __forceinline__ float power_of_two(float v) {
    float out;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"(v));
    return out;
}

// `count` rows into shared memory, rounded as the tensor cores want them, and zeros that fill up.
__device__ __forceinline__ void fetch(float* tile, const float* from, int count, int row) {
#pragma unroll 4
    for (int n = threadIdx.x; n < FILLED(count) * (PART / 4); n += THREADS) {
        const int r = n / (PART / 4), c = n % (PART / 4) * 4;
        float4 v = make_float4(0, 0, 0, 0);
        if (r < count) v = *reinterpret_cast<const float4*>(from + (size_t)r * row + c);
        *reinterpret_cast<float4*>(tile + r * STRIDE + c) = make_float4(rounded(v.x), rounded(v.y), rounded(v.z), rounded(v.w));
    }
}

// Rows first + g and first + g + 8, zeros from `count` on.
__device__ __forceinline__ void take(Rows& rows, const float* from, int first, int count, int row, int g, int t) {
#pragma unroll
    for (int e = 0; e < 4; e++) {
        const int r = first + g + e % 2 * 8;
#pragma unroll
        for (int k = 0; k < STEPS; k++) rows[k][e] = r < count ? rounded(from[(size_t)r * row + 8 * k + t + e / 2 * 4]) : 0.f;
    }
}

__device__ __forceinline__ void clear(float (&c)[4]) { c[0] = c[1] = c[2] = c[3] = 0; }

__device__ __forceinline__ void clear(Rows& sum) {
#pragma unroll
    for (int n = 0; n < STEPS; n++) clear(sum[n]);
}

// rows . (eight rows of the tile from `at` on, and the next eight, ...): sixteen times eight each.
__device__ __forceinline__ void dot(float (&c)[GROUP][4], const Rows& rows, const float* tile, int at, int lane) {
    const unsigned address = shared_address(tile + (at + lane % 8) * STRIDE + lane / 8 * 4);
#pragma unroll
    for (int j = 0; j < GROUP; j++) clear(c[j]);
#pragma unroll
    for (int k = 0; k < STEPS; k += 2) {
        float b[GROUP][4];
#pragma unroll
        for (int j = 0; j < GROUP; j++) load_blocks(b[j], address + 4 * (8 * j * STRIDE + 8 * k));
#pragma unroll
        for (int j = 0; j < GROUP; j++) multiply(c[j], rows[k][0], rows[k][1], rows[k][2], rows[k][3], b[j][0], b[j][1]);
#pragma unroll
        for (int j = 0; j < GROUP; j++)
            multiply(c[j], rows[k + 1][0], rows[k + 1][1], rows[k + 1][2], rows[k + 1][3], b[j][2], b[j][3]);
    }
}

// The numbers of row `at` that column g of every product of `mix` has.
__device__ __forceinline__ void columns(float (&b)[STEPS], const float* row, int g) {
#pragma unroll
    for (int half = 0; half < STEPS / 4; half++) {
        const int from = STEPS * g + (STEPS == 8 ? 4 * (half ^ (g & 1)) : 0);
        const float4 v = *reinterpret_cast<const float4*>(row + from);
        b[4 * half] = v.x, b[4 * half + 1] = v.y, b[4 * half + 2] = v.z, b[4 * half + 3] = v.w;
    }
}

// sum += weights . (eight rows of the tile from `at` on), for weights as a product left them.
__device__ __forceinline__ void mix(Rows& sum, const float (&w)[4], const float* tile, int at, int g, int t) {
    float b[STEPS], c[STEPS];
    columns(b, tile + (at + 2 * t) * STRIDE, g);
    columns(c, tile + (at + 2 * t + 1) * STRIDE, g);
#pragma unroll
    for (int n = 0; n < STEPS; n++) multiply(sum[n], w[0], w[2], w[1], w[3], b[n], c[n]);
}

// Rows first + g and first + g + 8 of sums that `mix` made, times a factor each.
__device__ __forceinline__ void give(
    float* to, const Rows& sum, int first, int count, int row, int g, int t, float upper = 1, float lower = 1) {
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const int r = first + g + 8 * half;
        const float f = half ? lower : upper;
        if (r < count)
#pragma unroll
            for (int e = 0; e < 2; e++)  // columns 2t and 2t + 1 of every product
#pragma unroll
                for (int n = 0; n < STEPS; n += 4) {
                    const int column = STEPS * (2 * t + e) + (STEPS == 8 ? n ^ (4 * e) : 0), at = 2 * half + e;
                    *reinterpret_cast<float4*>(to + (size_t)r * row + column) =
                        make_float4(f * sum[n][at], f * sum[n + 1][at], f * sum[n + 2][at], f * sum[n + 3][at]);
                }
    }
}

__device__ __forceinline__ bool seen(int query, int key) {
    return key < LENGTH && (!CAUSAL || key <= LENGTH - ASKED + query);
}

__device__ __forceinline__ float of_four(float v, bool largest) {  // lanes that share a row
#pragma unroll
    for (int half = 1; half < 4; half *= 2) {
        const float other = __shfl_xor_sync(FULL, v, half);
        v = largest ? fmaxf(v, other) : v + other;
    }
    return v;
}

extern "C" __global__ void __launch_bounds__(THREADS, 512 / THREADS) heads_forward(
    const float* __restrict__ queries,  // [sequence][ASKED][QUERY_ROW]
#if !TOGETHER
    const float* __restrict__ keys,     // [sequence][LENGTH][KEY_ROW]
#endif
    float* mixed,                       // [sequence][ASKED][HEADS][PART]
    float* normaliser)                  // [sequence][HEADS][ASKED]: log2 sum exp of each query's scores
{
#if TOGETHER
    const float* keys = queries;
#endif
    extern __shared__ float shared[];
    float *k = shared, *v = shared + FILLED(LENGTH) * STRIDE;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    const int sequence = blockIdx.x / HEADS, head = blockIdx.x % HEADS;
    queries += (size_t)sequence * ASKED * QUERY_ROW + head * PART;
    keys += (size_t)sequence * LENGTH * KEY_ROW + head * PART;
    mixed += (size_t)sequence * ASKED * WIDTH + head * PART;
    fetch(k, keys + KEY_AT, LENGTH, KEY_ROW);
    fetch(v, keys + VALUE_AT, LENGTH, KEY_ROW);
    __syncthreads();
    for (int first = 16 * warp; first < ASKED; first += 16 * WARPS) {
        const int last = CAUSAL ? LENGTH - ASKED + first + 15 : LENGTH - 1;  // key that any of these queries sees
        Rows q, sum;
        take(q, queries, first, ASKED, QUERY_ROW, g, t);
        clear(sum);
        float most[2] = {LOWEST, LOWEST}, total[2] = {0, 0};  // so far, in powers of two; of each lane's own keys
        for (int at = 0; at < LENGTH && at <= last; at += AT_ONCE) {
            float c[GROUP][4];
            dot(c, q, k, at, lane);
#pragma unroll
            for (int half = 0; half < 2; half++) {
                float larger = LOWEST;
#pragma unroll
                for (int j = 0; j < GROUP; j++)
#pragma unroll
                    for (int e = 2 * half; e < 2 * half + 2; e++) {
                        c[j][e] = seen(first + g + 8 * half, at + 8 * j + 2 * t + e % 2) ? c[j][e] * (SCALE * LOG2_E) : LOWEST;
                        larger = fmaxf(larger, c[j][e]);
                    }
                // The first key is seen by all, so that this is a number from the first keys on.
                larger = fmaxf(most[half], of_four(larger, true));
                const float shrunk = power_of_two(most[half] - larger);
                most[half] = larger;
                total[half] *= shrunk;
#pragma unroll
                for (int j = 0; j < GROUP; j++)
#pragma unroll
                    for (int e = 2 * half; e < 2 * half + 2; e++) {
                        c[j][e] = rounded(power_of_two(c[j][e] - larger));
                        total[half] += c[j][e];
                    }
#pragma unroll
                for (int n = 0; n < STEPS; n++) sum[n][2 * half] *= shrunk, sum[n][2 * half + 1] *= shrunk;
            }
#pragma unroll
            for (int j = 0; j < GROUP; j++) mix(sum, c[j], v, at + 8 * j, g, t);
        }
        total[0] = of_four(total[0], false), total[1] = of_four(total[1], false);
        give(mixed, sum, first, ASKED, WIDTH, g, t, 1 / total[0], 1 / total[1]);
        if (t == 0)
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const int r = first + g + 8 * half;
                if (r < ASKED) normaliser[(size_t)blockIdx.x * ASKED + r] = most[half] + log2f(total[half]);
            }
    }
}

// What dot products left becomes shares P and slopes P (dP - sum P dP) of the scores.
__device__ __forceinline__ void shares(float& score, int query, int key, const float* normal) {
    score = seen(query, key) ? power_of_two(score * (SCALE * LOG2_E) - normal[query]) : 0.f;
}

extern "C" __global__ void __launch_bounds__(THREADS, 512 / THREADS) heads_backward(
    const float* __restrict__ queries,
#if !TOGETHER
    const float* __restrict__ keys,
#endif
    const float* __restrict__ mixed, const float* __restrict__ normaliser,
    const float* __restrict__ slope,  // of what is mixed: [sequence][ASKED][HEADS][PART]
    float* d_queries                  // as the queries
#if !TOGETHER
    , float* d_keys                   // as the keys
#endif
) {
#if TOGETHER
    const float* keys = queries;
    float* d_keys = d_queries;
#endif
    extern __shared__ float shared[];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    const int role = blockIdx.x % 3, unit = blockIdx.x / 3, sequence = unit / HEADS, head = unit % HEADS;
    const int count = role == 0 ? LENGTH : ASKED;  // rows in shared memory
    float *one = shared, *other = one + FILLED(count) * STRIDE;
    float *normal = other + FILLED(count) * STRIDE, *whole = normal + FILLED(ASKED);
    const size_t of_queries = (size_t)sequence * ASKED * QUERY_ROW + head * PART;
    const size_t of_keys = (size_t)sequence * LENGTH * KEY_ROW + head * PART;
    queries += of_queries, d_queries += of_queries, keys += of_keys, d_keys += of_keys;
    mixed += (size_t)sequence * ASKED * WIDTH + head * PART, slope += (size_t)sequence * ASKED * WIDTH + head * PART;

    if (role == 0) {
        fetch(one, keys + KEY_AT, LENGTH, KEY_ROW);
        fetch(other, keys + VALUE_AT, LENGTH, KEY_ROW);
    } else {
        fetch(one, queries, ASKED, QUERY_ROW);
        fetch(other, slope, ASKED, WIDTH);
    }
    for (int r = warp; r < FILLED(ASKED); r += WARPS) {
        float sum = 0;
        if (r < ASKED && role != 2)
            for (int c = lane; c < PART; c += 32) sum += mixed[(size_t)r * WIDTH + c] * slope[(size_t)r * WIDTH + c];
        sum = warp_sum(sum);
        if (lane == 0) {
            whole[r] = sum;
            normal[r] = r < ASKED ? normaliser[(size_t)unit * ASKED + r] : 0.f;
        }
    }
    __syncthreads();

    // Sixteen queries or keys at a time.
    for (int first = 16 * warp; first < (role == 0 ? ASKED : LENGTH); first += 16 * WARPS) {
        Rows own, sum;
        clear(sum);
        float score[GROUP][4];
        if (role == 0) {  // of queries: dS K
            Rows d;
            take(own, queries, first, ASKED, QUERY_ROW, g, t);
            take(d, slope, first, ASKED, WIDTH, g, t);
            const int a = min(first + g, FILLED(ASKED) - 1), b = min(first + g + 8, FILLED(ASKED) - 1);
            const int last = CAUSAL ? LENGTH - ASKED + first + 15 : LENGTH - 1;
            for (int at = 0; at < LENGTH && at <= last; at += AT_ONCE) {
                float change[GROUP][4];
                dot(score, own, one, at, lane);
                dot(change, d, other, at, lane);
#pragma unroll
                for (int j = 0; j < GROUP; j++) {
#pragma unroll
                    for (int e = 0; e < 4; e++) {
                        const int query = e < 2 ? a : b;
                        shares(score[j][e], query, at + 8 * j + 2 * t + e % 2, normal);
                        score[j][e] = rounded(score[j][e] * (change[j][e] - whole[query]) * SCALE);
                    }
                    mix(sum, score[j], one, at + 8 * j, g, t);
                }
            }
            give(d_queries, sum, first, ASKED, QUERY_ROW, g, t);
            continue;
        }
        take(own, keys + KEY_AT, first, LENGTH, KEY_ROW, g, t);
        // The first query that sees any of these keys, rounded down to a whole group.
        const int begin = CAUSAL ? max(first - (LENGTH - ASKED), 0) / AT_ONCE * AT_ONCE : 0;
        if (role == 1) {  // of keys: dS' Q
            Rows v;
            take(v, keys + VALUE_AT, first, LENGTH, KEY_ROW, g, t);
            for (int at = begin; at < ASKED; at += AT_ONCE) {
                float change[GROUP][4];
                dot(score, own, one, at, lane);
                dot(change, v, other, at, lane);
#pragma unroll
                for (int j = 0; j < GROUP; j++) {
#pragma unroll
                    for (int e = 0; e < 4; e++) {
                        const int query = at + 8 * j + 2 * t + e % 2;
                        shares(score[j][e], query, first + g + e / 2 * 8, normal);
                        score[j][e] = rounded(score[j][e] * (change[j][e] - whole[query]) * SCALE);
                    }
                    mix(sum, score[j], one, at + 8 * j, g, t);
                }
            }
        } else {  // of values: P' dO
            for (int at = begin; at < ASKED; at += AT_ONCE) {
                dot(score, own, one, at, lane);
#pragma unroll
                for (int j = 0; j < GROUP; j++) {
#pragma unroll
                    for (int e = 0; e < 4; e++) {
                        shares(score[j][e], at + 8 * j + 2 * t + e % 2, first + g + e / 2 * 8, normal);
                        score[j][e] = rounded(score[j][e]);
                    }
                    mix(sum, score[j], other, at + 8 * j, g, t);
                }
            }
        }
        give(d_keys + (role == 1 ? KEY_AT : VALUE_AT), sum, first, LENGTH, KEY_ROW, g, t);
    }
}
