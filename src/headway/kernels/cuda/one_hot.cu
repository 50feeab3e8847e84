// Loss and gradient of the minimal model, one warp per sequence. README.md beside this file has the formulas.
//
// Compiled for one shape by NVRTC; these come in as macros:
//   TOKENS d <= 64, LENGTH L <= 32, QUERIES T <= 32, HEADS H, BATCH B, SPLITS (blocks per member), WARPS (per block),
//   EXACT (1: sums do not depend on the order of their terms)
// Names: x token, j key position, q query (position L - T + q), i output coordinate, h head, lane in the warp.
// The limit is latency: a multiprocessor must hold as many warps as it can, so a warp keeps only 10 KB of its sequence.

#define WIDTH (TOKENS + LENGTH)
#define ROWS (TOKENS + QUERIES)           // rows of the score matrices that queries can use
#define OFFSET (LENGTH - QUERIES)         // position of the first query
#define QUADS ((QUERIES + 3) / 4)         // queries in fours, for 16-byte loads
#define PADDED (4 * QUADS)
#define FOURS ((TOKENS + 3) / 4)          // output coordinates in fours
#define COLUMNS (4 * FOURS)
#define GROUPS ((TOKENS + 31) / 32)       // a lane has the coordinates lane, lane + 32
#define KEY_GROUPS (32 / QUADS)
#define KEYS ((LENGTH + KEY_GROUPS - 1) / KEY_GROUPS)  // keys of a lane in part 6
#define FULL 0xffffffffu
#define LOWEST __int_as_float(0xff800000)  // minus infinity

// Terms are added in any order, so that float32 sums of equal terms differ in their last bits, and with them the gradients
// of heads that are alike. In whole numbers of 2^-48 the order does not matter.
#if EXACT
typedef long long Sum;
__device__ __forceinline__ void add(Sum* at, float v) {
    atomicAdd(reinterpret_cast<unsigned long long*>(at), (unsigned long long)__float2ll_rn(v * 281474976710656.0f));
}
#else
typedef float Sum;
__device__ __forceinline__ void add(Sum* at, float v) { atomicAdd(at, v); }
#endif

struct __align__(16) Workspace {          // what a warp keeps of its sequence, in shared memory
    float pattern[HEADS * LENGTH * PADDED];  // P[h][j][q]
    float slope[COLUMNS * PADDED];           // logits, then dloss/dlogits [i][q]
    int tokens[(LENGTH + 1 + 3) / 4 * 4];
};

__device__ __forceinline__ float4 four(const float* at) { return *reinterpret_cast<const float4*>(at); }
__device__ __forceinline__ void put(float* at, float4 v) { *reinterpret_cast<float4*>(at) = v; }

