/* Parts keep, swap, token, mask, prune, bag, order-in, order-out, drop, drop-token: what is left
 * when the input is restricted (restrict.h), over widths w.
 *   keep, swap, token, mask, prune   keep.w50 .. .w99: smallest window that keeps so much of the gain; keep.auc
 *   drop, drop-token     drop.w50 .. .w99, drop.auc: the same of distances to what the task marks,
 *                        of images in pixels
 *   bag                  bag.w50 .. .w99, bag.auc: evidence that is local and adds up
 *   order-in, order-out  order.local: smallest m whose permutation inside windows costs 5 % of the
 *                        gain; order.global: largest m whose permutation of windows does
 *   keep, of classes     key.w05: smallest window with which at most 5 % of the answers lose more
 *                        than 2 nats; arrays key (points, 3): the share that do, and by row of the
 *                        test split (rows) the largest window that does (width; 0: none), so that
 *                        those who need context can be read
 * Of windows of ListOps and paths in images nothing is left that the task would produce: flag
 * ill-formed; but for prune. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/interval.h"
#include "kernels/base/mem.h"
#include "probes/influence/part.h"
#include "probes/influence/restrict.h"

static const char *undefined(const lra_influence *p)
{
    lra_goal goal = p->spec.data->task->goal;
    bool pooled = goal == LRA_GOAL_CLASS || goal == LRA_GOAL_PAIR || goal == LRA_GOAL_VALUE;
    return pooled ? NULL : "answers are asked at every step, not of the whole input";
}

static double passes_of(const lra_influence *p, int64_t examples, lra_restriction kind)
{
    double w[LRA_GAIN_POINTS], sum = 1;
    int64_t T = p->spec.data->max_length;
    int n = lra_restrict_axis(p->spec.data, kind, w);
    for (int i = 0; i < n; i++) sum += (double)lra_change_draws(kind, (int64_t)w[i], T);
    return sum * (double)lra_influence_rows(p, examples);
}

static bool ill_formed(const lra_influence *p)
{
    const char *name = p->spec.data->task->name;
    return strncmp(name, "listops", 7) == 0 || strncmp(name, "path", 4) == 0;
}

/* Order: the smallest (largest) width at which at most 95 % of the gain is left; none: INFINITY
 * (0). */
static lra_finding order_of(const lra_gain *g, bool inside)
{
    double at = inside ? INFINITY : 0;
    for (int i = 0; i < g->n; i++) {
        if (!(g->gain[i].value <= 0.95)) continue;
        if (inside && g->x[i] < at) at = g->x[i];
        if (!inside && g->x[i] > at) at = g->x[i];
    }
    lra_finding f = lra_finding_of(inside ? "order.local" : "order.global", "tokens",
                                   g->at_chance ? NAN : at);
    if (isinf(f.value)) f.flags |= LRA_CENSORED;
    return f;
}

/* Answers whose label loses more than 2 nats when only w tokens stay, on average over windows. */
static void add_keys(const lra_restricted *r, lra_probe_unit *u)
{
    static const double nats = 2, share = 0.05;
    double key[3 * LRA_GAIN_POINTS], least = INFINITY, n = (double)r->n;
    double *rows = lra_alloc_array(2 * (size_t)r->n + 1, sizeof *rows), *width = rows + r->n;
    for (int p = r->n_points - 1; p >= 0; p--) {
        int64_t lost = 0;
        for (int64_t i = 0; i < r->n; i++) {
            const lra_sums *x = &r->row[p * r->n + i];
            if (!(x->loss / (double)x->n - r->full[i].loss > nats)) continue;
            lost++;
            width[i] = fmax(width[i], r->w[p]);
        }
        lra_estimate e = lra_wilson((double)lost, n, 0.95);
        key[3 * p] = (double)lost / n, key[3 * p + 1] = e.lo, key[3 * p + 2] = e.hi;
        if (key[3 * p] <= share) least = r->w[p];
    }
    for (int64_t i = 0; i < r->n; i++) rows[i] = (double)r->index[i];
    lra_probe_unit_array(u, "key", 2, (int64_t[]){r->n_points, 3}, key);
    lra_probe_unit_array(u, "rows", 1, (int64_t[]){r->n}, rows);
    lra_probe_unit_array(u, "width", 1, (int64_t[]){r->n}, width);
    lra_finding f = lra_finding_of("key.w05", "tokens", least);
    f.examples = r->n;
    if (isinf(least)) f.flags |= LRA_CENSORED;
    lra_probe_unit_findings(u, 1, &f);
    lra_free(rows);
}

