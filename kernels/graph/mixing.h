/* Mixing matrices: the matrix a of y_i = sum_j a_ij v_j over positions i, j. The builder of such a
 * layer declares the matrix at the node that computes y, and probes read the declaration. The
 * declaration does not change the computation.
 *   B batch, T positions, H heads, K channels of a query, V of a value, M features or mixtures */
#ifndef LRA_GRAPH_MIXING_H
#define LRA_GRAPH_MIXING_H

#include "kernels/graph/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    /* a_ij: the weights of `node`, an attention op whose keys are its own sequence
     *   query, key (B,T,H,K), value (B,T,H,V) */
    LRA_MIX_SOFTMAX,
    /* a_ij = q_i . k_j / sum_j q_i . k_j
     *   query, key (B,H,T,M), not below 0; value (B,T,H,V) */
    LRA_MIX_FEATURES,
    /* a_ij = sum_m p_im e_jm; p: the weights of `node`, an attention op over mixtures e^T x
     *   map e (T,M), value x (B,T,D), weight (D,H V) of the linear layer from mixtures to values */
    LRA_MIX_MIXTURES,
    /* a_hij = sum_m u_him mean_g p_gmj; u: the weights of `node`, an attention op over a memory of
     * M rows; p: the weights of `inner`, an attention op that packs all positions into the memory
     *   query (B,T,H,K), key (B,M,H,K), value (B,T,G,V) of `inner`, weight (G V,H V') of the linear
     *   layer from packed rows to values of `node` */
    LRA_MIX_MEMORY,
    /* a_ij = softmax over the tokens of two chunks; `node`: an attention op in chunks
     *   key (B H J,2 C,1,K): the rows of both chunks, queries first; index (B H,J 2 C) int32: the
     *   position ids of these rows, from lra_lsh_buckets(); value (B,T,H,V) */
    LRA_MIX_BUCKETS,
    /* a_ij = map_ji where mask_ji is not 0
     *   map (B,H,T,T), mask (T,T): rows are keys, columns are queries; value (B,T,H,V) */
    LRA_MIX_MAP,
    /* a_ij: the effective attention of a matrix state (kernels/ops/ssm/matrix_state.c), with signs
     *   query, key, correct, read (B,T,H,K), value (B,T,H,V), decay (B,T,H,K or 1); both: plus the
     *   matrix of the recurrence from the last token to the first */
    LRA_MIX_STATE,
    LRA_MIXING_KINDS
} lra_mixing_kind;

/* Declaration of a matrix. Tensors that its kind does not have are NULL. */
typedef struct {
    lra_mixing_kind kind;
    lra_tensor *query, *key, *value, *weight, *map, *mask, *index;
    lra_tensor *inner;
    lra_tensor *decay, *correct, *read;
    bool both;
} lra_mixing;

/* Declares the matrix of the node that computes y: y itself, or the node whose memory y views. A
 * second declaration of a node is an error of the graph. */
void lra_declare_mixing(lra_tensor *y, const lra_mixing *m);
/* Declaration of a node; NULL: it has none. */
const lra_mixing *lra_mixing_of(const lra_tensor *node);
/* Lists the nodes that have a declaration, in the order of the graph, at most `most` of them.
 * Returns the number of such nodes. */
int lra_graph_mixing(const lra_graph *g, int most, lra_tensor **node);
/* Name of a kind: "softmax", "features", .. */
const char *lra_mixing_name(lra_mixing_kind kind);

#ifdef __cplusplus
}
#endif
#endif
