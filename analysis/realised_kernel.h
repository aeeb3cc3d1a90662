/* A convolution kernel realised by attention heads: theorem B.1 of "Viewing Transformers Through the
 * Lens of Long Convolutions Layers" (Zimerman and Wolf, ICML 2024).
 * Inputs are T tokens (value x_j, position as a one-hot vector) and one more token of value 0.
 *   query_i = e_i
 *   key_j   = (ln k(i-j)) over i;  last token: (ln (c - sum_j k(i-j))) over i;  c = sum of all k
 *   value_j = c x_j
 * Every row of exponentials then has the sum c, so that head(x)_i = sum_j k(i-j) x_j. The logarithm
 * needs k >= 0, which the paper does not state: one head realises the positive part of a kernel, and
 * the difference of two heads the complete kernel. Zeros have the score of e^-87 of the largest
 * value. The head is evaluated in float32, as in models. */
#ifndef LRA_ANALYSIS_REALISED_KERNEL_H
#define LRA_ANALYSIS_REALISED_KERNEL_H

#include "analysis/kernel_shape.h"

enum { LRA_REALISED_TOKENS = 512 };

typedef struct {
    int64_t T; /* number of tokens: that of the lags, at most LRA_REALISED_TOKENS */
    /* Largest errors over all pairs of positions, relative to the value |k|, or to 1e-6 of the
     * largest value where |k| is smaller. one: one head against the positive part, NAN if that is
     * zero; two: two heads against the kernel. */
    double one, two;
    double negative;                         /* share of the energy in negative values */
    double by_distance[LRA_REALISED_TOKENS]; /* (T) largest error of one head at each distance */
} lra_realised;

/* Realises the lags -(T-1) to T-1 of a kernel with one component. Returns false if the kernel is
 * zero or not finite. */
bool lra_realise(const lra_kernel *k, lra_realised *out);

#endif
