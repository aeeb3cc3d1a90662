/* Attention layers of a model in the graph of one length: the mixing matrices that nodes declare
 * (kernels/graph/mixing.h), and attention ops without a declared matrix. */
#ifndef LRA_PROBES_SHARED_ATTENTION_NODES_H
#define LRA_PROBES_SHARED_ATTENTION_NODES_H

#include "probes/shared/mixing_matrix.h"

enum { LRA_ATTENTION_LAYERS = 256 };
typedef struct {
    int n, n_left_out;
    const lra_tensor *node[LRA_ATTENTION_LAYERS], *left_out[LRA_ATTENTION_LAYERS];
    /* matrix of node[k]; if its family is NULL, node[k] is an attention op */
    lra_matrix matrix[LRA_ATTENTION_LAYERS];
} lra_attention_nodes;

/* Finds the attention layers. Returns LRA_USAGE if the model has no attention of a sequence to
 * itself. */
int lra_attention_nodes_of(const lra_length_graph *v, lra_attention_nodes *out, lra_err *e);
int64_t lra_attention_layer_heads(const lra_attention_nodes *n, int k);
int64_t lra_attention_layer_positions(const lra_attention_nodes *n, int k);
/* Decay rate alpha of a head whose scores are multiplied by exp(-alpha |i-j|). Returns 0 if the
 * scores do not decay, or if the matrix belongs to another family. */
double lra_attention_layer_decay(const lra_attention_nodes *n, int k, int64_t head);
/* Number of positions before the first token: 1 if the model adds a class token, else 0. */
int64_t lra_attention_extra(const lra_length_graph *v);
/* "layer0" for a node with the path "encoder/layer0/..", else "layer" and the number k. The caller
 * frees the text. */
char *lra_attention_layer_name(const lra_tensor *node, int k);

/* Number of image columns if the positions form an image. Returns 0 for other inputs, and if the
 * model adds a class token. */
int64_t lra_attention_columns(const lra_train_spec *run);

#endif
