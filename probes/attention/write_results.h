/* Writes the attention measurements of a run as units of its result file: one per head, one per
 * layer, and one for the model. */
#ifndef LRA_PROBES_ATTENTION_WRITE_RESULTS_H
#define LRA_PROBES_ATTENTION_WRITE_RESULTS_H

#include "probes/attention/heads.h"
#include "probes/attention/maps.h"
#include "reports/results/probe_result.h"

/* Everything that was measured with one set of weights. */
typedef struct {
    lra_heads heads;
    lra_maps maps;        /* maps.n_heads is 0 if inputs are too long */
    lra_profile *rollout; /* NULL if the keys of a layer come from another sequence */
} lra_attention_measured;

/* Adds all units. key: seed of the run, for random numbers; sampled: only a sample of the test
 * split was evaluated. Without `initial` the null values at initialisation and the shifts are
 * missing. Nullable: initial */
void lra_attention_units(lra_probe_result *r, const lra_attention_measured *best,
                         const lra_attention_measured *initial, uint64_t key, bool sampled);
void lra_attention_measured_free(lra_attention_measured *m);

#endif
