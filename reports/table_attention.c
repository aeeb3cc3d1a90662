/* Table attention: how far the heads of a run look: a row for each head, then what is told of
 * layers and models. */
#include <math.h>
#include <string.h>

#include "analysis/head_kind.h"
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
static const char *const summary[] = {
    "value.range.mean",  "value.range.mean.rel",   "value.range.q95",
    "value.entropy.rel", "value.shift.w1",         "head.js",
    "heads.sink",        "heads.uniform",          "heads.tree",
    "heads.local",       "heads.position",         "heads.content",
    "heads.mixed",       "rollout.range.mean",     "rollout.range.mean.rel",
    "rollout.range.q95", "positions.toeplitz.off", NULL};
/* The same of what heads look at; by name of the null value that stands beside a number, or
 * nothing. */
static const struct {
    const char *id, *head;
    int decimals, null;
} contents[] = {{"share.relative", "relative", 3, LRA_NULL_INIT},
                {"share.absolute", "absolute", 3, LRA_NULL_INIT},
                {"share.content", "content", 3, LRA_NULL_INIT},
                {"tree.parent", "parent", 3, LRA_NULL_UNIFORM},
                {"tree.children", "children", 3, LRA_NULL_UNIFORM},
                {"tree.siblings", "siblings", 3, LRA_NULL_UNIFORM},
                {"tree.bracket", "bracket", 3, LRA_NULL_UNIFORM},
                {"range.mean.px", "pixels", 1, LRA_NULL_UNIFORM},
                {"range.q95.px", "95 %", 0, LRA_NULL_UNIFORM},
                {"range.mean.nosink", "no sink", 1, LRA_NULL_UNIFORM}};
enum { CONTENTS = sizeof contents / sizeof *contents };

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
        lra_table_number(t, f ? f->null[LRA_NULL_SHUFFLED] : NAN, columns[c].decimals);
    }
}

/* Is the null value of permuted labels known? */
static bool has_shuffled(const lra_probe_result *r)
{
    for (int u = 0; u < r->n_units; u++) {
        const lra_finding *f = lra_probe_finding(r->unit[u], "range.mean");
        if (f && !isnan(f->null[LRA_NULL_SHUFFLED])) return true;
    }
    return false;
}

static void add_kind(lra_table *t, const lra_probe_unit *u, const bool *shown)
{
    const lra_finding *kind = lra_probe_finding(u, "head.kind");
    lra_table_row(t);
    lra_table_cell(t, "%s", u->name);
    bool known = kind && kind->value >= 0 && kind->value < LRA_HEAD_KINDS;
    lra_table_cell(t, "%s", known ? lra_head_kind_names[(int)kind->value] : "");
    for (int c = 0; c < CONTENTS; c++) {
        if (!shown[c]) continue;
        const lra_finding *f = lra_probe_finding(u, contents[c].id);
        lra_table_number(t, f ? f->value : NAN, contents[c].decimals);
        lra_table_interval(t, f ? f->lo : NAN, f ? f->hi : NAN, contents[c].decimals);
        lra_table_number(t, f ? f->null[contents[c].null] : NAN, contents[c].decimals);
    }
}

/* The units with this number, a row each; those that a table cannot hold are told. */
static void add_units(lra_table *t, const lra_probe_result *r, const char *id, const bool *shown)
{
    int left_out = 0;
    for (int u = 0; u < r->n_units; u++) {
        if (!lra_probe_finding(r->unit[u], id)) continue;
        if (t->n_rows == LRA_TABLE_ROWS)
            left_out++;
        else if (shown)
            add_kind(t, r->unit[u], shown);
        else
            add_head(t, r->unit[u]);
    }
    if (left_out)
        lra_table_note(t,
                       "left out\t%d more heads, for which there is no room; attention.h5 has them",
                       left_out);
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
        if (c >= 2) continue;
        head[n] = "initial", key[n++] = lra_format("%s.init", id);
        head[n] = has_shuffled(r) ? "shuffled" : "", key[n++] = lra_format("%s.shuffled", id);
    }
    char *name = lra_probe_run_name(r), *title = lra_format("How far heads look: %s", name);
    lra_table *t = lra_table_new(title, n, head);
    lra_table_keys(t, (const char *const *)key);
    add_units(t, r, "range.mean", NULL);
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
    lra_table_note(
        t,
        "(interval)\tof 95 %%; those of the other columns: '--json', or '--format csv' of lra-report");
    return t;
}

