/* Distance ablation without retraining: pairs of positions more than r tokens apart are masked, in
 * all layers, in one layer, or in some attention heads.
 *   cut.gain(r)      gain if every op that mixes positions has the distance limit r; called
 *                    window.gain if all of these ops are attention
 *   cut.layer(l, r)  gain if only the ops of layer l have the limit r
 *   cut.head(h, r)   gain if only heads h of a layer have the limit r
 * One plan computes all of them, because r is an input of the graph
 * (kernels/graph/distance_limit.c). The reach that a model declares is checked: for r >= T - 1 the
 * outputs equal those of the unlimited model bit for bit. */
#ifndef LRA_PROBES_INFLUENCE_DISTANCE_ABLATION_H
#define LRA_PROBES_INFLUENCE_DISTANCE_ABLATION_H

#include "analysis/gain.h"
#include "models/training/loaded_model.h"
#include "probes/shared/steps.h"

/* One curve: outputs of each evaluated row for each r. row: (n_points, n) */
typedef struct {
    /* "layer0", "layer0.head3", "layer0.head0-1"; NULL: the limit applies to all layers */
    char *name;
    lra_sums *row;
} lra_ablation_curve;

typedef struct {
    int64_t n; /* number of evaluated rows of the split, in its order */
    int64_t *index;
    int n_points, n_curves;
    double r[LRA_GAIN_POINTS];
    lra_sums *full; /* (n) outputs of the unlimited model */
    /* (n_curves); if curves are layers, the first one limits all layers */
    lra_ablation_curve *curve;
    bool attention; /* true if every limited op is attention */
    int depth;      /* L: number of consecutive layers that mix positions */
} lra_ablation;

/* lra_ablation_curves() returns the number of curves for a run's model. lra_ablation_runs() returns
 * the number of forward passes over the evaluated rows for n_curves curves.
 * groups: maximum number of groups of adjacent heads in each layer, one curve per group; 0: one
 * curve per layer. The number of curves is 0 if groups > 0 and no layer has several heads, or if
 * the model has no distance limits. */
int lra_ablation_curves(const lra_train_spec *run, lra_device *dev, int groups);
int64_t lra_ablation_runs(int n_curves, int64_t T);
/* Hint for models without a distance limit per layer: names the context limit of the complete model
 * if that is defined for the run, else NULL. */
const char *lra_ablation_hint(const lra_train_spec *run);
/* Measures with the weights of the best checkpoint. sample: number of rows of the test split, 0 =
 * all. Returns LRA_USAGE if no op of the model mixes positions. */
int lra_ablation_measure(const lra_train_spec *run, lra_device *dev, int groups, int64_t sample,
                         lra_steps *steps, lra_ablation *out, lra_err *e);
void lra_ablation_free(lra_ablation *c);

#endif
