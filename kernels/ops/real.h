/* The arithmetic type `real` and the storage type `elem` of the LRA_TYPE being compiled:
 *   f32: float/float    f64: double/double
 *   bf16: float/bf16 (uint16_t, round to nearest even)
 * Bodies read and write elem arrays through e_load() and e_store() and compute in real; arrays that
 * are `real` by the type rule are real pointers. */
#ifndef LRA_OPS_REAL_H
#define LRA_OPS_REAL_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define LRA_FN static __host__ __device__ __forceinline__
#else
#define LRA_FN static inline
#endif

#if LRA_TYPE_f64
typedef double real;
typedef double elem;
#define R(x)   (x)
#define r_exp  exp
#define r_log  log
#define r_log2 log2
#define r_erf  erf
#define r_tanh tanh
#define r_sqrt sqrt
#define r_sin  sin
#define r_cos  cos
#define r_abs  fabs
#define r_max  fmax
#define r_min  fmin
#else
typedef float real;
#define R(x) (x##f)
#ifdef __CUDACC__
#define r_exp  expf
#define r_erf  erff
#define r_tanh tanhf
#else
#include "kernels/ops/math_body.h"
#define r_exp  math_exp
#define r_tanh math_tanh
#endif
#define r_log  logf
#define r_log2 log2f
#define r_sqrt sqrtf
#define r_sin  sinf
#define r_cos  cosf
#define r_abs  fabsf
#define r_max  fmaxf
#define r_min  fminf
#if LRA_TYPE_bf16
typedef uint16_t elem;
#else
typedef float elem;
#endif
#endif

#if LRA_TYPE_bf16
LRA_FN real e_load(elem x)
{
    uint32_t bits = (uint32_t)x << 16;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}
/* Rounds to bf16. The result is selected while it has 32 bits, because a selection between 16-bit
 * values by a 32-bit condition would prevent vectorisation. */
LRA_FN elem e_store(real x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    uint32_t even = bits + 0x7FFFu + ((bits >> 16) & 1u), quiet = bits | 0x400000u;
    return (elem)(((bits & 0x7FFFFFFFu) > 0x7F800000u ? quiet : even) >> 16); /* NaN stays NaN */
}
#else
LRA_FN real e_load(elem x)
{
    return x;
}
LRA_FN elem e_store(real x)
{
    return x;
}
#endif

/* Minimum number of elements of a loop for which several threads are used. */
enum { LRA_PARALLEL_MIN = 1 << 14 };
/* Rows per block of a reduction over rows: partial sums of blocks are added in block order, so that
 * the result does not depend on the number of threads. */
enum { LRA_ROW_BLOCK = 512 };

#endif
