/* Table attention: attention distance of the heads of a run: a row for each head, then measurements
 * of layers and models. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/head_kind.h"
#include "kernels/base/core/mem.h"
#include "reports/views/probe_measurements.h"
#include "reports/views/probe_view.h"
#include "reports/views/probe_records.h"
#include "reports/report.h"
#include "reports/verdict/verdict_probe.h"

/* A measurement of heads, with its interval and null values; hidden ones appear in CSV and JSON
 * only. */
enum { SHOW_EQUAL = 1, SHOW_INITIAL = 2, HIDE = 4 };
typedef struct {
    const char *id, *head;
    int decimals, null; /* SHOW_.. */
} column;
typedef struct {
    const char *title, *first; /* the table is printed if a head has this measurement */
    bool kind;                 /* true: the kind of a head is the second column */
    const column *column;
    int n;
    const char *notes[4]; /* NULL after the last */
} group;

static const column reach[] = {{"dist.mean", "mean", 1, SHOW_EQUAL | SHOW_INITIAL},
                               {"dist.mean.rel", "relative", 3, SHOW_INITIAL},
                               {"dist.q50", "50 %", 0, HIDE},
                               {"dist.q95", "95 %", 0, SHOW_EQUAL | SHOW_INITIAL},
                               {"self", "self", 3, SHOW_EQUAL | SHOW_INITIAL},
                               {"entropy.rel", "entropy", 3, SHOW_INITIAL},
                               {"range.mean", "", 1, HIDE},
                               {"range.mean.rel", "", 3, HIDE},
                               {"range.q50", "", 0, HIDE},
                               {"range.q95", "", 0, HIDE}},
                    places[] = {{"side", "side", 2, SHOW_EQUAL | SHOW_INITIAL},
                                {"sink.max", "sink", 3, SHOW_EQUAL | SHOW_INITIAL},
                                {"sink.at", "at", 0, SHOW_INITIAL},
                                {"shift.w1", "shift", 1, SHOW_EQUAL},
                                {"shift.peak", "peak", 0, SHOW_EQUAL}},
                    shares[] = {{"share.relative", "relative", 3, SHOW_INITIAL},
                                {"share.absolute", "absolute", 3, SHOW_INITIAL},
                                {"share.content", "content", 3, SHOW_INITIAL},
                                {"share.left", "left", 3, HIDE}},
                    relations[] = {{"tree.parent", "", 3, HIDE},
                                   {"tree.children", "", 3, HIDE},
                                   {"tree.siblings", "", 3, HIDE},
                                   {"tree.bracket", "", 3, HIDE},
                                   {"tree.lift.class.parent", "parent", 3, SHOW_INITIAL},
                                   {"tree.lift.class.children", "children", 3, SHOW_INITIAL},
                                   {"tree.lift.class.siblings", "siblings", 3, SHOW_INITIAL},
                                   {"tree.lift.class.bracket", "bracket", 3, SHOW_INITIAL},
                                   {"tree.lift.parent", "", 3, HIDE},
                                   {"tree.lift.children", "", 3, HIDE},
                                   {"tree.lift.siblings", "", 3, HIDE},
                                   {"tree.lift.bracket", "", 3, HIDE}},
                    pixels[] = {{"dist.mean.px", "mean", 1, SHOW_EQUAL | SHOW_INITIAL},
                                {"dist.q95.px", "95 %", 0, SHOW_EQUAL | SHOW_INITIAL},
                                {"range.mean.px", "", 1, HIDE},
                                {"range.q95.px", "", 0, HIDE}},
                    nosink[] = {{"dist.mean.nosink", "mean", 1, SHOW_EQUAL},
                                {"dist.q95.nosink", "95 %", 0, SHOW_EQUAL},
                                {"range.mean.nosink", "", 1, HIDE},
                                {"range.q95.nosink", "", 0, HIDE}};
