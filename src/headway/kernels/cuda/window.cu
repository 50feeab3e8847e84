// Attention of an n-gram model: the last token of every window asks, one warp a window, forward and backward.
// Keys and values are the window's rows u_j themselves; the heads' matrices are merged into the products around this.
// Rows are float16, sums float32.
//
// Macros: LENGTH <= 32 (tokens in a window), TOKENS, WIDTH <= 256, HEADS, BATCH (windows), BLOCKS (per member), WARPS,
//         ROWS (of questions, per member), SHARED_ROWS (1: the last token names its row of questions, else the window does),
//         DROPPED (share dropped times 2^32), KEPT (1 / (1 - share)); SHARES_DROPPED, SHARES_KEPT: the same of attention
// stream [member][LENGTH * TOKENS][256] has a row for every token at every position of a window,
// tokens [member][BATCH][LENGTH + 1] the windows, each with the token behind it,
// words [member][BATCH][2] what dropout's bits are made from, or anything without dropout;
// share_words [member][BATCH][2] the same for the attention.

#include "rows.cuh"

// Rows under way at once, as many as registers allow. Sums over the warp take long, and several hide each other's time.
#define FORWARD_ROWS (LENGTH < 4 ? LENGTH : 4)
#define BACKWARD_ROWS (LENGTH < 2 ? LENGTH : 2)

__device__ __forceinline__ float shuffled(float v, int lane) {  // what another lane has; nothing to ask without dropout
#if SHARES_DROPPED
    return __shfl_sync(FULL, v, lane);
#else
    return v;
#endif
}

__device__ __forceinline__ float dot(const float (&a)[8], const float (&b)[8]) {
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 8; i++) sum += a[i] * b[i];
    return warp_sum(sum);
}

// A window, as a lane knows it.
struct Window {
    size_t number;                        // among the windows of all members
    size_t start;                         // the first of the member's rows
    int token;                            // at the position that the lane has, if there is one

    __device__ __forceinline__ Window(const int* tokens, int member, int window, int lane)
        : number((size_t)member * BATCH + window), start((size_t)member * LENGTH * TOKENS) {
        token = lane < LENGTH ? tokens[number * (LENGTH + 1) + lane] : 0;
    }

    // Where the row of the token at a position begins, in the stream and in its gradient.
    __device__ __forceinline__ size_t row(int position) const {
        return (start + position * TOKENS + __shfl_sync(FULL, token, position)) * 256;
    }

    // Where eight bits for each lane say which of its columns dropout keeps at a position.
    __device__ __forceinline__ size_t bits(int position, int lane) const { return (number * LENGTH + position) * 32 + lane; }

    // The row of what the last token asks.
    __device__ __forceinline__ size_t question(int member) const {
#if SHARED_ROWS
        return (size_t)member * ROWS + __shfl_sync(FULL, token, LENGTH - 1);
#else
        return number;
#endif
    }
};

// What dropout makes of the attention of a head to a position: a factor. A lane computes that of its own position.
__device__ __forceinline__ float kept_share(const unsigned* words, size_t number, int head, int position) {
#if SHARES_DROPPED
    const unsigned first = words[2 * number], second = words[2 * number + 1];
    return hashed(hashed((head * LENGTH + position) ^ first) + second) >= SHARES_DROPPED ? SHARES_KEPT : 0;
#else
    return 1;
#endif
}

// Questions that windows share get slopes that are added up in float32.
#if SHARED_ROWS
typedef float Asked;
#else
typedef Half Asked;
#endif

#define FOR_EVERY_WINDOW \
    for (int window = blockIdx.x % BLOCKS * WARPS + threadIdx.x / 32; window < BATCH; window += BLOCKS * WARPS)

// The dropped row of every window's last token.
extern "C" __global__ void __launch_bounds__(32 * WARPS, 1) window_last(
    const Half* __restrict__ stream, const int* __restrict__ tokens, const unsigned* __restrict__ words,
    float* last, Half* last_half)         // [member][BATCH][256]: for the residual, and for products
{
    const int lane = threadIdx.x % 32, member = blockIdx.x / BLOCKS;
    FOR_EVERY_WINDOW {
        const Window own(tokens, member, window, lane);
        float u[8];
        load_row(u, stream + own.row(LENGTH - 1), lane);
        drop(u, kept_columns(words + 2 * own.number, LENGTH - 1, lane));
        store_row(last + own.number * 256, u, lane);
        store_row(last_half + own.number * 256, u, lane);
    }
}