static bool has_any(const lra_probe_result *r, const char *id)
{
    for (int u = 0; u < r->n_units; u++)
        if (lra_probe_finding(r->unit[u], id)) return true;
    return false;
}

/* What sort of head each is, and what it looks at: columns that the run has. */
static lra_table *kinds_table(const lra_probe_result *r)
{
    const char *head[LRA_TABLE_COLUMNS] = {"head", "kind"};
    char *key[LRA_TABLE_COLUMNS] = {lra_copy_text("head"), lra_copy_text("head.kind")};
    bool shown[CONTENTS];
    int n = 2;
    for (int c = 0; c < CONTENTS; c++) {
        const char *id = contents[c].id;
        shown[c] = has_any(r, id);
        if (!shown[c]) continue;
        head[n] = contents[c].head, key[n++] = lra_copy_text(id);
        head[n] = strcmp(id, "share.content") == 0 ? "(interval)" : "";
        key[n++] = lra_format("%s.lo,%s.hi", id, id);
        head[n] = contents[c].null == LRA_NULL_INIT ? "initial" : "equal";
        key[n] = lra_format("%s.%s", id, head[n]);
        n++;
    }
    char *name = lra_probe_run_name(r), *title = lra_format("What heads look at: %s", name);
    lra_table *t = lra_table_new(title, n, head);
    lra_table_keys(t, (const char *const *)key);
    add_units(t, r, "head.kind", shown);
    for (int i = 0; i < n; i++) lra_free(key[i]);
    lra_free(name);
    lra_free(title);
    lra_table_note(t,
                   "kind\tsink: a key with over %g times its equal weight; uniform: entropy above "
                   "0.95; tree: looks at a relation of the expression; local: 95 %% within 32 "
                   "tokens; position, content: by shares; mixed: none; the first that holds",
                   LRA_SINK_FACTOR);
    if (shown[0])
        lra_table_note(t,
                       "relative\tshare of its weights that follows from distance alone; absolute: "
                       "from places; content: from the input");
    if (shown[3])
        lra_table_note(t,
                       "parent\tweight on the operator around; children: on arguments; siblings: "
                       "on other arguments; bracket: on the other end; equal: what equal weights "
                       "put there");
    if (shown[7])
        lra_table_note(t, "pixels\tdistance in an image: the larger of rows and columns between");
    if (shown[9]) lra_table_note(t, "no sink\tmean distance in tokens without the sink's key");
    return t;
}

/* What they mean, where they stand in a table. */
static const struct {
    const char *word, *id, *text;
} explained[] = {
    {"value", "value.range.mean",
     "of all heads of a layer together, a weight being the length of what a key adds to the output"},
    {"head.js", "head.js", "how much heads differ: mean over pairs, 1: nothing in common"},
    {"heads", "heads.mixed",
     "shares of heads that are of each kind; a head may be of several, mixed is of none"},
    {"rollout", "rollout.range.mean",
     "of the product over layers of (mean of heads + identity) / 2"},
    {"positions", "positions.toeplitz.off",
     "how much of a learned table of positions follows from distance alone"},
};
enum { EXPLAINED = sizeof explained / sizeof *explained };

static lra_table *layers_table(lra_probe_result *const *list, int n)
{
    lra_table *t = lra_probe_findings_table("Layers and models", list, n, summary);
    for (int i = 0; i < EXPLAINED; i++) {
        bool any = false;
        for (int k = 0; k < n && !any; k++) any = has_any(list[k], explained[i].id);
        if (any) lra_table_note(t, "%s\t%s", explained[i].word, explained[i].text);
    }
    return t;
}

static int make(const lra_report_input *in, lra_table ***list, lra_err *e)
{
    (void)e;
    int n = 0;
    *list = lra_alloc_array(2 * (size_t)in->n_probes + 1, sizeof **list);
    for (int i = 0; i < in->n_probes; i++) {
        (*list)[n++] = heads_table(in->probes[i]);
        if (has_any(in->probes[i], "head.kind")) (*list)[n++] = kinds_table(in->probes[i]);
    }
    (*list)[n++] = layers_table(in->probes, in->n_probes);
    return n;
}

const lra_report_table lra_table_attention = {
    "attention", "how far attention heads look: distance, entropy, sinks", make,
    LRA_FROM_ATTENTION};
