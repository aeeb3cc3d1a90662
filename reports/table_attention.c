/* Table attention: how far the heads of a run look: a row for each head, then what is told of layers and models. */
#include <math.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "reports/probe_findings.h"
#include "reports/report.h"

/* Columns of a head, their heads and decimals. */
static const struct {
    const char *id, *head;
    int decimals;
} columns[] = {{"range.mean", "mean", 1},     {"range.mean.rel", "relative", 3},
               {"range.q50", "50 %", 0},      {"range.q95", "95 %", 0},
               {"entropy.rel", "entropy", 3}, {"side", "side", 2},
               {"sink.max", "sink", 3},       {"sink.at", "at", 0},
               {"shift.w1", "shift", 1},      {"shift.peak", "peak", 0}};
enum { COLUMNS = sizeof columns / sizeof *columns };
static const char *const summary[] = {"heads.local", "heads.sink", "heads.uniform", "head.js",
                                      NULL};

static void add_head(lra_table *t, const lra_probe_unit *u)
{
    lra_table_row(t);
    lra_table_cell(t, "%s", u->name);
    for (int c = 0; c < COLUMNS; c++) {
        const lra_finding *f = lra_probe_finding(u, columns[c].id);
        lra_table_number(t, f ? f->value : NAN, columns[c].decimals);
        lra_table_interval(t, f ? f->lo : NAN, f ? f->hi : NAN, columns[c].decimals);
        if (columns[c].id[0] != 'r' || c > 1) continue;
        lra_table_number(t, f ? f->null[LRA_NULL_INIT] : NAN, columns[c].decimals);
    }
}

static lra_table *heads_table(const lra_probe_result *r)
{
    const char *head[LRA_TABLE_COLUMNS] = {"head"};
    char *key[LRA_TABLE_COLUMNS] = {lra_copy_text("head")};
    int n = 1;
    for (int c = 0; c < COLUMNS; c++) {
        const char *id = columns[c].id;
        head[n] = columns[c].head, key[n++] = lra_copy_text(id);
        head[n] = c < 2 ? "(interval)" : "", key[n++] = lra_format("%s.lo,%s.hi", id, id);
        if (c < 2) head[n] = "initial", key[n++] = lra_format("%s.init", id);
    }
    char *name = lra_probe_run_name(r), *title = lra_format("How far heads look: %s", name);
    lra_table *t = lra_table_new(title, n, head);
    lra_table_keys(t, (const char *const *)key);
    for (int u = 0; u < r->n_units && t->n_rows < LRA_TABLE_ROWS; u++)
        if (lra_probe_finding(r->unit[u], "range.mean")) add_head(t, r->unit[u]);
    for (int i = 0; i < n; i++) lra_free(key[i]);
    lra_free(name);
    lra_free(title);
    lra_table_note(t, "mean\tdistance in tokens; relative: to equal weights under the same mask; "
                      "50, 95 %%: radius with so much of the weight");
    lra_table_note(t,
                   "entropy\tover that of equal weights; side: 1 looks back, -1 ahead; sink: the "
                   "largest mean weight of a key, at its position");
    lra_table_note(
        t, "shift\ttokens that the weight was moved by learning, on average; peak: the distance "
           "that gained most, of the half of all");
    return t;
}

static int make(const lra_report_input *in, lra_table ***list, lra_err *e)
{
    (void)e;
    int n = 0;
    *list = lra_alloc_array((size_t)in->n_probes + 1, sizeof **list);
    for (int i = 0; i < in->n_probes; i++) (*list)[n++] = heads_table(in->probes[i]);
    (*list)[n++] = lra_probe_findings_table("Layers and models", in->probes, in->n_probes, summary);
    return n;
}

const lra_report_table lra_table_attention = {
    "attention", "how far attention heads look: distance, entropy, sinks", make,
    LRA_FROM_ATTENTION};
