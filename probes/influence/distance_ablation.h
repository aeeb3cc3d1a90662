/* The intervention without retraining: what stands more than r steps apart does not meet, in all
 * layers, in one, or in some heads of attention alone.
 *   cut.gain(r)      gain of the whole model when every op between positions obeys r (window.gain:
 *                    attention's name)
 *   cut.layer(l, r)  the same when the ops of layer l obey, and the others are whole
 *   cut.head(h, r)   the same when heads h of a layer obey, and its others are whole
 * One plan serves them all: r is the input of kernels/graph/distance_limit.c.  What a model
 * declares is checked on the way: from r = T - 1 on the answers are those of the whole model, bit for bit. */
#ifndef LRA_PROBES_INFLUENCE_DISTANCE_ABLATION_H
#define LRA_PROBES_INFLUENCE_DISTANCE_ABLATION_H

#include "analysis/gain.h"
#include "models/training/loaded_model.h"
#include "probes/shared/steps.h"

/* Rows answered under limits: (points, rows). */
typedef struct {
    char *name; /* "layer0", "layer0.head3", "layer0.head0-1"; NULL: all layers */
    lra_sums *row;
} lra_ablation_curve;

typedef struct {
    int64_t n; /* rows of the split that were asked, in its order */
    int64_t *index;
    int n_points, n_curves;
    double r[LRA_GAIN_POINTS];
    lra_sums *full;            /* (n) */
    lra_ablation_curve *curve; /* of layers the first is of all */
    bool attention;            /* all limits are those of attention */
    int depth;                 /* L: layers that mix positions one after another */
} lra_ablation;

/* Curves of a run's model, and runs of the split's rows that so many take.  groups: at most so many
 * of the heads of each layer, neighbours together; 0: layers instead.  Of heads 0: no layer has
 * several, or the model knows no limits. */
int lra_ablation_curves(const lra_train_spec *run, lra_device *dev, int groups);
int64_t lra_ablation_runs(int n_curves, int64_t T);
/* By the selected weights.  sample: rows of the test split, 0: all.  LRA_USAGE: undefined for this
 * model. */
int lra_ablation_measure(const lra_train_spec *run, lra_device *dev, int groups, int64_t sample,
                         lra_steps *steps, lra_ablation *out, lra_err *e);
void lra_ablation_free(lra_ablation *c);

#endif
