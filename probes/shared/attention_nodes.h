/* The attention of a model, found by op in the graph of a length: layers whose keys are their own
 * sequence, those whose matrix is another one than an attention op's (matrix.h), and the others by
 * name. */
#ifndef LRA_PROBES_SHARED_ATTENTION_NODES_H
#define LRA_PROBES_SHARED_ATTENTION_NODES_H

#include "probes/shared/mixing_matrix.h"

enum { LRA_ATTENTION_LAYERS = 256 };
typedef struct {
    int n, n_left_out;
    const lra_tensor *node[LRA_ATTENTION_LAYERS], *left_out[LRA_ATTENTION_LAYERS];
    lra_matrix matrix[LRA_ATTENTION_LAYERS]; /* without a family: node is an attention op */
} lra_attention_nodes;

/* LRA_USAGE: the model has no attention to its own sequence. */
int lra_attention_nodes_of(const lra_length_graph *v, lra_attention_nodes *out, lra_err *e);
int64_t lra_attention_layer_heads(const lra_attention_nodes *n, int k);
int64_t lra_attention_layer_positions(const lra_attention_nodes *n, int k);
/* alpha of a head, whose scores are multiplied with exp(-alpha |i-j|); 0: they do not decay, or are
 * of another family. */
double lra_attention_layer_decay(const lra_attention_nodes *n, int k, int64_t head);
/* Positions in front of the steps: that of the class. */
int64_t lra_attention_extra(const lra_length_graph *v);
/* "layer0" of a node in "encoder/layer0/..", else "layer" and its number; caller frees. */
char *lra_attention_layer_name(const lra_tensor *node, int k);

/* Pixels in a row of the image that positions are; 0: none, or something stands in front of it. */
int64_t lra_attention_columns(const lra_train_spec *run);

#endif
