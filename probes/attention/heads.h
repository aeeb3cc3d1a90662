/* Attention statistics of a trained model over a sample of the test split; no attention map is
 * stored. For each head: distance profiles (in tokens and in pixels), entropy and sinks. For each
 * layer: a value-weighted distance profile of all heads together. Nodes are found by op, so every
 * type of attention is covered: chunked, strided, sparse, averaged and Laplace weights. Matrices of
 * other families (mixing_matrix.h) are evaluated row by row on the host. Attention to another
 * sequence has no distances; it is skipped and listed by layer name. */
#ifndef LRA_PROBES_ATTENTION_HEADS_H
#define LRA_PROBES_ATTENTION_HEADS_H

#include "analysis/head_kind.h"
#include "analysis/profile.h"
#include "analysis/spectrum.h"
#include "probes/shared/mixing_matrix.h"

typedef struct {
    char *name;   /* "layer0.head3" */
    int layer;    /* index of its layer */
    double decay; /* alpha if its scores are multiplied by exp(-alpha |i-j|), else 0 */
    lra_profile *tokens;
    lra_profile *pixels; /* NULL if inputs are not images */
    /* profile in which the sink of each example is excluded and rows are renormalised; NULL: no
     * sink */
    lra_profile *nosink;
    /* For each example: sink (largest mean weight of a key), sink_equal (weight of that key under
     * the uniform baseline), and sink_at (position of that key). */
    int64_t examples;
    double *sink, *sink_equal;
    int64_t *sink_at;
} lra_attention_head;

typedef struct {
    char *name;         /* "layer0" */
    lra_profile *value; /* NULL if no linear layer follows the heads */
} lra_attention_layer;

typedef struct {
    int n_heads, n_layers;
    lra_attention_head *head; /* (n_heads), layer by layer */
    lra_attention_layer *layer;
    const lra_matrix_family *family; /* family of the matrices; NULL if they are attention ops */
    /* true if only a sample of the rows of each matrix was evaluated */
    bool sampled;
    bool placed;         /* true if the model has a table of position embeddings */
    lra_toeplitz places; /* Toeplitz shares of position embeddings (position_table.h) */
    /* names of layers whose keys come from another sequence, "layer0 layer1"; NULL: none */
    char *left_out;
} lra_heads;

/* sample: number of rows of the test split, 0 = all; rows: number of evaluated rows of each
 * example's matrix if it is computed row by row, 0 = all. */
int lra_heads_measure(const lra_train_spec *run, lra_device *dev, lra_weights_kind weights,
                      int64_t sample, int64_t rows, lra_heads *out, lra_err *e);
void lra_heads_free(lra_heads *h);
/* Mean over examples of the largest weight of a key; equal: mean of its uniform baseline. */
double lra_head_sink(const lra_attention_head *h, double *equal);

/* ---- parts that models without a graph share (heads_of_model.c) ------------------------------ */

/* A head and one example, whose rows are added in blocks. */
typedef struct {
    lra_attention_head *head;
    bool again; /* second pass: the sink of the example is excluded */
    lra_matrix_columns columns;
    lra_matrix_profiles profiles;
} lra_head_rows;
/* Begins an example of T positions. most: maximum number of evaluated rows, 0: all. *x must not
 * move until lra_head_end(). */
void lra_head_begin(lra_head_rows *x, lra_attention_head *own, bool again, int64_t most,
                    int64_t example, int64_t T);
/* Adds selected rows from .. to-1 of sequence s. */
void lra_head_add(lra_head_rows *x, const lra_matrix_values *v, int64_t s, int64_t head,
                  int64_t from, int64_t to);
void lra_head_end(lra_head_rows *x);
/* Appends a head of layer k, for at most T positions and images of `columns` columns; h->head has
 * room for it. */
void lra_heads_add_head(lra_heads *h, int k, int64_t head, int64_t T, int64_t columns);
/* Allocates profiles without the sink for the heads that have a sink on average. Returns false if
 * no head has one. */
bool lra_heads_open_sinks(lra_heads *h);

#endif
