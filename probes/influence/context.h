/* Context limit of the complete model: the features of position i are computed from the tokens
 * within R of i alone, then pooled and classified as usual.
 *   h_R(i) = encode(x[lo .. hi])(i - lo)
 *   lo = max(0, i - R),  hi = min(n - 1, i + R); causal: hi = i
 * A crop is a shorter input, not padded on its left, with the position ids of the complete input;
 * arrays of the model (kernels, tables) are those of the longest input. If the encoder depends on
 * the position modulo a period (blocks), lo is rounded down to a multiple of it. The head receives
 * the features of all n positions.
 * Known: a model of reach rho gives its own outputs for R >= rho, to rounding, and R = T - 1 is the
 * complete input (tests/probes/context_test.c). */
#ifndef LRA_PROBES_INFLUENCE_CONTEXT_H
#define LRA_PROBES_INFLUENCE_CONTEXT_H

#include "analysis/gain.h"
#include "models/training/loaded_model.h"
#include "probes/shared/sample_rows.h"

typedef struct {
    lra_loaded_model m;
    bool causal;
    int64_t period;  /* of blocks, 0: none */
    int64_t longest; /* T: tokens of the longest example */
    int64_t n, *index;
    lra_sums *full; /* (n) outputs for complete inputs */
    lra_sample_answers answers;
    lra_length_graph *head[LRA_MAX_BUCKETS]; /* by bucket */
    /* Crops: views by ascending radius. */
    int n_views;
    int64_t radius[LRA_GAIN_POINTS];
    lra_length_graph *view[LRA_GAIN_POINTS];
    lra_steps *steps;
} lra_context;

/* Reason why it is undefined for a run; NULL: it is defined. */
const char *lra_context_undefined(const lra_train_spec *run);
/* Radii 0, 1, 2, 4, .. and T - 1, which is the complete input; returns their number. */
int lra_context_axis(int64_t T, double *R);
/* Tokens of a crop. */
int64_t lra_context_width(const lra_train_spec *run, int64_t R);
/* Loads weights and computes the outputs for complete inputs. sample: rows of the test split, 0:
 * all. Close it in every case. */
int lra_context_open(lra_context *c, const lra_train_spec *run, lra_device *dev,
                     lra_weights_kind weights, int64_t sample, lra_steps *steps, lra_err *e);
/* Computes the outputs with context R, below T - 1: (n). */
int lra_context_ask(lra_context *c, int64_t R, lra_sums *row, lra_err *e);
void lra_context_close(lra_context *c);

#endif
