/* Position-to-position Jacobian norms:
 *   J(i,j) = || d h_i / d e_j ||_F
 *   h_i: features of position i, before the pool; e_j: embedding of token j
 *   E_v || v^T dh_i/de_j ||^2 = J(i,j)^2 for v ~ N(0, 1)
 * J is estimated at P positions i of an example, one drawn at random from each of P equal parts,
 * with m random vectors v. The estimate of J^2 has a relative standard error of at most sqrt(2/m).
 * Its root is biased low by 1/8 of its relative variance; lra_jacobian_size() corrects this. Random
 * numbers depend on (seed, example, position) alone. Each example draws its own positions, so that
 * intervals over examples include the sampling of positions. The first and the last position are
 * not always included, because that would give them too much weight.
 * The declared reach of a model is checked: J(i,j) must be 0 beyond it, and for causal models at j
 * > i. Convolutions by Fourier transforms leave rounding errors at j > i; their relative size is
 * reported (`leak`), and larger values are an error. The examples of a batch share transforms, so
 * the rounding error is relative to the largest J of the batch. The two documents of a pair are
 * separate examples. */
#ifndef LRA_PROBES_SHARED_JACOBIAN_H
#define LRA_PROBES_SHARED_JACOBIAN_H

#include "probes/shared/steps.h"
#include "probes/shared/subject.h"

typedef struct {
    int64_t examples; /* number of examples of the test split */
    int64_t positions, draws;
    /* true: evaluate only the position lra_jacobian_middle() instead of `positions` positions */
    bool middle;
    int64_t grid;      /* for `middle`: pixels in a row of the image, 0 if the input is no image */
    const char *layer; /* layer of the features. Nullable: the features before the pool */
    lra_subject_weights weights;
    uint64_t seed;
} lra_jacobian_spec;

/* One row of the Jacobian: J(i,0..T-1)^2 of one example. */
typedef struct {
    int64_t example, i, T;
    /* number of inputs that the model can use: i + 1 for a causal model, else T */
    int64_t allowed;
    bool first, last; /* true for the first and the last evaluated row of an example */
    int64_t draws;
    /* by_draw: (draws, T) estimate of J^2 for each random vector; square: (T) their mean */
    const double *by_draw, *square;
} lra_jacobian_row;

/* J(i,j), estimated from by_draw, with bias correction. */
double lra_jacobian_size(const lra_jacobian_row *row, int64_t j);

typedef struct {
    int64_t examples, rows;
    /* causal models: largest J(i,j) with j > i, relative to the largest J of the rows of its
     * batch */
    double leak;
} lra_jacobian_report;

/* Evaluates the rows of the Jacobian of a sample, and calls each() for every row. The model must
 * answer LRA_ANSWERS_VJP. */
int lra_jacobian_measure(const lra_subject *subject, const lra_jacobian_spec *s, lra_steps *steps,
                         void (*each)(void *context, const lra_jacobian_row *row), void *context,
                         lra_jacobian_report *out, lra_err *e);
/* Position number p of n in an example of T tokens: drawn at random from part p of n equal parts.
 * If T <= n, every position is used and the result is p. */
int64_t lra_jacobian_position(uint64_t seed, int64_t example, int64_t n, int64_t p, int64_t T);

/* Middle position of T tokens; for an image, the pixel in the middle of its rows and columns. */
int64_t lra_jacobian_middle(int64_t T, int64_t grid);

#endif
