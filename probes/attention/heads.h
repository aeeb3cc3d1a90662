/* The attention heads of a run, asked in one pass over a sample of the test split: profiles by distance, entropy, sinks.
 * Nodes are found by op, so that every model with attention is asked, chunked and sparse ones too; attention to another
 * sequence has no distances and is left out, by name. */
#ifndef LRA_PROBES_ATTENTION_HEADS_H
#define LRA_PROBES_ATTENTION_HEADS_H

#include "analysis/profile.h"
#include "models/training/open.h"

typedef struct {
    char *name; /* "layer0.head3" */
    int layer;  /* number of its node */
    lra_profile *profile;
    /* Of each example: the largest mean weight of a key, what equal weights give that key, and where it stands. */
    int64_t examples;
    double *sink, *sink_equal;
    int64_t *sink_at;
} lra_attention_head;

typedef struct {
    int n_heads, n_layers;
    lra_attention_head *head; /* layer by layer */
    char *left_out; /* layers whose keys are another sequence, "layer0 layer1"; NULL: none */
} lra_heads;

/* sample: rows of the test split, 0: all. */
int lra_heads_measure(const lra_train_spec *run, lra_device *dev, lra_open_weights weights,
                      int64_t sample, lra_heads *out, lra_err *e);
void lra_heads_free(lra_heads *h);

#endif