extern "C" __global__ void __launch_bounds__(32 * WARPS, 1) one_hot_gradient(
    const int* __restrict__ sequences,    // [member][B][L + 1]
    const float* __restrict__ weights,    // [member][B], already divided by T and by their sum
    const float* __restrict__ scores,     // [member][H][E][E], already scaled
    const float* __restrict__ values,     // [member][H][L][d][COLUMNS]: U, by key position and token
    const Sum*, const Sum*,               // zeros that the two gradients start from: the same memory as below
    Sum* score_gradient,                  // [member][H][T][d][E]: by query, its token, and key coordinate
    Sum* value_gradient,                  // [member][H][L][d][COLUMNS]
    float* losses)                        // [member][SPLITS * WARPS]
{
    extern __shared__ float shared[];
    float* table = shared;                // [H][ROWS][E]
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int member = blockIdx.x / SPLITS, split = blockIdx.x % SPLITS;
    Workspace& own = *(reinterpret_cast<Workspace*>(shared + (HEADS * ROWS * WIDTH + 3) / 4 * 4) + warp);

    for (int n = threadIdx.x; n < HEADS * ROWS * WIDTH; n += 32 * WARPS) {
        int head = n / (ROWS * WIDTH), row = n / WIDTH % ROWS, column = n % WIDTH;
        int source = row < TOKENS ? row : row + OFFSET;
        table[n] = scores[((size_t)member * HEADS + head) * WIDTH * WIDTH + source * WIDTH + column];
    }
    for (int n = lane; n < HEADS * LENGTH * PADDED; n += 32) own.pattern[n] = 0;  // queries that only pad stay zero
    __syncthreads();

    const float* my_values = values + (size_t)member * HEADS * LENGTH * TOKENS * COLUMNS;
    Sum* my_score_gradient = score_gradient + (size_t)member * HEADS * QUERIES * TOKENS * WIDTH;
    Sum* my_value_gradient = value_gradient + (size_t)member * HEADS * LENGTH * TOKENS * COLUMNS;
    float total = 0;

    for (int sample = split * WARPS + warp; sample < BATCH; sample += SPLITS * WARPS) {
        const size_t place = (size_t)member * BATCH + sample;
        const float weight = weights[place];
        for (int n = lane; n <= LENGTH; n += 32) own.tokens[n] = sequences[place * (LENGTH + 1) + n];
        __syncwarp();

        // 1. Scores by look-up and their softmax: a lane has a whole row (h, q).
#pragma unroll 1
        for (int r = lane; r < HEADS * QUERIES; r += 32) {
            int head = r / QUERIES, q = r % QUERIES;
            const float* by_token = table + (head * ROWS + own.tokens[OFFSET + q]) * WIDTH;
            const float* by_place = table + (head * ROWS + TOKENS + q) * WIDTH;
            float s[LENGTH], largest = LOWEST, sum = 0;
#pragma unroll
            for (int j = 0; j < LENGTH; j++) {
                int x = own.tokens[j];
                s[j] = by_token[x] + by_token[TOKENS + j] + (by_place[x] + by_place[TOKENS + j]);
                if (j > OFFSET + q) s[j] = LOWEST;
                largest = fmaxf(largest, s[j]);
            }
#pragma unroll
            for (int j = 0; j < LENGTH; j++) sum += s[j] = expf(s[j] - largest);
            float scale = 1 / sum;
#pragma unroll
            for (int j = 0; j < LENGTH; j++) own.pattern[(head * LENGTH + j) * PADDED + q] = s[j] * scale;
        }
        __syncwarp();

        // 2. logits[q][i] = sum over h, j of P U: a lane has its coordinates i for all queries.
        float logits[GROUPS][PADDED] = {};
#pragma unroll 1
        for (int head = 0; head < HEADS; head++) {
            const float* pattern = own.pattern + head * LENGTH * PADDED;
            const float* rows = my_values + (size_t)head * LENGTH * TOKENS * COLUMNS;
#pragma unroll
            for (int j = 0; j < LENGTH; j++) {
                float u[GROUPS];
#pragma unroll
                for (int g = 0; g < GROUPS; g++) {
                    const int i = lane + 32 * g;
                    u[g] = i < COLUMNS ? __ldg(rows + (j * TOKENS + own.tokens[j]) * COLUMNS + i) : 0;
                }
#pragma unroll
                for (int quad = 0; quad < QUADS; quad++)
                    if (j <= OFFSET + 4 * quad + 3) {  // else no query of these four sees the key
                        const float4 p = four(pattern + j * PADDED + 4 * quad);
#pragma unroll
                        for (int g = 0; g < GROUPS; g++) {
                            logits[g][4 * quad] += p.x * u[g];
                            logits[g][4 * quad + 1] += p.y * u[g];
                            logits[g][4 * quad + 2] += p.z * u[g];
                            logits[g][4 * quad + 3] += p.w * u[g];
                        }
                    }
            }
        }
#pragma unroll
        for (int g = 0; g < GROUPS; g++)
            if (lane + 32 * g < COLUMNS)
#pragma unroll
                for (int quad = 0; quad < QUADS; quad++)
                    put(own.slope + (lane + 32 * g) * PADDED + 4 * quad,
                        make_float4(logits[g][4 * quad], logits[g][4 * quad + 1], logits[g][4 * quad + 2], logits[g][4 * quad + 3]));
        __syncwarp();

        // 3. Cross-entropy, and its slope in place of the logits: a lane has a query.
        if (lane < PADDED) {
            float* of_query = own.slope + lane;
            const int target = lane < QUERIES ? own.tokens[OFFSET + lane + 1] : 0;
            const float share = lane < QUERIES ? weight : 0, found = of_query[target * PADDED];
            float largest = LOWEST, sum = 0;
#pragma unroll 10
            for (int i = 0; i < TOKENS; i++) largest = fmaxf(largest, of_query[i * PADDED]);
#pragma unroll 10
            for (int i = 0; i < TOKENS; i++) {
                float e = expf(of_query[i * PADDED] - largest);
                of_query[i * PADDED] = e;
                sum += e;
            }
            const float scale = share / sum;
#pragma unroll 10
            for (int i = 0; i < TOKENS; i++) of_query[i * PADDED] = of_query[i * PADDED] * scale - (i == target ? share : 0);
            for (int i = TOKENS; i < COLUMNS; i++) of_query[i * PADDED] = 0;
            if (lane < QUERIES) total += share * (logf(sum) + largest - found);
        }
        __syncwarp();
#pragma unroll
        for (int g = 0; g < GROUPS; g++)
#pragma unroll
            for (int quad = 0; quad < QUADS; quad++) {
                const float4 d = four(own.slope + min(lane + 32 * g, COLUMNS - 1) * PADDED + 4 * quad);
                logits[g][4 * quad] = d.x, logits[g][4 * quad + 1] = d.y, logits[g][4 * quad + 2] = d.z, logits[g][4 * quad + 3] = d.w;
            }

#pragma unroll 1
        for (int head = 0; head < HEADS; head++) {
            float* pattern = own.pattern + head * LENGTH * PADDED;
            const float* rows = my_values + (size_t)head * LENGTH * TOKENS * COLUMNS;
            Sum* gradient_rows = my_value_gradient + (size_t)head * LENGTH * TOKENS * COLUMNS;

            // 4. dU[j][i] = sum over q of P slope, added to the row of (j, x_j).
#pragma unroll
            for (int j = 0; j < LENGTH; j++) {
                float sum[GROUPS][2] = {};
#pragma unroll
                for (int quad = 0; quad < QUADS; quad++)
                    if (j <= OFFSET + 4 * quad + 3) {
                        const float4 p = four(pattern + j * PADDED + 4 * quad);
#pragma unroll
                        for (int g = 0; g < GROUPS; g++) {
                            sum[g][0] += p.x * logits[g][4 * quad] + p.y * logits[g][4 * quad + 1];
                            sum[g][1] += p.z * logits[g][4 * quad + 2] + p.w * logits[g][4 * quad + 3];
                        }
                    }
                Sum* row = gradient_rows + (j * TOKENS + own.tokens[j]) * COLUMNS;
#pragma unroll
                for (int g = 0; g < GROUPS; g++)
                    if (lane + 32 * g < TOKENS) add(row + lane + 32 * g, sum[g][0] + sum[g][1]);
            }

            // 5. dP[j][q] = U . slope, dS = P (dP - sum over j of P dP): a lane has KEYS keys and four queries.
            const int group = lane / QUADS, quad = lane % QUADS;
            const bool working = lane < KEY_GROUPS * QUADS;
            float change[KEYS][4] = {}, mean[4] = {};
            int key[KEYS];
            const float* row_of[KEYS];
#pragma unroll
            for (int k = 0; k < KEYS; k++) {
                key[k] = min(group * KEYS + k, LENGTH - 1);
                row_of[k] = rows + (key[k] * TOKENS + own.tokens[key[k]]) * COLUMNS;
            }
#pragma unroll 1
            for (int i = 0; i < COLUMNS; i += 4) {
                float4 u[KEYS];
#pragma unroll
                for (int k = 0; k < KEYS; k++) u[k] = __ldg(reinterpret_cast<const float4*>(row_of[k] + i));
#pragma unroll
                for (int e = 0; e < 4; e++) {
                    const float4 d = four(own.slope + (i + e) * PADDED + 4 * quad);
#pragma unroll
                    for (int k = 0; k < KEYS; k++) {
                        const float v = e == 0 ? u[k].x : e == 1 ? u[k].y : e == 2 ? u[k].z : u[k].w;
                        change[k][0] += v * d.x;
                        change[k][1] += v * d.y;
                        change[k][2] += v * d.z;
                        change[k][3] += v * d.w;
                    }
                }
            }
            float4 p[KEYS];
#pragma unroll
            for (int k = 0; k < KEYS; k++) {
                p[k] = four(pattern + key[k] * PADDED + 4 * quad);
                if (group * KEYS + k >= LENGTH || !working) p[k] = make_float4(0, 0, 0, 0);
                mean[0] += p[k].x * change[k][0];
                mean[1] += p[k].y * change[k][1];
                mean[2] += p[k].z * change[k][2];
                mean[3] += p[k].w * change[k][3];
            }
#pragma unroll
            for (int e = 0; e < 4; e++) {
                float sum = 0;
#pragma unroll
                for (int other = 0; other < KEY_GROUPS; other++) sum += __shfl_sync(FULL, mean[e], other * QUADS + quad);
                mean[e] = sum;
            }
            __syncwarp();
#pragma unroll
            for (int k = 0; k < KEYS; k++)
                if (working && group * KEYS + k < LENGTH)
                    put(pattern + key[k] * PADDED + 4 * quad, make_float4(
                        p[k].x * (change[k][0] - mean[0]), p[k].y * (change[k][1] - mean[1]),
                        p[k].z * (change[k][2] - mean[2]), p[k].w * (change[k][3] - mean[3])));
            __syncwarp();

            // 6. dS added to the row of (q, x_q), by the key's token and by its place: a lane has a key.
            if (lane < LENGTH) {
                const int x = own.tokens[lane];
                Sum* rows_of_head = my_score_gradient + (size_t)head * QUERIES * TOKENS * WIDTH;
#pragma unroll
                for (int quad = 0; quad < QUADS; quad++) {
                    const float4 d = four(pattern + lane * PADDED + 4 * quad);
                    const float of_query[4] = {d.x, d.y, d.z, d.w};
#pragma unroll
                    for (int e = 0; e < 4; e++) {
                        const int q = 4 * quad + e;
                        if (q < QUERIES && lane <= OFFSET + q) {
                            Sum* row = rows_of_head + (q * TOKENS + own.tokens[OFFSET + q]) * WIDTH;
                            add(row + x, of_query[e]);
                            add(row + TOKENS + lane, of_query[e]);
                        }
                    }
                }
            }
            __syncwarp();
        }
    }
#pragma unroll
    for (int half = 16; half > 0; half /= 2) total += __shfl_xor_sync(FULL, total, half);
    if (lane == 0) losses[(member * SPLITS + split) * WARPS + warp] = total;
}

#ifdef COUNT
// Whole numbers of 2^-48 as float32; COUNT of them.
extern "C" __global__ void in_float32(const long long* __restrict__ sums, float* numbers) {
    for (size_t n = (size_t)blockIdx.x * blockDim.x + threadIdx.x; n < COUNT; n += (size_t)gridDim.x * blockDim.x)
        numbers[n] = (float)((double)sums[n] * (1.0 / 281474976710656.0));
}
#endif
