/* Parts keep, swap, token, mask, prune, bag, order-in, order-out, drop, drop-token: the gain that
 * remains if the input is restricted (perturb.h), over widths w, measured by the labels and by the
 * outputs alone.
 *   keep, swap, token, mask, prune   keep.w50 .. .w99: smallest window that keeps this share of the
 *                        gain; keep.auc
 *   drop, drop-token     drop.w50 .. .w99, drop.auc: the same of distances to marked tokens,
 *                        of images in pixels
 *   bag                  bag.w50 .. .w99, bag.auc: evidence that is local and adds up
 *   order-in, order-out  order.local: smallest m whose permutation inside windows costs 5 % of the
 *                        gain; order.global: largest m whose permutation of windows does; none:
 *                        beyond the length, and 0
 *   all                  kl.most: the largest mean KL(p || p restricted) of a width, in nats; its
 *                        null value, N, is the cost of seeing no input: mean KL(p || mean p);
 *                        array kl; kl.w50 .. .w99, kl.auc, kl.local, kl.global: as above, of the
 *                        share 1 - KL / N
 *   keep, swap, token, mask, drop, drop-token   mode.difference: gain at the width mode.width, a
 *                        quarter of the longest, minus the gain there if the rest is removed in
 *                        another manner (keep: swapped; drop: token 0, and drop-token swapped; the
 *                        others: cropped), paired: the effect of the manner of removal, 0
 *                        where both agree
 *   keep                 key.w05: smallest window with which at most 5 % of the answers lose more
 *                        than 2 nats; arrays key, rows, steps, width (restricted.h)
 * Outputs that are real numbers are no probabilities: they have neither kl nor key.  A language
 * model is evaluated at some steps of each row; bags are undefined for it.
 * Restricted rows of ListOps and of paths in images are not rows that the task can produce: flag
 * ill-formed, except for prune.
 * Known: a full window 0, and 0 from w on if the model sees nothing farther
 * (tests/probes/restrict_next_test.c). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/training/run_network.h"
#include "probes/influence/part.h"
#include "probes/influence/perturbed_answers.h"

static const char *undefined(const lra_influence *p)
{
    bool speaks = p->spec.data->task->goal == LRA_GOAL_NEXT;
    switch (lra_session_network(&p->spec).head) {
    case LRA_HEAD_CLASS:
    case LRA_HEAD_PAIR:
    case LRA_HEAD_VALUE: return NULL;
    case LRA_HEAD_NEXT:
        if (speaks) return NULL;
        break;
    case LRA_HEAD_STEPS: break;
    }
    return "answers are asked at every step, not of the whole input";
}

/* ---- two modes ------------------------------------------------------------------------------- */

/* The alternative manner of removal; false: there is none, or it needs another row. */
static bool other_of(lra_perturbation_kind kind, int64_t rows, lra_perturbation_kind *other)
{
    bool drops = kind == LRA_DROP_SWAP || kind == LRA_DROP_TOKEN;
    bool windows = kind == LRA_KEEP_WINDOW || kind == LRA_SWAP_WINDOW || kind == LRA_TOKEN_WINDOW ||
                   kind == LRA_MASK_WINDOW;
    if (kind == LRA_KEEP_WINDOW)
        *other = LRA_SWAP_WINDOW;
    else if (drops)
        *other = kind == LRA_DROP_SWAP ? LRA_DROP_TOKEN : LRA_DROP_SWAP;
    else
        *other = LRA_KEEP_WINDOW;
    bool swaps = *other == LRA_SWAP_WINDOW || *other == LRA_DROP_SWAP;
    return (drops || windows) && (!swaps || rows > 1);
}

/* The last width that is at most a quarter of the widest one, and not 0. */
static int quarter(int n, const double *w)
{
    int at = 0;
    while (at + 1 < n && (w[at] <= 0 || w[at + 1] <= w[n - 1] / 4)) at++;
    return at;
}

static double passes_of(const lra_influence *p, int64_t examples, lra_perturbation_kind kind)
{
    int64_t rows = lra_influence_rows(p, examples);
    double w[LRA_GAIN_POINTS], runs = lra_restrict_runs(p->spec.data, kind, 0);
    lra_perturbation_kind other;
    int n = lra_restrict_axis(p->spec.data, kind, w);
    if (other_of(kind, rows, &other))
        runs += lra_restrict_runs(p->spec.data, other, (int64_t)w[quarter(n, w)]);
    return runs * (double)rows;
}

