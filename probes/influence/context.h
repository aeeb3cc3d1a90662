/* Context limit of the complete model: the features of position i are computed from the tokens at
 * most R positions away from i alone, then pooled and classified as usual.
 *   h_R(i) = encode(x[lo .. hi])(i - lo)
 *   lo = max(0, i - R),  hi = min(n - 1, i + R); causal models: hi = i
 * A crop is a shorter input without padding on its left. Its tokens keep the position ids of the
 * complete input, and arrays of the model that depend on the length (kernels, tables) have the size
 * of the longest input. If the encoder depends on the position modulo a period (fixed blocks), lo
 * is rounded down to a multiple of the period. The head receives the features of all n positions.
 * Tested (tests/probes/context_test.c): for R >= rho, a model of reach rho gives its original
 * outputs up to rounding; R = T - 1 is the complete input. */
#ifndef LRA_PROBES_INFLUENCE_CONTEXT_H
#define LRA_PROBES_INFLUENCE_CONTEXT_H

#include "analysis/gain.h"
#include "models/training/loaded_model.h"
#include "probes/shared/sample_rows.h"

typedef struct {
    lra_loaded_model m;
    bool causal;
    int64_t period;  /* block length in tokens if the encoder has fixed blocks, else 0 */
    int64_t longest; /* T: tokens of the longest example */
    int64_t n, *index;
    lra_sums *full; /* (n) outputs for complete inputs */
    lra_sample_outputs answers;
    lra_length_graph *head[LRA_MAX_BUCKETS]; /* (buckets) graphs of the head alone */
    /* Graphs of the crops, by ascending radius in tokens. */
    int n_views;
    int64_t radius[LRA_GAIN_POINTS];
    lra_length_graph *view[LRA_GAIN_POINTS];
    lra_steps *steps;
} lra_context;

/* Reason why the context limit is undefined for a run, or NULL if it is defined. */
const char *lra_context_undefined(const lra_train_spec *run);
/* Writes the radii 0, 1, 2, 4, .. and T - 1 (the complete input) to R; returns their number. */
int lra_context_axis(int64_t T, double *R);
/* Maximum number of tokens of a crop with radius R. */
int64_t lra_context_width(const lra_train_spec *run, int64_t R);
/* Loads weights and computes the outputs for complete inputs. sample: number of rows of the test
 * split, 0 = all. The caller calls lra_context_close() also after a failure. */
int lra_context_open(lra_context *c, const lra_train_spec *run, lra_device *dev,
                     lra_weights_kind weights, int64_t sample, lra_steps *steps, lra_err *e);
/* Computes the outputs with radius R < T - 1: row (n). */
int lra_context_evaluate(lra_context *c, int64_t R, lra_sums *row, lra_err *e);
void lra_context_close(lra_context *c);

#endif