static int measure_kind(lra_influence *p, int64_t examples, lra_restriction kind, const char *unit,
                        lra_err *e)
{
    static const char *const prefix[] = {"keep.w", "keep.w", "bag.w",  NULL,     NULL,
                                         "keep.w", "keep.w", "drop.w", "drop.w", "keep.w"};
    static const char *const area[] = {"keep.auc", "keep.auc", "bag.auc",  NULL,       NULL,
                                       "keep.auc", "keep.auc", "drop.auc", "drop.auc", "keep.auc"};
    lra_restricted r;
    lra_gain g;
    int rc = lra_restrict_measure(&p->spec, &p->device, kind, examples, &p->steps, &r, e);
    if (rc == 0) {
        lra_probe_unit *u = lra_probe_unit_new(p->out, unit);
        lra_influence_gain(p, r.n, r.index, r.n_points, r.w, r.row, r.full, &g);
        lra_influence_add_gain(p, u, prefix[kind], area[kind], &g, r.n);
        if (kind == LRA_KEEP_WINDOW && p->run->result->n_classes > 0) add_keys(&r, u);
        if (!prefix[kind]) {
            lra_finding f = order_of(&g, kind == LRA_ORDER_IN);
            f.examples = r.n;
            lra_probe_unit_findings(u, 1, &f);
        }
        for (int i = 0; i < u->n_findings; i++) {
            lra_finding *f = &u->finding[i];
            if (ill_formed(p) && kind != LRA_PRUNE_WINDOW) f->flags |= LRA_ILL_FORMED;
            bool pixels = p->run->result->grid && strncmp(f->id, "drop.w", 6) == 0;
            if (pixels) snprintf(f->unit, sizeof f->unit, "pixels");
        }
    }
    lra_restricted_free(&r);
    return rc;
}

static const char *undefined_mask(const lra_influence *p)
{
    const char *why = undefined(p);
    if (!why) why = lra_influence_unplaced(p);
    if (why || lra_adds_positions(p->spec.model, p->spec.model_config)) return why;
    return "no positions are added, so that it is what part 'keep' measures";
}

static const char *undefined_prune(const lra_influence *p)
{
    bool expressions = strncmp(p->spec.data->task->name, "listops", 7) == 0;
    return expressions ? undefined(p) : "rows are no expressions";
}

static const char *undefined_drop(const lra_influence *p)
{
    const char *why = undefined(p);
    return !why && !p->spec.data->task->marks ? "the task marks no positions" : why;
}

#define PART(id, kind, name, examples, what, undefined)                                            \
    static double passes_##id(const lra_influence *p, int64_t n)                                   \
    {                                                                                              \
        return passes_of(p, n, kind);                                                              \
    }                                                                                              \
    static int measure_##id(lra_influence *p, int64_t n, lra_err *e)                               \
    {                                                                                              \
        return measure_kind(p, n, kind, name, e);                                                  \
    }                                                                                              \
    const lra_influence_part lra_part_##id = {                                                     \
        name,                                                                                      \
        what,                                                                                      \
        examples,                                                                                  \
        undefined,                                                                                 \
        passes_##id,                                                                               \
        measure_##id,                                                                              \
        (kind) == LRA_SWAP_WINDOW || (kind) == LRA_DROP_SWAP ? 2 : 1}

PART(keep, LRA_KEEP_WINDOW, "keep", 500, "accuracy of a window of w tokens, the rest cropped",
     undefined);
PART(swap, LRA_SWAP_WINDOW, "swap", 500, "the same, the rest from another row", undefined);
PART(token, LRA_TOKEN_WINDOW, "token", 500, "the same, the rest token 0", undefined);
PART(mask, LRA_MASK_WINDOW, "mask", 500, "the same, the rest masked: tokens keep their positions",
     undefined_mask);
PART(prune, LRA_PRUNE_WINDOW, "prune", 500, "digits of a window of w tokens, operators around stay",
     undefined_prune);
PART(bag, LRA_BAG, "bag", 500, "windows of w tokens answered alone, answers averaged", undefined);
PART(order_in, LRA_ORDER_IN, "order-in", 2000, "tokens permuted inside windows of w", undefined);
PART(order_out, LRA_ORDER_OUT, "order-out", 2000, "windows of w permuted whole", undefined);
PART(drop, LRA_DROP_SWAP, "drop", 2000, "what is farther than w from marks is from another row",
     undefined_drop);
PART(drop_token, LRA_DROP_TOKEN, "drop-token", 2000, "what is farther than w from marks is token 0",
     undefined_drop);
