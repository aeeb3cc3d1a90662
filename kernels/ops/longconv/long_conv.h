/* Arguments and sizes of the long convolutions. */
#ifndef LRA_OPS_LONGCONV_LONG_CONV_H
#define LRA_OPS_LONGCONV_LONG_CONV_H

#include "kernels/cpu/fft.h"
#include "kernels/graph/op.h"

typedef struct {
    bool two_sided, has_length, back; /* back: the op computes dx from dy */
    int64_t L; /* length of the kernel; set for the gradient of the kernel only */
} long_conv_args;

/* Long convolution without the distance limit of the graph. */
lra_tensor *lra_long_conv_unlimited(lra_tensor *x, lra_tensor *kernel, lra_tensor *length);

/* Number of kernel values that have an effect at T tokens: lags 0 .. T-1 (lags_of), lags -1 ..
 * -(T-1) (back_lags_of). */
static inline int64_t lags_of(int64_t T, int64_t L)
{
    return L < T ? L : T;
}
static inline int64_t back_lags_of(int64_t T, int64_t L)
{
    return L < T - 1 ? L : T - 1;
}
/* Size of the transform: at least T + lags, so that the zeros after an example are as many as the
 * lags and no lag wraps around into it. */
static inline int64_t size_of(int64_t T, int64_t L)
{
    return lra_fft_size(T + lags_of(T, L));
}

/* ---- on a GPU -------------------------------------------------------------------------------- */

/* Bytes of intermediate results that stay in the L2 cache between two kernels. */
#ifndef LRA_LONG_CONV_BYTES
#define LRA_LONG_CONV_BYTES (24 << 20)
#endif

/* Points of a transform in shared memory; 0: the sequence is too short or too long, and rows in
 * global memory are transformed instead. */
static inline int64_t long_conv_points(int64_t T, int64_t L)
{
    int64_t least = T + lags_of(T, L), n = 1024;
    while (n < least) n *= 2;
    return least <= 256 || n > 8192 ? 0 : n;
}

/* For transforms in shared memory. long_conv_pairs(): pairs of examples per launch, such that their
 * rows stay in the L2 cache. long_conv_parts(): parts into which the pairs are divided for the
 * gradient of the kernel; the sums of the parts are added afterwards. */
static inline int64_t long_conv_pairs(int64_t B, int64_t D, int64_t T, int arrays)
{
    int64_t bytes = arrays * 2 * D * T * (int64_t)sizeof(float), most = LRA_LONG_CONV_BYTES / bytes;
    int64_t pairs = (B + 1) / 2;
    return most < 1 ? 1 : most < pairs ? most : pairs;
}
static inline int64_t long_conv_parts(int64_t B, int64_t D)
{
    int64_t pairs = (B + 1) / 2, wanted = 512 / D; /* 512 blocks keep a large GPU busy */
    return wanted < 1 ? 1 : wanted < pairs ? wanted : pairs;
}
/* Bytes of one spectrum per channel, for D channels. */
static inline int64_t long_conv_spectra(int64_t D, int64_t n)
{
    return D * n * 2 * (int64_t)sizeof(float);
}

/* Number of examples whose rows are transformed together: as many as fit in the L2 cache with
 * `arrays` rows each, at least one. */
static inline int64_t long_conv_examples(int64_t B, int64_t D, int64_t n, int arrays)
{
    int64_t bytes = arrays * D * lra_fft_row(n) * (int64_t)sizeof(float),
            most = LRA_LONG_CONV_BYTES / bytes;
    return most < 1 ? 1 : most < B ? most : B;
}

#endif
