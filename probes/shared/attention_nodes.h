/* Attention layers of a model in the graph of a length: the mixing matrices that its nodes declare
 * (kernels/graph/mixing.h), and attention ops that declare none. */
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
/* Decay alpha of a head whose scores are multiplied with exp(-alpha |i-j|); 0: no decay, or another
 * family. */
double lra_attention_layer_decay(const lra_attention_nodes *n, int k, int64_t head);
/* Number of positions before the steps: the class token. */
int64_t lra_attention_extra(const lra_length_graph *v);
/* "layer0" of a node in "encoder/layer0/..", else "layer" and its number; caller frees. */
char *lra_attention_layer_name(const lra_tensor *node, int k);

/* Pixels in a row of the image that the positions form; 0: no image, or there is a class token. */
int64_t lra_attention_columns(const lra_train_spec *run);

#endif
