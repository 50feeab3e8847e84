// Products of small blocks on tensor cores, dropout's bits, and additions to memory that others add to at the same time.
// In a fragment g = lane / 4 and t = lane % 4.

#define FULL 0xffffffffu
#define LOWEST __int_as_float(0xff800000)  // minus infinity

// To TF32, to nearest.
__device__ __forceinline__ float rounded(float v) {
    unsigned out;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(out) : "f"(v));
    return __uint_as_float(out);
}

// c += a b with a 16 x 8 (rows g, g + 8, columns t, t + 4: a0 and a1 have column t), b 8 x 8 (rows t, t + 4, column g)
// and c 16 x 8 (rows g, g + 8, columns 2t, 2t + 1).
__device__ __forceinline__ void multiply(float (&c)[4], float a0, float a1, float a2, float a3, float b0, float b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(__float_as_uint(a0)), "r"(__float_as_uint(a1)), "r"(__float_as_uint(a2)), "r"(__float_as_uint(a3)),
          "r"(__float_as_uint(b0)), "r"(__float_as_uint(b1)));
}

// Four 8 x 4 blocks of shared memory; lane l gives the address of row l % 8 of block l / 8 and gets row g, column t of each.
__device__ __forceinline__ void load_blocks(float (&v)[4], unsigned address) {
    unsigned r[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
        : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address) : "memory");
#pragma unroll
    for (int e = 0; e < 4; e++) v[e] = __uint_as_float(r[e]);
}

// Numbers as float16, two in a word, the first in the lower half: they keep the ten bits of mantissa that TF32 leaves,
// in half of the memory. What is too large becomes the largest.
typedef unsigned short Half;

__device__ __forceinline__ unsigned packed(float first, float second) {
    unsigned out;
    asm("cvt.rn.satfinite.f16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(second), "f"(first));
    return out;
}

__device__ __forceinline__ float2 unpacked(unsigned both) {
    float2 out;
    asm("{.reg .f16 a, b; mov.b32 {a, b}, %2; cvt.f32.f16 %0, a; cvt.f32.f16 %1, b;}" : "=f"(out.x), "=f"(out.y) : "r"(both));
    return out;
}

// c += a b with a 16 x 16 (a0 rows g, columns 2t and 2t + 1; a1 rows g + 8; a2 and a3 the same of columns 2t + 8 and
// 2t + 9), b 16 x 8 (b0 rows 2t and 2t + 1, column g; b1 rows 2t + 8 and 2t + 9) and c as above.
__device__ __forceinline__ void multiply_halves(
    float (&c)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

// The same with the first half of the columns of a and rows of b alone.
__device__ __forceinline__ void multiply_halves(float (&c)[4], unsigned a0, unsigned a1, unsigned b0) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a0), "r"(a1), "r"(b0));
}

// Four 8 x 8 blocks of float16 in shared memory; lane l gives the address of row l % 8 of block l / 8 and gets row g,
// columns 2t and 2t + 1 of each, or transposed: rows 2t and 2t + 1, column g.
__device__ __forceinline__ void load_halves(unsigned (&v)[4], unsigned address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
        : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(address) : "memory");
}

__device__ __forceinline__ void load_halves_transposed(unsigned (&v)[4], unsigned address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
        : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(address) : "memory");
}

__device__ __forceinline__ unsigned shared_address(const void* at) { return (unsigned)__cvta_generic_to_shared(at); }

__device__ __forceinline__ float warp_sum(float v) {
#pragma unroll
    for (int half = 16; half > 0; half /= 2) v += __shfl_xor_sync(FULL, v, half);
    return v;
}

__device__ __forceinline__ unsigned hashed(unsigned bits) {  // as in models/dropout.py
    bits = (bits ^ (bits >> 16)) * 0x85EBCA6Bu;
    bits = (bits ^ (bits >> 13)) * 0xC2B2AE35u;
    return bits ^ (bits >> 16);
}

__device__ __forceinline__ void add_two(float* at, float x, float y) {
#if __CUDA_ARCH__ >= 900
    asm volatile("red.global.add.v2.f32 [%0], {%1, %2};" :: "l"(at), "f"(x), "f"(y) : "memory");
#else
    atomicAdd(at, x);
    atomicAdd(at + 1, y);
#endif
}

__device__ __forceinline__ void add_four(float* at, float x, float y, float z, float w) {
#if __CUDA_ARCH__ >= 900
    asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" :: "l"(at), "f"(x), "f"(y), "f"(z), "f"(w) : "memory");
#else
    add_two(at, x, y);
    add_two(at + 2, z, w);
#endif
}
