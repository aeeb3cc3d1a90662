/* Distance limits per layer of a model that answers requests (definition: distance_ablation.h):
 * outputs of forward() with the limits r, in every layer and in each layer alone. */
#ifndef LRA_PROBES_INFLUENCE_CUT_OF_MODEL_H
#define LRA_PROBES_INFLUENCE_CUT_OF_MODEL_H

#include "probes/influence/distance_ablation.h"
#include "probes/influence/part.h"

/* Reason why the limits are undefined for a subject, or NULL if they are defined. */
const char *lra_model_cut_undefined(const lra_subject *s);
/* Number of curves: all layers, then each that can be limited alone. */
int lra_model_cut_curves(const lra_subject *s);
/* Measures, as lra_ablation_measure(). Fails if a limit of T - 1 tokens changes an output by more
 * than 1e-4 of the largest. The caller frees *out by lra_ablation_free(), also after a failure. */
int lra_model_cut_measure(const lra_subject *s, int64_t sample, lra_steps *steps, lra_ablation *out,
                          lra_err *e);

#endif
