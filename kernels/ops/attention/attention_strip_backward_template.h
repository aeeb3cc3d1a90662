/* Weights and their gradients between the products of the backward pass, in strips of softmax tiles
 * that have masked pairs or fewer than 64 keys or queries (attention_strip_template.h). Full tiles
 * use the general code, whose results are the same bit for bit. */
#ifndef LRA_OPS_ATTENTION_ATTENTION_STRIP_BACKWARD_TEMPLATE_H
#define LRA_OPS_ATTENTION_ATTENTION_STRIP_BACKWARD_TEMPLATE_H

#include "kernels/ops/attention/attention_strip_template.h"

#if ATTENTION_WHOLE
/* p = 2^(unit scores - sum) and g = p (products - dot), where each lane has its own sum and dot. */
typedef struct {
    aw_product scores, products; /* scores = q k, products = dy v */
    real unit;
    const real *sum, *dot;
    real *p, *g;
} as_pairs;

/* Computes p and g of a tile by strips. They are 0 for keys that no query of the strip sees. */
static __attribute__((noinline)) void as_differentiate(const as_pairs *a, const as_view *v,
                                                       const attention_place *place)
{
    enum { Q = ATTENTION_QUERIES };
    const real unit = a->unit;
    for (int64_t l0 = 0; l0 < place->lanes; l0 += AS_COLUMNS) {
        const as_keys k = as_keys_of(v, l0);
        real *p = a->p + l0, *g = a->g + l0;
        lanes sum[AS_VECTORS], dot[AS_VECTORS];
        AW_EACH(j, AS_VECTORS)
        {
            sum[j] = lanes_read(a->sum + l0 + j * AP_LANES);
            dot[j] = lanes_read(a->dot + l0 + j * AP_LANES);
        }
        for (int64_t r = 0; r < place->keys; r += AS_ROWS, p += AS_ROWS * Q, g += AS_ROWS * Q) {
            ap_vector at[AP_ROWS][AP_VECTORS], w[AP_ROWS][AP_VECTORS];
            if (r < k.from || r >= k.to) {
                AW_EACH(i, AS_ROWS) AW_EACH(j, AS_VECTORS)
                {
                    lanes_write(p + i * Q + j * AP_LANES, (lanes){0});
                    lanes_write(g + i * Q + j * AP_LANES, (lanes){0});
                }
                continue;
            }
            as_sums(&a->scores, r, l0, w);
            as_hide(v, r, l0, w);
            AW_EACH(i, AS_ROWS) AW_EACH(j, AS_VECTORS)
            {
                w[i][j] = (ap_vector)aw_exp2((lanes)w[i][j] * unit - sum[j]);
                lanes_write(p + i * Q + j * AP_LANES, (lanes)w[i][j]);
            }
            as_sums(&a->products, r, l0, at);
            AW_EACH(i, AS_ROWS)
            AW_EACH(j, AS_VECTORS)
            lanes_write(g + i * Q + j * AP_LANES, (lanes)w[i][j] * ((lanes)at[i][j] - dot[j]));
        }
    }
}

/* Adds the contribution of a tile's queries to its keys: to (keys,width) += tile x, eight keys at a
 * time, over the queries that see at least one of these keys. x: (queries,width). */
static __attribute__((noinline)) void as_add_rows(const as_view *v, const attention_place *p,
                                                  int64_t width, const real *tile, const real *x,
                                                  real *to)
{
    enum { Q = ATTENTION_QUERIES, SOME = 8 };
    for (int64_t r = 0; r < p->keys; r += SOME) {
        int64_t n = p->keys - r < SOME ? p->keys - r : SOME;
        int64_t from = v->from[r], end = v->to[r + n - 1] < p->lanes ? v->to[r + n - 1] : p->lanes;
        if (from < end)
            ap_add_product(Q, n, width, end - from, tile + r * Q + from, x + from * width, width,
                           to + r * width, width);
    }
}
#endif
#endif
