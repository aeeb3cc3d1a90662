/* Tensor-core products of bf16 with float32 sums, and asynchronous copies to shared memory, for
 * compute capability 8.0 and newer (PTX ISA 8.x: cp.async, ldmatrix, mma.sync). The host shim has
 * the same functions in tests/shim/tensor.h. */
#ifndef LRA_CUDA_TENSOR_H
#define LRA_CUDA_TENSOR_H

#include "kernels/cuda/launch.h"

#ifndef LRA_SHIM
LRA_DEV unsigned tc_address(const void *shared)
{
    return (unsigned)__cvta_generic_to_shared(shared);
}

/* Starts copying 16 bytes; both addresses are aligned to 16. Writes zeros if `valid` is false. */
LRA_DEV void tc_copy16(void *shared, const void *global, bool valid)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(tc_address(shared)),
                 "l"(global), "r"(valid ? 16 : 0)
                 : "memory");
}
/* Starts copying 8 bytes; both addresses are aligned to 8. Writes zeros if `valid` is false. */
LRA_DEV void tc_copy8(void *shared, const void *global, bool valid)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(tc_address(shared)),
                 "l"(global), "r"(valid ? 8 : 0)
                 : "memory");
}
/* tc_commit(): closes a group of copies. tc_wait(): waits until at most PENDING groups are in
 * flight. */
LRA_DEV void tc_commit(void)
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int PENDING> LRA_DEV void tc_wait(void)
{
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}

/* Loads four 8 x 8 matrices of 16-bit numbers. Thread 8 j + r of the warp gives the address of row
 * r of matrix j. */
LRA_DEV void tc_load4(uint32_t v[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                 : "r"(tc_address(row))
                 : "memory");
}
/* Like tc_load4(), with each matrix transposed. */
LRA_DEV void tc_load4_t(uint32_t v[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                 : "r"(tc_address(row))
                 : "memory");
}

/* c (16,8) += a (16,16) b (16,8), distributed over the warp as mma.m16n8k16 requires. */
LRA_DEV void tc_mma(float c[4], const uint32_t a[4], uint32_t b0, uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* Rounds two numbers to bf16 and packs them into one word; the first one is in the lower 16
 * bits. */
LRA_DEV uint32_t tc_pair(float first, float second)
{
    uint32_t pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
    return pair;
}
/* 2^x with a relative error below 2^-22, sufficient for weights that are rounded to bf16. */
LRA_DEV float tc_exp2(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
#endif

#endif