// The same backward.
extern "C" __global__ void __launch_bounds__(32 * WARPS, 1) window_last_backward(
    const float* __restrict__ d_last,     // [member][BATCH][256]
    const int* __restrict__ tokens, const unsigned* __restrict__ words,
    const float*,                         // what the gradient is before: the same memory as below
    float* d_stream)                      // [member][LENGTH * TOKENS][256]
{
    const int lane = threadIdx.x % 32, member = blockIdx.x / BLOCKS;
    FOR_EVERY_WINDOW {
        const Window own(tokens, member, window, lane);
        float d[8];
        load_row(d, d_last + own.number * 256, lane);
        drop(d, kept_columns(words + 2 * own.number, LENGTH - 1, lane));
        add_row(d_stream + own.row(LENGTH - 1), d, lane);
    }
}

// pattern = softmax over j of question . u_j, mixed = sum over j of pattern u_j, in one pass: what was summed so far
// shrinks when a larger score comes.
extern "C" __global__ void __launch_bounds__(32 * WARPS, 1) window_forward(
    const Half* __restrict__ stream, const int* __restrict__ tokens, const unsigned* __restrict__ words,
    const unsigned* __restrict__ share_words,
    const Half* __restrict__ questions,  // [member][ROWS][HEADS][256]
    float* pattern,                       // [member][BATCH][HEADS][LENGTH]
    Half* mixed,                          // [member][BATCH][HEADS][256]
    unsigned char* kept)                  // [member][BATCH][LENGTH][32], with dropout: hashing takes longer than reading
{
    const int lane = threadIdx.x % 32, member = blockIdx.x / BLOCKS;
    FOR_EVERY_WINDOW {
        const Window own(tokens, member, window, lane);
        const size_t asked = own.question(member) * HEADS;
        float q[HEADS][8], mix[HEADS][8] = {}, largest[HEADS], sum[HEADS] = {}, score[HEADS] = {};  // score: the lane's
        float keep[HEADS];  // of the position that the lane has
#pragma unroll
        for (int h = 0; h < HEADS; h++) {
            load_row(q[h], questions + (asked + h) * 256, lane), largest[h] = LOWEST;
            keep[h] = kept_share(share_words, own.number, h, lane);
        }

#pragma unroll 1
        for (int start = 0; start < LENGTH; start += FORWARD_ROWS) {
            float u[FORWARD_ROWS][8] = {};
#pragma unroll
            for (int r = 0; r < FORWARD_ROWS; r++)
                if (start + r < LENGTH) load_row(u[r], stream + own.row(start + r), lane);
#pragma unroll
            for (int r = 0; r < FORWARD_ROWS; r++) {
                const unsigned bits = kept_columns(words + 2 * own.number, start + r, lane);
                drop(u[r], bits);
                if (DROPPED && start + r < LENGTH) kept[own.bits(start + r, lane)] = bits;
            }
#pragma unroll
            for (int h = 0; h < HEADS; h++) {
                float s[FORWARD_ROWS];
#pragma unroll
                for (int r = 0; r < FORWARD_ROWS; r++) s[r] = dot(q[h], u[r]);
                const float before = largest[h];
#pragma unroll
                for (int r = 0; r < FORWARD_ROWS; r++) {
                    if (start + r >= LENGTH) s[r] = LOWEST;
                    if (start + r == lane) score[h] = s[r];
                    largest[h] = fmaxf(largest[h], s[r]);
                }
                const float shrunk = expf(before - largest[h]);
                sum[h] *= shrunk;
#pragma unroll
                for (int i = 0; i < 8; i++) mix[h][i] *= shrunk;
#pragma unroll
                for (int r = 0; r < FORWARD_ROWS; r++) {
                    const float share = expf(s[r] - largest[h]);
                    sum[h] += share;
                    const float mixed_in = share * shuffled(keep[h], start + r);
#pragma unroll
                    for (int i = 0; i < 8; i++) mix[h][i] += mixed_in * u[r][i];
                }
            }
        }
#pragma unroll
        for (int h = 0; h < HEADS; h++) {
            const size_t head = own.number * HEADS + h;
            const float scale = 1 / sum[h];
#pragma unroll
            for (int i = 0; i < 8; i++) mix[h][i] *= scale;
            store_row(mixed + head * 256, mix[h], lane);
            if (lane < LENGTH) pattern[head * LENGTH + lane] = expf(score[h] - largest[h]) * scale;
        }
    }
}

