/* Arguments and sizes of the long convolutions. */
#ifndef LRA_OPS_LONG_CONV_H
#define LRA_OPS_LONG_CONV_H

#include "kernels/cpu/fft.h"
#include "kernels/graph/op.h"

typedef struct {
    bool two_sided, has_length, back; /* back: of x from dy */
    int64_t L;                        /* of the kernel; for its gradient */
} long_conv_args;

/* Values of the kernels that can matter: lags 0 .. T-1, and -1 .. -(T-1). */
static inline int64_t lags_of(int64_t T, int64_t L)
{
    return L < T ? L : T;
}
static inline int64_t behind_of(int64_t T, int64_t L)
{
    return L < T - 1 ? L : T - 1;
}
/* No lag is longer than the zeros behind an example, so that nothing wraps around into it. */
static inline int64_t size_of(int64_t T, int64_t L)
{
    return lra_fft_size(T + lags_of(T, L));
}

/* ---- on a GPU, by rows in memory ------------------------------------------------------------------------ */

/* Bytes that stay in the L2 cache from one step to the next. */
#ifndef LRA_LONG_CONV_BYTES
#define LRA_LONG_CONV_BYTES (24 << 20)
#endif

/* Examples whose rows are transformed together: `arrays` of them stay in the cache, at least one. */
static inline int64_t long_conv_examples(int64_t B, int64_t D, int64_t n, int arrays)
{
    int64_t bytes = arrays * D * lra_fft_row(n) * (int64_t)sizeof(float),
            most = LRA_LONG_CONV_BYTES / bytes;
    return most < 1 ? 1 : most < B ? most : B;
}

#endif
