/* Table influence: how far away what a run uses is, by gradients and by what is left under
 * restrictions.
 * Every number stands with its interval and what it would be of equal weights and before
 * training. */
#include <stdio.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "reports/probe_findings.h"
#include "reports/report.h"

/* What people look at first; files hold the rest. */
static const char *const headline[] = {"cut.r95",        "cut.r99",           "window.w95",
                                       "window.w99",     "layer.w95",         "layer.w99",
                                       "range.mean",     "range.mean.rel",    "range.q50",
                                       "range.q95",      "range.q95.used",    "side",
                                       "decay.tau",      "decay.beta",        "shift.w1",
                                       "shift.peak",     "erf.r50",           "erf.r99",
                                       "range.mean.px",  "range.mean.rel.px", "range.q95.px",
                                       "keep.w95",       "keep.auc",          "bag.w95",
                                       "bag.auc",        "key.w05",           "kl.most",
                                       "kl.w95",         "kl.local",          "kl.global",
                                       "inter.mean",     "inter.q95",         "inter.peak",
                                       "inter.contrast", "inter.p",           "position.edge",
                                       "order.local",    "order.global",      "drop.w95",
                                       "drop.auc",       "length.gain.*",     "position.shift.*",
                                       "erf.r50.px",     "erf.r99.px",        NULL};

static lra_table *findings_table(lra_probe_result *const *list, int n)
{
    lra_table *t = lra_probe_findings_table("How far away what is used is", list, n, headline);
    lra_table_note(t, "cut.r95\tsmallest limit of all distances that keeps 95 %% of the gain; "
                      "window: of attention; layer: in one layer, or in some of its heads");
    lra_table_note(t,
                   "range\tof gradients of positions, or of their changes when blocks are replaced "
                   "(occlusion): mean, relative to equal weights, radius with 50, 95 %%");
    lra_table_note(
        t, "kl\twithout labels: divergence of the restricted answer from the whole one, "
           "most: the largest mean of a width, equal: of who sees nothing; w95: smallest "
           "width with at most 5 %% of that; local, global: of permutations that cost more");
    lra_table_note(t, "key\tsmallest window with which at most 5 %% of the answers lose 2 nats");
    lra_table_note(t,
                   "drop\tsmallest distance to what the task marks that keeps 95 %% of the gain; "
                   "length.gain: at so many times the length of the run's rows");
    lra_table_note(t,
                   "position\tedge: effect of the outer fifth over the middle; shift: divergence "
                   "of the answer when all tokens stand so many steps later");
    lra_table_note(t,
                   "shift\ttokens that learning moved the weight, on average; peak: the distance "
                   "whose intensity grew most, of the nearer half");
    lra_table_note(
        t,
        "inter\tof pairs of blocks that the answer lets work together: mean distance, "
        "radius, the distance that weighs most, neighbours over the median; p: of no dependence on distance");
    return t;
}

/* ---- gains ----------------------------------------------------------------------------------- */

static void add_gains(lra_table *t, const char *name, const lra_probe_array *gain, int64_t n)
{
    lra_table_row(t);
    lra_table_cell(t, "%s", name);
    for (int64_t i = 0; i < n; i++) {
        double x = (double)gain->value[3 * i], lo = (double)gain->value[3 * i + 1];
        double hi = (double)gain->value[3 * i + 2];
        lra_table_number(t, 100 * x, 1);
        lra_table_interval(t, 100 * lo, 100 * hi, 1);
    }
}

/* Gains under limits: of what ("all", "layer0", "layer0.head3"), NULL: these are others. */
static const char *limited_of(const lra_probe_unit *u)
{
    if (!lra_probe_array_find(u, "gain") || strcmp(u->name, "cut.window") == 0) return NULL;
    if (strncmp(u->name, "heads.", 6) == 0) return u->name + 6;
    if (strncmp(u->name, "cut", 3) != 0) return NULL;
    return u->name[3] ? u->name + 4 : "all";
}

/* Gains of a run under limits; NULL: there are none. */
static lra_table *gains_table(const lra_probe_result *r)
{
    const lra_probe_array *x = NULL;
    for (int u = 0; u < r->n_units && !x; u++)
        if (limited_of(r->unit[u])) x = lra_probe_array_find(r->unit[u], "x");
    enum { MOST = (LRA_TABLE_COLUMNS - 1) / 2 };
    char *head[1 + 2 * MOST], *key[1 + 2 * MOST];
    if (!x) return NULL;
    int64_t n = x->dims[0] < MOST ? x->dims[0] : MOST, first = x->dims[0] - n;
    char *name = lra_probe_run_name(r);
    head[0] = lra_copy_text("layers"), key[0] = lra_copy_text("layers");
    for (int64_t i = 0; i < n; i++) {
        double at = (double)x->value[first + i];
        head[1 + 2 * i] = lra_format("r = %.0f", at), head[2 + 2 * i] = lra_copy_text("");
        key[1 + 2 * i] = lra_format("r%.0f_percent", at);
        key[2 + 2 * i] = lra_format("r%.0f_lo,r%.0f_hi", at, at);
    }
    char *title = lra_format("%% of the gain that is left when nothing beyond r steps counts: %s",
                             name);
    lra_table *t = lra_table_new(title, (int)(1 + 2 * n), (const char *const *)head);
    lra_table_keys(t, (const char *const *)key);
    for (int u = 0; u < r->n_units; u++) {
        const char *name_of = limited_of(r->unit[u]);
        if (!name_of || t->n_rows == LRA_TABLE_ROWS) continue;
        lra_probe_array part = *lra_probe_array_find(r->unit[u], "gain");
        part.value += 3 * first;
        add_gains(t, name_of, &part, n);
    }
    for (int64_t i = 0; i < 1 + 2 * n; i++) {
        lra_free(head[i]);
        lra_free(key[i]);
    }
    lra_free(title);
    lra_free(name);
    return t;
}

static int make(const lra_report_input *in, lra_table ***list, lra_err *e)
{
    (void)e;
    int n = 0;
    *list = lra_alloc_array((size_t)in->n_probes + 1, sizeof **list);
    (*list)[n++] = findings_table(in->probes, in->n_probes);
    for (int i = 0; i < in->n_probes; i++) {
        lra_table *t = gains_table(in->probes[i]);
        if (t) (*list)[n++] = t;
    }
    return n;
}

const lra_report_table lra_table_influence = {
    "influence", "how far away what a run uses is: limits, gradients, restricted inputs", make,
    LRA_FROM_INFLUENCE};
