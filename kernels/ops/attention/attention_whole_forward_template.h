/* Weights of full softmax tiles (attention_whole_template.h), and of strips of the other tiles
 * (attention_strip_template.h). The exponentials are relative to a base, the maximum of earlier
 * tiles. If the current tile exceeds the base by some powers of two, no precision is lost as long
 * as the sums of weights do not overflow. This saves a pass over the tile that would compute its
 * maximum before the first exponential. */
#ifndef LRA_OPS_ATTENTION_ATTENTION_WHOLE_FORWARD_TEMPLATE_H
#define LRA_OPS_ATTENTION_ATTENTION_WHOLE_FORWARD_TEMPLATE_H

#include "kernels/ops/attention/attention_forward_template.h"
#include "kernels/ops/attention/attention_strip_template.h"

#if ATTENTION_WHOLE
/* s = 2^(unit scores - base). Per lane: base, the subtracted exponent; sum of the weights s; top,
 * the largest product. */
typedef struct {
    aw_product scores;
    real unit, *s;
    real base[ATTENTION_QUERIES], sum[ATTENTION_QUERIES], top[ATTENTION_QUERIES];
} aw_weighing;

static __attribute__((noinline)) void aw_weights(aw_weighing *a)
{
    const real unit = a->unit;
    for (int64_t l0 = 0; l0 < ATTENTION_QUERIES; l0 += AW_COLUMNS) {
        lanes most[AP_VECTORS], total[AP_VECTORS];
        AW_EACH(j, AP_VECTORS) most[j] = lanes_of(-INFINITY), total[j] = (lanes){0};
        for (int64_t r = 0; r < ATTENTION_KEYS; r += AW_ROWS) {
            ap_vector at[AP_ROWS][AP_VECTORS];
            aw_sums(&a->scores, r, l0, at);
            AW_EACH(i, AW_ROWS) AW_EACH(j, AP_VECTORS)
            {
                int64_t l = l0 + j * AP_LANES;
                lanes v = aw_exp2((lanes)at[i][j] * unit - lanes_read(a->base + l));
                most[j] = lanes_max((lanes)at[i][j], most[j]);
                total[j] += v;
                lanes_write(a->s + (r + i) * ATTENTION_QUERIES + l, v);
            }
        }
        AW_EACH(j, AP_VECTORS) lanes_write(a->top + l0 + j * AP_LANES, most[j]);
        AW_EACH(j, AP_VECTORS) lanes_write(a->sum + l0 + j * AP_LANES, total[j]);
    }
}

/* Sets the base of lanes that have none (-infinity) to their largest product of these keys, times
 * unit. Returns true if some lanes still have no base. */
LRA_ROW_FN bool as_start(ap_vector at[AP_ROWS][AP_VECTORS], real unit, lanes *base)
{
    bool open = false;
    AW_EACH(j, AS_VECTORS)
    {
        lanes high = (lanes)at[0][j];
        AW_EACH(i, AS_ROWS) high = lanes_max((lanes)at[i][j], high);
        base[j] = as_choose(base[j] == lanes_of(-INFINITY), high * unit, base[j]);
        open |= lanes_largest(-base[j]) == INFINITY;
    }
    return open;
}

/* Computes the weights of n lanes of a tile, by strips. */
static __attribute__((noinline)) void as_weights(aw_weighing *a, const as_view *v, int64_t n)
{
    const real unit = a->unit;
    const lanes none = lanes_of(-INFINITY);
    for (int64_t l0 = 0; l0 < n; l0 += AS_COLUMNS) {
        const as_keys k = as_keys_of(v, l0);
        lanes base[AS_VECTORS], most[AS_VECTORS], total[AS_VECTORS];
        bool open = true;
        AW_EACH(j, AS_VECTORS)
        {
            base[j] = lanes_read(a->base + l0 + j * AP_LANES);
            most[j] = none, total[j] = (lanes){0};
        }
        for (int64_t r = k.from; r < k.to; r += AS_ROWS) {
            ap_vector at[AP_ROWS][AP_VECTORS];
            lanes less[AS_VECTORS];
            as_sums(&a->scores, r, l0, at);
            as_hide(v, r, l0, at);
            if (open) open = as_start(at, unit, base);
            AW_EACH(j, AS_VECTORS)
            less[j] = open ? as_choose(base[j] == none, (lanes){0}, base[j]) : base[j];
            AW_EACH(i, AS_ROWS) AW_EACH(j, AS_VECTORS)
            {
                lanes w = aw_exp2((lanes)at[i][j] * unit - less[j]);
                most[j] = lanes_max((lanes)at[i][j], most[j]);
                total[j] += w;
                lanes_write(a->s + (r + i) * ATTENTION_QUERIES + l0 + j * AP_LANES, w);
            }
        }
        AW_EACH(j, AS_VECTORS)
        {
            lanes_write(a->base + l0 + j * AP_LANES, base[j]);
            lanes_write(a->top + l0 + j * AP_LANES, most[j]);
            lanes_write(a->sum + l0 + j * AP_LANES, total[j]);
        }
    }
}

/* Computes the weights of a tile and adds their contribution to y. Returns false and changes
 * nothing if the base is too small for the products of this tile, or if the tile needs the general
 * code. */
static inline bool aw_attend(attention_forward *f, const attention_place *p)
{
    enum { FAR = 40, Q = ATTENTION_QUERIES };
    const attention_sizes *s = &f->h.s;
    aw_weighing a; /* uninitialised on purpose: an initialiser would clear the complete struct */
    a.scores = (aw_product){f->k + p->j0 * s->K, s->K, s->K, f->queries};
    a.unit = f->h.unit, a.s = f->h.tile;
    const real *v = f->v + p->j0 * s->V;
    as_view view;
    int far = 0;
    if (!attention_plain(&f->h)) return false;
    bool whole = AW_FULL && attention_whole(&f->h, p);
    if (!whole && !AW_STRIPS) return false;
    for (int l = 0; l < Q; l++) a.base[l] = f->max[l], far |= f->max[l] == -INFINITY;
    whole &= !far, far = 0;
    if (!whole && !AW_STRIPS) return false;
    if (whole) {
        aw_weights(&a);
    } else {
        as_visible(&f->h, p, &view);
        as_weights(&a, &view, p->lanes);
    }
#pragma omp simd reduction(| : far)
    ATTENTION_EACH_LANE(l, p) far |= a.top[l] * a.unit > a.base[l] + FAR;
    if (far) return false;
    ATTENTION_EACH_LANE(l, p) f->sum[l] += a.sum[l], f->max[l] = a.base[l];
    if (whole)
        ap_product(s->V, Q, Q, (ap_left){v, 1, s->V}, a.s, Q, true, f->y_t, Q);
    else
        as_add_columns(&view, p, s->V, v, s->V, a.s, f->y_t);
    return true;
}
#endif
#endif
