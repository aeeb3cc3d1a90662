/* Position-to-position Jacobian norms:
 *   J(i,j) = || d h_i / d e_j ||_F
 *   h_i: features of position i, before the pool; e_j: embedding of token j
 *   E_v || v^T dh_i/de_j ||^2 = J(i,j)^2 for v ~ N(0, 1)
 * At P positions i of an example, one drawn from each of P equal parts, with m draws of v: the
 * estimate of J^2 has a relative standard error of at most sqrt(2/m); its root is biased low by 1/8
 * of its relative variance, which is corrected (lra_jacobian_size). Draws depend on (seed, example,
 * position) alone. Examples draw their positions independently, so that intervals over examples
 * include the sampling of positions; the ends are not forced in, which would count them too often.
 * The declared reach of a model is checked: beyond it, and for causal models after i, every J(i,j)
 * is 0. Convolutions by Fourier transforms leave rounding errors after i, whose share is reported
 * (`leak`); anything larger fails. Examples of a batch share transforms, so that the rounding error
 * is that of the largest of them. Documents of a pair are separate examples. */
#ifndef LRA_PROBES_SHARED_JACOBIAN_H
#define LRA_PROBES_SHARED_JACOBIAN_H

#include "models/training/loaded_model.h"
#include "probes/shared/steps.h"

typedef struct {
    int64_t examples; /* of the test split */
    int64_t positions, draws;
    bool middle;  /* only lra_jacobian_middle(), instead of `positions` */
    int64_t grid; /* for `middle`: pixels in a row of the image, 0: none */
    lra_weights_kind weights;
    uint64_t seed;
} lra_jacobian_spec;

/* One row: J(i,0..T-1)^2, its estimate by each draw: (draws, T). */
typedef struct {
    int64_t example, i, T;
    int64_t allowed;  /* number of inputs that the model may use: T, of a causal one i + 1 */
    bool first, last; /* of its example */
    int64_t draws;
    const double *by_draw, *square; /* square: their mean, (T) */
} lra_jacobian_row;

/* J(i,j), from its squares by draws. */
double lra_jacobian_size(const lra_jacobian_row *row, int64_t j);

typedef struct {
    int64_t examples, rows;
    /* largest J(i,j) of a causal model with j > i, relative to the largest of the rows of its
     * batch */
    double leak;
} lra_jacobian_report;

int lra_jacobian_measure(const lra_train_spec *run, lra_device *dev, const lra_jacobian_spec *s,
                         lra_steps *steps, void (*each)(void *context, const lra_jacobian_row *row),
                         void *context, lra_jacobian_report *out, lra_err *e);
/* Position number p of n in an example of T: one drawn from each of n equal parts; every position
 * if T <= n. */
int64_t lra_jacobian_position(uint64_t seed, int64_t example, int64_t n, int64_t p, int64_t T);

/* The middle of T steps; of an image the pixel in the middle of its rows and columns. */
int64_t lra_jacobian_middle(int64_t T, int64_t grid);

#endif
