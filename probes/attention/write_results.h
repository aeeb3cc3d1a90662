/* Writes the attention measurements of a run as units of its result file: heads, layers, the
 * model. */
#ifndef LRA_PROBES_ATTENTION_WRITE_RESULTS_H
#define LRA_PROBES_ATTENTION_WRITE_RESULTS_H

#include "probes/attention/heads.h"
#include "probes/attention/maps.h"
#include "reports/results/probe_result.h"

/* By one set of weights. */
typedef struct {
    lra_heads heads;
    lra_maps maps;        /* no heads: inputs are too long */
    lra_profile *rollout; /* NULL: keys of a layer are another sequence */
} lra_attention_measured;

/* key: the run's seed; sampled: only a sample of the examples was evaluated. */
void lra_attention_units(lra_probe_result *r, const lra_attention_measured *best,
                         const lra_attention_measured *initial, uint64_t key, bool sampled);
void lra_attention_measured_free(lra_attention_measured *m);

#endif