// With d = dloss/dmixed, p = pattern and k = what dropout makes of it: ds_j = p_j (k_j d . u_j - sum over i of p_i k_i d . u_i),
// dquestion = sum over j of ds_j u_j, du_j = sum over heads of p_j k_j d + ds_j question.
extern "C" __global__ void __launch_bounds__(32 * WARPS, 1) window_backward(
    const Half* __restrict__ stream, const int* __restrict__ tokens, const unsigned char* __restrict__ kept,
    const unsigned* __restrict__ share_words,
    const Half* __restrict__ questions, const float* __restrict__ pattern,
    const Half* __restrict__ slope,       // [member][BATCH][HEADS][256]: dloss/dmixed
    const float*,                         // zeros that d_stream starts from
#if SHARED_ROWS
    const float*,                         // zeros that d_questions starts from
#endif
    float* d_stream,                      // [member][LENGTH * TOKENS][256]
    Asked* d_questions)                   // [member][ROWS][HEADS][256]
{
    const int lane = threadIdx.x % 32, member = blockIdx.x / BLOCKS;
    FOR_EVERY_WINDOW {
        const Window own(tokens, member, window, lane);
        const size_t asked = own.question(member) * HEADS;
        float q[HEADS][8], d[HEADS][8], d_q[HEADS][8] = {};
        float p[HEADS], along[HEADS] = {};  // of the position that the lane has: its share, and k d . u
        float d_own[HEADS];
#pragma unroll
        for (int h = 0; h < HEADS; h++) {
            const size_t head = own.number * HEADS + h;
            load_row(d[h], slope + head * 256, lane);
            load_row(q[h], questions + (asked + h) * 256, lane);
            p[h] = lane < LENGTH ? pattern[head * LENGTH + lane] : 0;
        }
        // All d . u first: their mean is of these very numbers, so that the ds add up to zero; d . mixed is of rounded ones.
#pragma unroll 1
        for (int start = 0; start < LENGTH; start += BACKWARD_ROWS) {
            float u[BACKWARD_ROWS][8] = {};
#pragma unroll
            for (int r = 0; r < BACKWARD_ROWS; r++) {
                const int position = min(start + r, LENGTH - 1);
                load_row(u[r], stream + own.row(position), lane);
                drop(u[r], DROPPED ? kept[own.bits(position, lane)] : 0);
            }
#pragma unroll
            for (int r = 0; r < BACKWARD_ROWS; r++)
#pragma unroll
                for (int h = 0; h < HEADS; h++) {
                    const float found = dot(d[h], u[r]);
                    if (start + r == lane) along[h] = found;
                }
        }
#pragma unroll
        for (int h = 0; h < HEADS; h++) {
            const float keep = kept_share(share_words, own.number, h, lane);
            const float own_slope = keep * along[h];
            d_own[h] = p[h] * (own_slope - warp_sum(p[h] * own_slope));
            p[h] *= keep;
        }

#pragma unroll 1
        for (int start = 0; start < LENGTH; start += BACKWARD_ROWS) {
            float u[BACKWARD_ROWS][8] = {}, share[BACKWARD_ROWS][HEADS], d_score[BACKWARD_ROWS][HEADS];
            unsigned kept_here[BACKWARD_ROWS];
            size_t row[BACKWARD_ROWS];
#pragma unroll
            for (int r = 0; r < BACKWARD_ROWS; r++) {
                const int position = min(start + r, LENGTH - 1);
                row[r] = own.row(position), kept_here[r] = DROPPED ? kept[own.bits(position, lane)] : 0;
                load_row(u[r], stream + row[r], lane);
                drop(u[r], kept_here[r]);
#pragma unroll
                for (int h = 0; h < HEADS; h++) {
                    share[r][h] = __shfl_sync(FULL, p[h], start + r);  // 0 beyond the end
                    d_score[r][h] = __shfl_sync(FULL, d_own[h], start + r);
                }
            }
#pragma unroll
            for (int r = 0; r < BACKWARD_ROWS; r++) {
                float d_u[8] = {};
#pragma unroll
                for (int h = 0; h < HEADS; h++)
#pragma unroll
                    for (int i = 0; i < 8; i++) {
                        d_q[h][i] += d_score[r][h] * u[r][i];
                        d_u[i] += share[r][h] * d[h][i] + d_score[r][h] * q[h][i];
                    }
                drop(d_u, kept_here[r]);
                if (start + r < LENGTH) add_row(d_stream + row[r], d_u, lane);
            }
        }
#pragma unroll
        for (int h = 0; h < HEADS; h++) {
#if SHARED_ROWS
            add_row(d_questions + (asked + h) * 256, d_q[h], lane);
#else
            store_row(d_questions + (asked + h) * 256, d_q[h], lane);
#endif
        }
    }
}
