/* Introspection of an attention layer of a graph: statistics of its weights without a stored map,
 * and its weights applied to another tensor. The argument `attention` is the result of
 * lra_attention() or its node. a: the weights that multiply the layer's v, after decay and moving
 * average. These functions are for probes; no model uses them. */
#ifndef LRA_OPS_ATTENTION_ATTENTION_STATISTICS_H
#define LRA_OPS_ATTENTION_ATTENTION_STATISTICS_H

#include "kernels/graph/op.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- statistics ------------------------------------------------------------------------------ */

enum {
    LRA_ATTENTION_ENTROPY,     /* mean over rows of the entropy -sum p ln p, in nats */
    LRA_ATTENTION_ENTROPY_REL, /* mean of entropy / ln n_i over rows that see n_i > 1 keys */
    LRA_ATTENTION_SUPPORT,     /* effective number of keys: mean over rows of 1 / sum p^2 */
    LRA_ATTENTION_UNDEFINED,   /* number of rows that see no key */
    LRA_ATTENTION_SEVERAL,     /* number of rows that see several keys */
    LRA_ATTENTION_NUMBERS
};

typedef struct {
    /* (B,H) int32: for each head, a key that gets no weight; an index outside of the example
     * excludes no key. Nullable */
    lra_tensor *without;
    /* Result of lra_attention_gram(). If set, the statistics are those of all heads together, with
     * the weights w_ij = || sum_h a_hij v_hj W_h ||, and the result is (B,1,W). Nullable */
    lra_tensor *gram;
    int64_t columns; /* width of the image, for distances in pixels; 0: not an image */
} lra_attention_statistics_spec;

/* Statistics from one pass over the scores, with memory linear in the number of keys. Returns
 * (B,H,W), real. p_ij = a_ij / sum_j a_ij. Means are over the rows that see a key. D: number of
 * positions.
 *   mass (2 D - 1)     mean over rows of p at offset i - j; the first entry is 1 - D
 *   column (D)         mean over rows of p at key j
 *   numbers (LRA_ATTENTION_NUMBERS)
 *   near               with columns: mean over rows of p by max(|dy|,|dx|); as many entries as the
 *                      larger side of the image has pixels
 *   other (D)          sum over rows of p' by distance |i - j|,
 *                      p'_ij = p_ij / sum of p_ij over j != i; 0 at distance 0; excludes rows whose
 *                      share of other keys is below 1e-6
 *   own (D)            p_ii of each row; exactly 1 for a row that `other` excludes, -1 for a row
 *                      that sees no key
 *   near of other      with columns: as near, with p' instead of p, summed over the rows of `other`
 * Nullable: spec */
lra_tensor *lra_attention_statistics_of(const lra_tensor *attention,
                                        const lra_attention_statistics_spec *spec);
int64_t lra_attention_statistics_length(const lra_tensor *statistics); /* number of positions, D */
/* index of the first entry of `other` in a row of the result */
int64_t lra_attention_statistics_other(const lra_tensor *statistics);
/* Gram matrices v_hj W_h . v_gj W_g of the heads h, g at every key j: (B,T',H,H), real. W: weight
 * of the linear layer that reads the heads. NULL: no linear layer reads the heads. */
lra_tensor *lra_attention_gram(const lra_tensor *attention);
/* Gram matrices like those of lra_attention_gram(), for any v (B,T,H,V) and w (H V,D). */
lra_tensor *lra_values_gram(lra_tensor *v, lra_tensor *w);

/* ---- weights --------------------------------------------------------------------------------- */

/* Applies the layer's weights to values x (B,T,H,C): returns a x, (B,T',H,C), elem. Differentiable:
 * the gradient with respect to x is a^T dy. */
lra_tensor *lra_attention_apply(const lra_tensor *attention, lra_tensor *x);
/* True if the weights are softmax_j(scale q_i . k_j) over all keys of an example, without other
 * terms. */
bool lra_attention_is_softmax(const lra_tensor *attention);
/* The full maps of a softmax layer (lra_attention_is_softmax()): (B,H,T,T'), real, computed in
 * real; 0 for keys that are padding. */
lra_tensor *lra_attention_map_of(const lra_tensor *attention);

/* ---- which pairs there are ------------------------------------------------------------------- */

/* The layer's block list, int32 (B,H,query blocks,most); NULL: none. */
lra_tensor *lra_attention_lists(const lra_tensor *attention);
/* Range [from, to) of the keys that row i of an example of length T sees in at least one head,
 * including the columns of a moving average. All keys of a block list count. */
void lra_attention_span(const lra_tensor *attention, int64_t T, int64_t i, int64_t *from,
                        int64_t *to);
/* True if some pairs within lra_attention_span() cannot have weight. */
bool lra_attention_is_sparse(const lra_tensor *attention);
/* number of positions T in the layer's graph */
int64_t lra_attention_positions(const lra_tensor *attention);
/* Sets allowed[j] (T): 1 if row i of an example of length T may have weight at key j in this head,
 * including the columns of a moving average. Ignores distance limits. list: block list of the
 * example, (H,query blocks,most). Nullable: list */
void lra_attention_allowed(const lra_tensor *attention, int64_t T, int64_t head, int64_t i,
                           const int32_t *list, uint8_t *allowed);
int64_t lra_attention_heads(const lra_tensor *attention); /* number of heads of the layer */
double lra_attention_scale(const lra_tensor *attention);  /* factor of the products q k */
/* (B) int32: number of keys of each example; NULL: all keys. */
lra_tensor *lra_attention_key_length(const lra_tensor *attention);
/* (H,2R-1): learned bias; NULL: none. */
lra_tensor *lra_attention_bias(const lra_tensor *attention);
/* alpha of a head: its scores are multiplied by exp(-alpha |i-j|). */
double lra_attention_decay(const lra_tensor *attention, int64_t head);

#ifdef __cplusplus
}
#endif
#endif
