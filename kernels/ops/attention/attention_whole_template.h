/* Full softmax tiles: 64 keys and 64 queries, without masked or dropped pairs and without terms
 * that depend on distance. Their exponentials are computed while the sums of the products are in
 * registers, four keys at a time. Exponentials mostly wait for units other than the multipliers, so
 * that the next products overlap with them. The tile is written once, instead of being written,
 * read and written again. */
#ifndef LRA_OPS_ATTENTION_ATTENTION_WHOLE_TEMPLATE_H
#define LRA_OPS_ATTENTION_ATTENTION_WHOLE_TEMPLATE_H

#include "kernels/ops/attention/attention_template.h"

#if !LRA_TYPE_f64 /* float64 uses exp2() of libm instead */
#define ATTENTION_WHOLE 1

/* Compile-time switches that disable one optimisation each, to measure its gain
 * (tests/bench/variants.sh). */
#ifdef LRA_WITHOUT_full_tiles
#define AW_FULL false
#else
#define AW_FULL true
#endif
#ifdef LRA_WITHOUT_strips
#define AW_STRIPS false
#else
#define AW_STRIPS true
#endif

#define AW_EACH(i, n) AP_UNROLL for (int i = 0; i < (n); i++)
enum { AW_ROWS = AP_SUMS / AP_VECTORS, AW_COLUMNS = AP_VECTORS * AP_LANES };

/* attention_exp2() of a vector. */
LRA_ROW_FN lanes aw_exp2(lanes x)
{
    const lanes shift = lanes_of(12582912.0f + 127);
    lanes y = lanes_max(lanes_of(-127.0f), x), shifted = y + shift, f = y - (shifted - shift), p;
    ATTENTION_EXP2(p, f);
    return p * (lanes)((lanes_bits)shifted << 23);
}

/* True for a softmax of scaled products q k without other terms and without dropout. */
static inline bool attention_plain(const attention_head *h)
{
    return !h->distant && !h->kept;
}
static inline bool attention_whole(const attention_head *h, const attention_place *p)
{
    return p->keys == ATTENTION_KEYS && p->lanes == ATTENTION_QUERIES && attention_plain(h) &&
           !attention_hides(h, p);
}

/* Operands of a product: 64 keys as rows of `left`, with stride `row`, and 64 queries as columns of
 * `right`; both have `depth` channels. */
typedef struct {
    const real *left;
    int64_t row, depth;
    const real *right;
} aw_product;

static inline __attribute__((always_inline)) void
aw_sums(const aw_product *x, int64_t r, int64_t l0, ap_vector sum[AP_ROWS][AP_VECTORS])
{
    ap_sums(AW_ROWS, AP_VECTORS, (ap_left){x->left + r * x->row, x->row, 1}, x->depth,
            x->right + l0, ATTENTION_QUERIES, sum);
}
#else
#define ATTENTION_WHOLE 0
#endif
#endif
