/* Introspection of an attention layer of a graph (the argument is the result of lra_attention() or
 * its node): statistics of its weights without a map, and its weights times a tensor.  a: the
 * weights that multiply v as the layer made it, after decay and smoothing.  These functions are for
 * probes: no model uses them. */
#ifndef LRA_OPS_ATTENTION_ATTENTION_STATISTICS_H
#define LRA_OPS_ATTENTION_ATTENTION_STATISTICS_H

#include "kernels/graph/op.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- statistics ------------------------------------------------------------------------------ */

enum {
    LRA_ATTENTION_ENTROPY,     /* mean over rows of -sum p ln p, nats */
    LRA_ATTENTION_ENTROPY_REL, /* of that over ln n_i, without rows of a single key */
    LRA_ATTENTION_SUPPORT,     /* mean over rows of 1 / sum p^2 */
    LRA_ATTENTION_UNDEFINED,   /* rows without a key */
    LRA_ATTENTION_SEVERAL,     /* rows of several keys */
    LRA_ATTENTION_NUMBERS
};

typedef struct {
    /* (B,H) int32: for each head a key that gets no weight; outside of the example: none. Nullable:
     * none for all heads */
    lra_tensor *without;
    /* lra_attention_gram(): of the heads together, w_ij = || sum_h a_hij v_hj W_h ||, result
     * (B,1,W).  Nullable */
    lra_tensor *gram;
    int64_t columns; /* columns of the image, for distances in pixels; 0: not an image */
} lra_attention_question;

/* By one pass over the scores, memory linear in the number of keys: (B,H,W), real.  p_ij = a_ij /
 * sum_j a_ij; means are over the rows that see a key; D: positions.
 *   mass (2 D - 1)     mean over rows of p at offset i - j, from 1 - D on
 *   column (D)         mean over rows of p at key j
 *   numbers (LRA_ATTENTION_NUMBERS)
 *   near               with columns: mean over rows of p by max(|dy|,|dx|), to the larger side of
 *                      the image
 *   other (D)          sum over rows of p' by distance |i - j|,
 *                      p'_ij = p_ij / sum of p_ij over j != i; 0 at distance 0; rows of which less
 *                      than 1e-6 is at other keys are left out
 *   own (D)            p_ii of each row; 1 exactly of a row that `other` leaves out, -1 of a row
 *                      without a key
 *   near of other      with columns: as near, of p', sums over the same rows
 * Nullable: ask */
lra_tensor *lra_attention_statistics_of(const lra_tensor *attention,
                                        const lra_attention_question *ask);
int64_t lra_attention_statistics_length(const lra_tensor *statistics);   /* D */
int64_t lra_attention_statistics_windowed(const lra_tensor *statistics); /* entries of near */
int64_t lra_attention_statistics_other(const lra_tensor *statistics);    /* offset of other */
/* v_hj W_h . v_gj W_g of the heads of every key, (B,T',H,H), real, where W is the linear layer that
 * reads the heads.  NULL: the heads are not read by a linear layer. */
lra_tensor *lra_attention_gram(const lra_tensor *attention);
/* The same for any v (B,T,H,V), w (H V,D). */
lra_tensor *lra_values_gram(lra_tensor *v, lra_tensor *w);

/* ---- weights --------------------------------------------------------------------------------- */

/* a x, the weights of the layer applied to values x, (B,T',H,C), elem; (B,T,H,C).  Differentiable:
 * its gradient with respect to x is a^T dy. */
lra_tensor *lra_attention_apply(const lra_tensor *attention, lra_tensor *x);
/* True if it is softmax_j(scale q_i . k_j) over all keys of an example, without other terms. */
bool lra_attention_is_plain(const lra_tensor *attention);
/* The full maps of such a layer, (B,H,T,T'), real, computed in real; 0 for keys that are
 * padding. */
lra_tensor *lra_attention_map_of(const lra_tensor *attention);

/* ---- which pairs there are ------------------------------------------------------------------- */

/* The int32 (B,H,query blocks,most) list of blocks that it reads; NULL: none. */
lra_tensor *lra_attention_lists(const lra_tensor *attention);
/* Keys [from, to) that row i of an example of T sees in at least one head, including averages;
 * block lists count as all keys. */
void lra_attention_span(const lra_tensor *attention, int64_t T, int64_t i, int64_t *from,
                        int64_t *to);
/* True if some pairs in that span can have no weight. */
bool lra_attention_is_sparse(const lra_tensor *attention);
int64_t lra_attention_positions(const lra_tensor *attention); /* T of its graph */
/* Sets allowed (T): keys that row i of an example of T may have a weight at in a head, averages
 * over columns included.
 * list: of that example, (H,query blocks,most), where there are lists.  Ignores distance limits. */
void lra_attention_allowed(const lra_tensor *attention, int64_t T, int64_t head, int64_t i,
                           const int32_t *list, uint8_t *allowed);
int64_t lra_attention_heads(const lra_tensor *attention); /* of a position */
double lra_attention_scale(const lra_tensor *attention);  /* factor of the products of q and k */
/* Number of keys of each example, (B) int32; NULL: all. */
lra_tensor *lra_attention_key_length(const lra_tensor *attention);
/* Its learned bias, (H,2R-1); NULL: none. */
lra_tensor *lra_attention_bias(const lra_tensor *attention);
/* alpha of a head, whose scores are multiplied by exp(-alpha |i-j|). */
double lra_attention_decay(const lra_tensor *attention, int64_t head);
/* True if its keys are another sequence, so that there are no distances. */
bool lra_attention_crosses(const lra_tensor *attention);

#ifdef __cplusplus
}
#endif
#endif
