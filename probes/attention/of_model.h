/* Attention measurements of a model that answers requests, by the code that measures the built-in
 * models: heads.h, maps.h, rollout.h. Values of keys are unknown, so there is no value.*, and there
 * is no positions.*. All rows of all maps are evaluated. */
#ifndef LRA_PROBES_ATTENTION_OF_MODEL_H
#define LRA_PROBES_ATTENTION_OF_MODEL_H

#include "probes/attention/write_results.h"
#include "probes/shared/map_block.h"

/* Each function makes one kind of measurement. sample: number of test rows, 0: all. */
int lra_heads_of_model(const lra_subject *s, const lra_map_layers *layers, int64_t sample,
                       lra_heads *out, lra_err *e);
/* sink: as for lra_maps_measure() */
int lra_maps_of_model(const lra_subject *s, const lra_map_layers *layers, int64_t sample,
                      const bool *sink, lra_maps *out, lra_err *e);
int lra_rollout_of_model(const lra_subject *s, const lra_map_layers *layers, int64_t sample,
                         lra_profile **out, lra_err *e);

/* Adds all units to r, with the initial weights as null values if the model answers reset(). */
int lra_attention_of_model(const lra_subject *s, int64_t sample, lra_probe_result *r, lra_err *e);
/* Cost of the requests for n examples, in passes of one example through the model. */
double lra_attention_of_model_passes(const lra_subject *s, int64_t n);

/* True if sequence s of a batch belongs to the sample. */
static inline bool lra_model_counts(const lra_request *q, const lra_batch *b, int64_t s)
{
    return b->row[s % q->B] >= 0 && q->length[s] > 0;
}

#endif
