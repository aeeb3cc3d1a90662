/* Arguments and sizes of the long convolutions. */
#ifndef LRA_OPS_LONGCONV_LONG_CONV_H
#define LRA_OPS_LONGCONV_LONG_CONV_H

#include "kernels/cpu/fft.h"
#include "kernels/graph/op.h"

typedef struct {
    bool two_sided, has_length, back; /* back: computes dx from dy */
    int64_t L;                        /* of the kernel; for its gradient */
} long_conv_args;

/* lra_long_conv() in a graph without a distance limit. */
lra_tensor *lra_long_conv_whole(lra_tensor *x, lra_tensor *kernel, lra_tensor *length);

/* Number of values of the kernels with an effect: lags 0 .. T-1, and -1 .. -(T-1). */
static inline int64_t lags_of(int64_t T, int64_t L)
{
    return L < T ? L : T;
}
static inline int64_t behind_of(int64_t T, int64_t L)
{
    return L < T - 1 ? L : T - 1;
}
/* Size of the transform: no lag is longer than the zeros after an example, so that nothing wraps
 * around into it. */
static inline int64_t size_of(int64_t T, int64_t L)
{
    return lra_fft_size(T + lags_of(T, L));
}

/* ---- on a GPU -------------------------------------------------------------------------------- */

/* Bytes that stay in the L2 cache from one step to the next. */
#ifndef LRA_LONG_CONV_BYTES
#define LRA_LONG_CONV_BYTES (24 << 20)
#endif

/* Points of a transform within shared memory; 0: too few or too many, rows in memory are
 * transformed instead. */
static inline int64_t long_conv_points(int64_t T, int64_t L)
{
    int64_t least = T + lags_of(T, L), n = 1024;
    while (n < least) n *= 2;
    return least <= 256 || n > 8192 ? 0 : n;
}

/* For transforms in shared memory: number of pairs of examples per launch, chosen so that their
 * rows stay in the L2 cache; and number of parts of them, whose sums are added afterwards. */
static inline int64_t long_conv_pairs(int64_t B, int64_t D, int64_t T, int arrays)
{
    int64_t bytes = arrays * 2 * D * T * (int64_t)sizeof(float), most = LRA_LONG_CONV_BYTES / bytes;
    int64_t pairs = (B + 1) / 2;
    return most < 1 ? 1 : most < pairs ? most : pairs;
}
static inline int64_t long_conv_parts(int64_t B, int64_t D)
{
    int64_t pairs = (B + 1) / 2, wanted = 512 / D; /* blocks that keep a large GPU busy */
    return wanted < 1 ? 1 : wanted < pairs ? wanted : pairs;
}
/* Bytes of one spectrum for each channel. */
static inline int64_t long_conv_spectra(int64_t D, int64_t n)
{
    return D * n * 2 * (int64_t)sizeof(float);
}

/* Number of examples whose rows are transformed together: `arrays` of them stay in the cache, at
 * least one. */
static inline int64_t long_conv_examples(int64_t B, int64_t D, int64_t n, int arrays)
{
    int64_t bytes = arrays * D * lra_fft_row(n) * (int64_t)sizeof(float),
            most = LRA_LONG_CONV_BYTES / bytes;
    return most < 1 ? 1 : most < B ? most : B;
}

#endif
