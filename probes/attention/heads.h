/* The attention of a run, asked over a sample of the test split without storing a map: profiles by
 * distance, in tokens and in pixels, entropy, sinks, of each head; of each layer the heads
 * together, weighted by values.  Nodes are found by op, so that every model with attention is
 * asked, chunked, strided and sparse ones, averaged and laplace weights too; of other families
 * (matrix.h) row by row, on the host; attention to another sequence has no distances and is left
 * out, by name. */
#ifndef LRA_PROBES_ATTENTION_HEADS_H
#define LRA_PROBES_ATTENTION_HEADS_H

#include "analysis/head_kind.h"
#include "analysis/profile.h"
#include "analysis/spectrum.h"
#include "probes/shared/mixing_matrix.h"

typedef struct {
    char *name;   /* "layer0.head3" */
    int layer;    /* number of its node */
    double decay; /* alpha: its scores are multiplied with exp(-alpha |i-j|) */
    lra_profile *tokens;
    lra_profile *pixels; /* NULL: no images */
    lra_profile
        *nosink; /* without each example's sink, rows over what is left; NULL: it is no sink */
    /* Of each example: the largest mean weight of a key, what equal weights give that key, and
     * where it stands. */
    int64_t examples;
    double *sink, *sink_equal;
    int64_t *sink_at;
} lra_attention_head;

typedef struct {
    char *name;         /* "layer0" */
    lra_profile *value; /* NULL: what stands behind the heads is no linear layer */
} lra_attention_layer;

typedef struct {
    int n_heads, n_layers;
    lra_attention_head *head; /* layer by layer */
    lra_attention_layer *layer;
    const lra_matrix_family *family; /* whose weights these are; NULL: an attention op's */
    bool sampled;                    /* not all of its rows were told */
    bool placed;                     /* there is a table of positions */
    lra_toeplitz places;             /* of that (position_table.h) */
    char *left_out; /* layers whose keys are another sequence, "layer0 layer1"; NULL: none */
} lra_heads;

/* sample: rows of the test split, 0: all; rows: of an example's matrix that no attention op has,
 * 0: all. */
int lra_heads_measure(const lra_train_spec *run, lra_device *dev, lra_weights_kind weights,
                      int64_t sample, int64_t rows, lra_heads *out, lra_err *e);
void lra_heads_free(lra_heads *h);
/* Means over examples of the largest weight, and of what equal weights give there. */
double lra_head_sink(const lra_attention_head *h, double *equal);

#endif
