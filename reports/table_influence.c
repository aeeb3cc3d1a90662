/* Table influence: how far away what a run uses is, by gradients and by what is left under restrictions.
 * Every number stands with its interval and what it would be of equal weights and before training. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "reports/report.h"

/* What people look at first; files hold the rest. */
static const char *const headline[] = {
    "cut.r95",        "cut.r99",    "window.w95",     "window.w99",        "layer.w95",
    "layer.w99",      "range.mean", "range.mean.rel", "range.q50",         "range.q95",
    "range.q95.used", "side",       "decay.tau",      "decay.beta",        "shift.w1",
    "erf.r50",        "erf.r99",    "range.mean.px",  "range.mean.rel.px", "range.q95.px",
    "erf.r50.px",     "erf.r99.px"};

static bool shown(const char *id)
{
    for (size_t i = 0; i < sizeof headline / sizeof *headline; i++)
        if (strcmp(headline[i], id) == 0) return true;
    return false;
}

static char *name_of(const lra_probe_result *r)
{
    char *kernel = r->kernel ? lra_format(" K = %lld", (long long)r->kernel) : lra_copy_text("");
    char *name = lra_format("%s%s, %s, seed %lld", r->model, kernel, r->task, (long long)r->seed);
    lra_free(kernel);
    return name;
}

static void add_flags(lra_table *t, const lra_finding *f)
{
    lra_text text = {0};
    for (int i = 0; lra_finding_flag_name(i); i++)
        if (f->flags >> i & 1)
            lra_text_add(&text, "%s%s", text.n ? " " : "", lra_finding_flag_name(i));
    lra_table_cell(t, "%s", text.s ? text.s : "");
    lra_text_free(&text);
}

/* A number with as many decimals as its unit deserves; an end that is not reached. */
static void add_number(lra_table *t, const lra_finding *f, double x)
{
    bool share = strcmp(f->unit, "1") == 0;
    if (isinf(x))
        lra_table_value(t, NAN, "> T");
    else if (!isnan(x) && x == floor(x) && !share)
        lra_table_number(t, x, 0);
    else
        lra_table_number(t, x, share ? 3 : 1);
}

static void add_finding(lra_table *t, const lra_probe_result *r, const lra_probe_unit *u,
                        const lra_finding *f)
{
    char *name = name_of(r);
    lra_table_row(t);
    lra_table_cell(t, "%s", name);
    lra_table_cell(t, "%s", r->run);
    lra_table_cell(t, "%s", u->name);
    lra_table_cell(t, "%s", f->id);
    add_number(t, f, f->value);
    lra_table_interval(t, f->lo, f->hi, strcmp(f->unit, "1") == 0 ? 3 : 1);
    add_number(t, f, f->null[LRA_NULL_UNIFORM]);
    add_number(t, f, f->null[LRA_NULL_INIT]);
    lra_table_cell(t, "%s", strcmp(f->unit, "1") == 0 ? "" : f->unit);
    lra_table_number(t, (double)f->examples, 0);
    add_flags(t, f);
    lra_free(name);
}

static lra_table *findings_table(lra_probe_result *const *list, int n)
{
    static const char *const head[] = {"run",   "",        "part", "what",     "value", "95 %",
                                       "equal", "initial", "unit", "examples", "flags"};
    static const char *const key[] = {"name",  "run",  "part", "id",       "value", "lo,hi",
                                      "equal", "init", "unit", "examples", "flags"};
    lra_table *t = lra_table_new("How far away what is used is", 11, head);
    lra_table_keys(t, key);
    for (int i = 0; i < n; i++)
        for (int u = 0; u < list[i]->n_units; u++)
            for (int f = 0; f < list[i]->unit[u]->n_findings; f++)
                if (shown(list[i]->unit[u]->finding[f].id) && t->n_rows < LRA_TABLE_ROWS)
                    add_finding(t, list[i], list[i]->unit[u], &list[i]->unit[u]->finding[f]);
    lra_table_note(t, "equal\tof equal weights, or with the whole input; initial: before training");
    lra_table_note(t, "cut.r95\tsmallest limit of all distances that keeps 95 %% of the gain; "
                      "window: of attention; layer: in one layer");
    lra_table_note(t, "range\tof gradients of positions: mean, relative to equal weights, radius "
                      "with 50, 95 %%");
    return t;
}

/* ---- gains ------------------------------------------------------------------------------------------- */

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

/* Gains of a run under limits; NULL: there are none. */
static lra_table *gains_table(const lra_probe_result *r)
{
    const lra_probe_unit *all = lra_probe_unit_find(r, "cut");
    const lra_probe_array *x = all ? lra_probe_array_find(all, "x") : NULL;
    enum { MOST = (LRA_TABLE_COLUMNS - 1) / 2 };
    char *head[1 + 2 * MOST], *key[1 + 2 * MOST];
    if (!x) return NULL;
    int64_t n = x->dims[0] < MOST ? x->dims[0] : MOST, first = x->dims[0] - n;
    char *name = name_of(r);
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
        const lra_probe_unit *own = r->unit[u];
        const lra_probe_array *gain = lra_probe_array_find(own, "gain");
        if (strncmp(own->name, "cut", 3) != 0 || strcmp(own->name, "cut.window") == 0 || !gain)
            continue;
        lra_probe_array part = *gain;
        part.value += 3 * first;
        add_gains(t, own->name[3] ? own->name + 4 : "all", &part, n);
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