static int add_modes(lra_influence *p, lra_probe_unit *u, int64_t examples,
                     lra_perturbation_kind kind, const lra_restricted *r, lra_err *e)
{
    lra_perturbation_kind other;
    lra_restricted o = {0};
    int at = quarter(r->n_points, r->w), rc = 0;
    if (!other_of(kind, r->n / r->answers, &other)) return 0;
    rc = lra_restrict_measure(&p->spec, &p->device, other, (int64_t)r->w[at], examples, &p->steps,
                              &o, e);
    if (rc == 0) {
        lra_estimate x = lra_restricted_difference(p, r, at, &o);
        lra_measurement f[] = {lra_measurement_of("mode.difference", "1", x.value),
                               lra_measurement_of("mode.width", "tokens", r->w[at])};
        f[0].lo = x.lo, f[0].hi = x.hi, f[0].null[LRA_NULL_UNIFORM] = 0;
        for (int i = 0; i < 2; i++) f[i].examples = r->n / r->answers;
        lra_probe_unit_measurements(u, 2, f);
    }
    lra_restricted_free(&o);
    return rc;
}

/* ---- measurements --------------------------------------------------------------------------- */

static bool ill_formed(const lra_influence *p)
{
    const char *name = p->spec.data->task->name;
    return strncmp(name, "listops", 7) == 0 || strncmp(name, "path", 4) == 0;
}

/* Prefix of measurement ids, and id of the area; NULL: of permutations. */
static const char *prefix_of(lra_perturbation_kind kind, const char **area)
{
    bool drops = kind == LRA_DROP_SWAP || kind == LRA_DROP_TOKEN;
    bool permutes = kind == LRA_ORDER_IN || kind == LRA_ORDER_OUT;
    *area = permutes ? NULL : kind == LRA_BAG ? "bag.auc" : drops ? "drop.auc" : "keep.auc";
    return permutes ? NULL : kind == LRA_BAG ? "bag.w" : drops ? "drop.w" : "keep.w";
}

/* Order: the smallest (largest) width at which at most 95 % is left. */
static lra_measurement order_of(const char *prefix, const lra_gain *g, bool inside, int64_t n)
{
    lra_measurement f = lra_influence_threshold(prefix, inside ? ".local" : ".global",
                                                inside ? &g->costs_from : &g->costs_to, n);
    f.null[LRA_NULL_UNIFORM] = inside ? INFINITY : 0; /* a model that ignores the order */
    return f;
}

/* Measurements by labels, and by the outputs alone. */
static void add_measurements(lra_influence *p, lra_probe_unit *u, const lra_restricted *r,
                             lra_perturbation_kind kind)
{
    const char *area, *prefix = prefix_of(kind, &area);
    int64_t n = r->n / r->answers;
    bool inside = kind == LRA_ORDER_IN;
    lra_gain g, kl;
    lra_restricted_gain(p, r, &g);
    lra_influence_add_gain(p, u, prefix, area, &g, n);
    lra_measurement f = order_of("order", &g, inside, n);
    if (!prefix) lra_probe_unit_measurements(u, 1, &f);
    if (!r->kl) return;
    if (kind == LRA_KEEP_WINDOW) lra_restricted_add_keys(p, u, r);
    lra_restricted_add_kl(p, u, r, &kl);
    if (prefix) lra_influence_add_least(u, "kl.w", "kl.auc", &kl, n);
    f = order_of("kl", &kl, inside, n);
    if (!prefix) lra_probe_unit_measurements(u, 1, &f);
}

static int measure_kind(lra_influence *p, int64_t examples, lra_perturbation_kind kind,
                        const char *unit, lra_err *e)
{
    lra_restricted r;
    bool drops = kind == LRA_DROP_SWAP || kind == LRA_DROP_TOKEN;
    int rc = lra_restrict_measure(&p->spec, &p->device, kind, 0, examples, &p->steps, &r, e);
    if (rc == 0) {
        lra_probe_unit *u = lra_probe_unit_new(p->out, unit);
        add_measurements(p, u, &r, kind);
        rc = add_modes(p, u, examples, kind, &r, e);
        for (int i = 0; i < u->n_measurements; i++) {
            lra_measurement *f = &u->measurement[i];
            if (ill_formed(p) && kind != LRA_PRUNE_WINDOW) f->flags |= LRA_ILL_FORMED;
            bool pixels = drops && p->run->result->grid && strcmp(f->unit, "tokens") == 0;
            if (pixels) snprintf(f->unit, sizeof f->unit, "pixels");
        }
    }
    lra_restricted_free(&r);
    return rc;
}

static const char *undefined_bag(const lra_influence *p)
{
    bool speaks = p->spec.data->task->goal == LRA_GOAL_NEXT;
    return speaks ? "windows of a language model answer for tokens of their own" : undefined(p);
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
PART(bag, LRA_BAG, "bag", 500, "windows of w tokens answered alone, answers averaged",
     undefined_bag);
PART(order_in, LRA_ORDER_IN, "order-in", 2000, "tokens permuted inside windows of w", undefined);
PART(order_out, LRA_ORDER_OUT, "order-out", 2000, "windows of w permuted whole", undefined);
PART(drop, LRA_DROP_SWAP, "drop", 2000, "what is farther than w from marks is from another row",
     undefined_drop);
PART(drop_token, LRA_DROP_TOKEN, "drop-token", 2000, "what is farther than w from marks is token 0",
     undefined_drop);
