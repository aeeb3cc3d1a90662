/* Attention statistics of a trained model over a sample of the test split. No attention map is
 * stored. Computed: distance profiles (in tokens and in pixels), entropy and sinks for each head;
 * value-weighted distance profiles for each layer, all heads together. Nodes are found by op, so
 * every attention type is covered: chunked, strided, sparse, averaged and Laplace weights. Matrices
 * of other families (mixing_matrix.h) are evaluated row by row on the host. Attention to another
 * sequence has no distances; it is skipped and listed by layer name. */
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
    lra_profile *nosink; /* profile without each example's sink, rows renormalised; NULL: no sink */
    /* For each example: the largest mean weight of a key, the weight of that key under the uniform
     * baseline, and the position of the key. */
    int64_t examples;
    double *sink, *sink_equal;
    int64_t *sink_at;
} lra_attention_head;

typedef struct {
    char *name;         /* "layer0" */
    lra_profile *value; /* NULL: the heads are not followed by a linear layer */
} lra_attention_layer;

typedef struct {
    int n_heads, n_layers;
    lra_attention_head *head; /* layer by layer */
    lra_attention_layer *layer;
    const lra_matrix_family *family; /* family of the matrix; NULL: an attention op */
    bool sampled;                    /* true: only a sample of its rows was evaluated */
    bool placed;                     /* there is a table of positions */
    lra_toeplitz places;             /* of that (position_table.h) */
    char *left_out; /* layers whose keys are another sequence, "layer0 layer1"; NULL: none */
} lra_heads;

/* sample: rows of the test split, 0: all; rows: evaluated rows of an example's matrix of another
 * family, 0: all. */
int lra_heads_measure(const lra_train_spec *run, lra_device *dev, lra_weights_kind weights,
                      int64_t sample, int64_t rows, lra_heads *out, lra_err *e);
void lra_heads_free(lra_heads *h);
/* Mean over examples of the largest weight, and of its uniform baseline. */
double lra_head_sink(const lra_attention_head *h, double *equal);

#endif
