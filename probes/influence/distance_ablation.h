/* Distance ablation without retraining: pairs of positions more than r steps apart are masked, in
 * all layers, in one layer, or in some attention heads.
 *   cut.gain(r)      gain of the model when every op between positions obeys r (window.gain:
 *                    attention's name)
 *   cut.layer(l, r)  gain when the ops of layer l obey r, and all other layers are unlimited
 *   cut.head(h, r)   gain when heads h of a layer obey r, and its other heads are unlimited
 * One plan serves them all: r is the input of kernels/graph/distance_limit.c. The reach that a
 * model declares is checked: from r = T - 1 on, the outputs equal those of the unlimited model, bit
 * for bit. */
#ifndef LRA_PROBES_INFLUENCE_DISTANCE_ABLATION_H
#define LRA_PROBES_INFLUENCE_DISTANCE_ABLATION_H

#include "analysis/gain.h"
#include "models/training/loaded_model.h"
#include "probes/shared/steps.h"

/* Outputs under limits, by row: (points, rows). */
typedef struct {
    char *name; /* "layer0", "layer0.head3", "layer0.head0-1"; NULL: all layers */
    lra_sums *row;
} lra_ablation_curve;

typedef struct {
    int64_t n; /* number of evaluated rows of the split, in its order */
    int64_t *index;
    int n_points, n_curves;
    double r[LRA_GAIN_POINTS];
    lra_sums *full;            /* (n) */
    lra_ablation_curve *curve; /* of layers the first is of all */
    bool attention;            /* all limits are those of attention */
    int depth;                 /* L: layers that mix positions one after another */
} lra_ablation;

/* lra_ablation_curves() returns the number of curves for a run's model, lra_ablation_runs() the
 * number of forward passes over the rows of the split that n_curves take. groups: the heads of each
 * layer are put into at most `groups` groups of neighbours; 0: one curve for each layer. Returns 0
 * for heads if no layer has several heads, or if the model has no distance limits. */
int lra_ablation_curves(const lra_train_spec *run, lra_device *dev, int groups);
int64_t lra_ablation_runs(int n_curves, int64_t T);
/* A hint for models without distance limits per layer: the context limit of the complete model, if
 * it is defined; else NULL. */
const char *lra_ablation_hint(const lra_train_spec *run);
/* Measures with the selected weights. sample: rows of the test split, 0: all. LRA_USAGE: undefined
 * for this model. */
int lra_ablation_measure(const lra_train_spec *run, lra_device *dev, int groups, int64_t sample,
                         lra_steps *steps, lra_ablation *out, lra_err *e);
void lra_ablation_free(lra_ablation *c);

#endif