#define COLUMNS(list) list, sizeof list / sizeof *list
static const group groups[] = {
    {"How far heads look",
     "range.mean",
     false,
     COLUMNS(reach),
     {"mean\tdistance of the other tokens; relative: to equal weights under the same mask; 95 %: "
      "radius with so much of their weight, tokens; self: share of the own token; entropy: over that "
      "of equal weights",
      "(interval)\tof 95 % over examples; equal: of equal weights under the same mask; initial: "
      "before training"}},
    {"Where heads look",
     "side",
     false,
     COLUMNS(places),
     {"side\t1 looks back, -1 ahead; sink: the largest mean weight of a key, at its position",
      "shift\ttokens that the weight was moved by learning, on average",
      "peak\tthe distance that gained most, of the half of all; equal: their middle"}},
    {"What heads look at",
     "head.kind",
     true,
     COLUMNS(shares),
     {"kind\tsink: a key with over 5 times its equal weight; uniform: entropy above 0.95; tree: "
      "lift of a relation above 1 (Holm) and at least 1.05; local, far: mean distance below 0.5, above "
      "1.1 of equal weights, whole interval; position, content: by shares; mixed: none; the first "
      "that holds",
      "relative\tshare of its weights that follows from distance alone; absolute: from places; "
      "content: from the input, or, where lengths differ, from sums over other numbers of keys"}},
    {"Relations in expressions that heads look at",
     "tree.parent",
     false,
     COLUMNS(relations),
     {"parent\tlift: weight on the operator around over that of the best content-blind head (by lag "
      "and classes of tokens; 1: no more than that); children: on arguments; siblings: on other "
      "arguments; bracket: on the other end"}},
    {"How far heads look, in pixels",
     "range.mean.px",
     false,
     COLUMNS(pixels),
     {"mean\tdistance in an image: the larger of rows and columns between"}},
    {"How far heads look without their sinks",
     "range.mean.nosink",
     false,
     COLUMNS(nosink),
     {"mean\tdistance in tokens without the sink's key, equal weights too"}}};
enum { GROUPS = sizeof groups / sizeof *groups };

static const char *const summary[] = {"value.dist.mean",
                                      "value.dist.mean.rel",
                                      "value.dist.q95",
                                      "value.self",
                                      "value.entropy.rel",
                                      "value.shift.w1",
                                      "head.js",
                                      "heads.sink",
                                      "heads.uniform",
                                      "heads.tree",
                                      "heads.local",
                                      "heads.far",
                                      "heads.position",
                                      "heads.content",
                                      "heads.mixed",
                                      "rollout.dist.mean",
                                      "rollout.dist.mean.rel",
                                      "rollout.dist.q95",
                                      "rollout.self",
                                      "positions.toeplitz.off",
                                      NULL};
static double null_of(const lra_measurement *f, lra_null kind)
{
    return f ? f->null[kind] : NAN;
}

static void add_head(lra_table *t, const lra_probe_unit *u, const group *g)
{
    lra_table_row(t);
    lra_table_cell(t, "%s", u->name);
    if (g->kind) {
        const lra_measurement *kind = lra_probe_measurement(u, "head.kind");
        bool known = kind && kind->value >= 0 && kind->value < LRA_HEAD_KINDS;
        lra_table_cell(t, "%s", known ? lra_head_kind_names[(int)kind->value] : "");
    }
    for (int c = 0; c < g->n; c++) {
        const column *x = &g->column[c];
        const lra_measurement *f = lra_probe_measurement(u, x->id);
        lra_table_number(t, f ? f->value : NAN, x->decimals);
        lra_table_interval(t, f ? f->lo : NAN, f ? f->hi : NAN, x->decimals);
        lra_table_number(t, null_of(f, LRA_NULL_INIT), x->decimals);
        lra_table_number(t, null_of(f, LRA_NULL_UNIFORM), x->decimals);
        lra_table_number(t, null_of(f, LRA_NULL_SHUFFLED), x->decimals);
    }
}

/* True if the null value for permuted labels is known. */
static bool has_shuffled(const lra_probe_result *r, const char *id)
{
    for (int u = 0; u < r->n_units; u++) {
        const lra_measurement *f = lra_probe_measurement(r->unit[u], id);
        if (f && !isnan(f->null[LRA_NULL_SHUFFLED])) return true;
    }
    return false;
}

static bool has_any(const lra_probe_result *r, const char *id)
{
    for (int u = 0; u < r->n_units; u++)
        if (lra_probe_measurement(r->unit[u], id)) return true;
    return false;
}

