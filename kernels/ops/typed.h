/* Access to arrays of elem or real, depending on the type of the tensor. The two differ only if
 * LRA_TYPE is bf16. In other compilations the type is ignored, and the loops compile to plain
 * arrays. */
#ifndef LRA_OPS_TYPED_H
#define LRA_OPS_TYPED_H

#include "kernels/graph/op.h"
#include "kernels/ops/real.h"

/* Type of elem arrays in this compilation. */
#define LRA_ELEM (LRA_TYPE_bf16 ? LRA_BF16 : LRA_F32)

LRA_FN real t_load(const void *x, lra_type t, int64_t i)
{
#if LRA_TYPE_bf16
    if (t != LRA_BF16) return ((const real *)x)[i];
#endif
    (void)t;
    return e_load(((const elem *)x)[i]);
}

LRA_FN void t_store(void *y, lra_type t, int64_t i, real v)
{
#if LRA_TYPE_bf16
    if (t != LRA_BF16) {
        ((real *)y)[i] = v;
        return;
    }
#endif
    (void)t;
    ((elem *)y)[i] = e_store(v);
}

/* LRA_BY_TYPE(f, t, ...) calls f(t, ...) with t as a compile-time constant, so that the loops of f,
 * an LRA_ROW_FN, are compiled once for each type. A test of the type inside the loops would prevent
 * vectorised sums. */
#define LRA_ROW_FN static inline __attribute__((always_inline))
#if LRA_TYPE_bf16
#define LRA_BY_TYPE(f, t, ...)                                                                     \
    ((t) == LRA_BF16 ? f(LRA_BF16, __VA_ARGS__) : f(LRA_F32, __VA_ARGS__))
#else
#define LRA_BY_TYPE(f, t, ...) f(t, __VA_ARGS__)
#endif

/* t_size(): bytes of an element of type t. t_at(), t_to(): pointers to element i of an array of
 * this type. */
LRA_FN int64_t t_size(lra_type t)
{
    return LRA_TYPE_bf16 && t != LRA_BF16 ? (int64_t)sizeof(real) : (int64_t)sizeof(elem);
}
LRA_FN const void *t_at(const void *x, lra_type t, int64_t i)
{
    return (const char *)x + i * t_size(t);
}
LRA_FN void *t_to(void *y, lra_type t, int64_t i)
{
    return (char *)y + i * t_size(t);
}

/* LRA_EACH(i) statement: parallel loop over i in [0,n), where n is a variable of the body.
 * LRA_PIECE: elements per piece of work of an elementwise loop. It is fixed, so that vectors and
 * remainders cover the same elements for any number of threads. */
enum { LRA_PIECE = 4096 };
#define LRA_PRAGMA(...) _Pragma(#__VA_ARGS__)
#define LRA_EACH(i)                                                                                \
    LRA_PRAGMA(omp parallel for num_threads(c->n_threads) if (n >= LRA_PARALLEL_MIN)               \
               schedule(static, LRA_PIECE))                                                        \
    for (int64_t i = 0; i < n; i++)

#endif