/* The heads with its first number, a row each. */
static void add_heads(lra_table *t, const lra_probe_result *r, const group *g)
{
    for (int u = 0; u < r->n_units; u++)
        if (lra_probe_measurement(r->unit[u], g->first)) add_head(t, r->unit[u], g);
}

/* True if the note belongs to a column that the run does not have. */
static bool is_of_none(const lra_probe_result *r, const group *g, const char *note)
{
    size_t n = strcspn(note, "\t");
    for (int c = 0; c < g->n; c++)
        if (strlen(g->column[c].head) == n && strncmp(g->column[c].head, note, n) == 0)
            return !has_any(r, g->column[c].id);
    return false;
}

static lra_table *heads_table(const lra_probe_result *r, const group *g)
{
    const char *head[LRA_TABLE_COLUMNS] = {"head", "kind"};
    char *key[LRA_TABLE_COLUMNS] = {lra_copy_text("head"), lra_copy_text("head.kind")};
    int n = g->kind ? 2 : 1;
    if (!g->kind) lra_free(key[1]);
    for (int c = 0; c < g->n; c++) {
        const column *x = &g->column[c];
        bool shown = !(x->null & HIDE) && has_any(r, x->id);
        head[n] = shown ? x->head : "", key[n++] = lra_copy_text(x->id);
        head[n] = shown ? "(interval)" : "", key[n++] = lra_format("%s.lo,%s.hi", x->id, x->id);
        head[n] = shown && x->null & SHOW_INITIAL ? "initial" : "";
        key[n++] = lra_format("%s.init", x->id);
        head[n] = shown && x->null & SHOW_EQUAL ? "equal" : "";
        key[n++] = lra_format("%s.equal", x->id);
        head[n] = shown && has_shuffled(r, x->id) ? "shuffled" : "";
        key[n++] = lra_format("%s.shuffled", x->id);
    }
    char *name = lra_probe_run_name(r), *title = lra_format("%s: %s", g->title, name);
    lra_table *t = lra_table_new(title, n, head);
    lra_table_keys(t, (const char *const *)key);
    if (g == groups) lra_verdict_of_attention(r, &t->verdict);
    add_heads(t, r, g);
    for (int i = 0; i < n; i++) lra_free(key[i]);
    lra_free(name);
    lra_free(title);
    for (int i = 0; i < 4 && g->notes[i]; i++)
        if (!is_of_none(r, g, g->notes[i])) lra_table_note(t, "%s", g->notes[i]);
    int64_t queries = lra_probe_queries(r);
    if (queries > 0 && g == groups)
        lra_table_note(t,
                       "rows\tof %" PRId64 " positions of each example, spread over it; all: "
                       "'lra-probe attention RUN --queries 0'",
                       queries);
    return t;
}

/* Explanations of the measurements that a table contains. */
static const struct {
    const char *word, *id, *text;
} explained[] = {
    {"value", "value.self",
     "of all heads of a layer together, a weight being the length of what a key adds to the output"},
    {"head.js", "head.js", "how much heads differ: mean over pairs, 1: nothing in common"},
    {"heads", "heads.mixed",
     "shares of heads that are of each kind; a head may be of several, mixed is of none"},
    {"rollout", "rollout.self", "of the product over layers of (mean of heads + identity) / 2"},
    {"positions", "positions.toeplitz.off",
     "how much of a learned table of positions follows from distance alone"},
};
enum { EXPLAINED = sizeof explained / sizeof *explained };

static lra_table *layers_table(lra_probe_result *const *list, int n)
{
    lra_table *t = lra_probe_measurements_table("Layers and models", list, n, summary);
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
    *list = lra_alloc_array(GROUPS * (size_t)in->n_probes + 1, sizeof **list);
    for (int i = 0; i < in->n_probes; i++)
        for (int g = 0; g < GROUPS; g++)
            if (g == 0 || has_any(in->probes[i], groups[g].first))
                (*list)[n++] = heads_table(in->probes[i], &groups[g]);
    (*list)[n++] = layers_table(in->probes, in->n_probes);
    return n;
}

static lra_table *records(const lra_report_input *in, lra_table *const *list, int n)
{
    (void)n;
    return lra_probe_records(list[0]->title, in);
}

const lra_report_table lra_table_attention = {
    "attention", "how far attention heads look: distance, entropy, sinks", make, LRA_FROM_ATTENTION,
    records};
