/* Table attention: attention distance of the heads of a run: one row per head, then measurements of
 * layers and of the model. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/head_kind.h"
#include "kernels/base/core/mem.h"
#include "reports/views/measurement_columns.h"
#include "reports/views/probe_measurements.h"
#include "reports/views/probe_view.h"
#include "reports/views/probe_records.h"
#include "reports/report.h"
#include "reports/views/weight_phases.h"
#include "reports/verdict/verdict_probe.h"
#include "reports/views/model_names.h"

/* A measurement of heads and the columns that are printed for it as text. HIDE: only CSV and JSON
 * contain it. */
enum { SHOW_UNIFORM = 1, SHOW_INITIAL = 2, HIDE = 4 };
typedef struct {
    const char *id;
    int decimals, show; /* bit mask of SHOW_UNIFORM, SHOW_INITIAL and HIDE */
} column;
typedef struct {
    /* first: id of a measurement; the table is printed if any head has it */
    const char *title, *first;
    bool kind; /* true: the second column is the kind of the head */
    const column *column;
    int n;
} group;

static const column reach[] = {{"dist.mean", 1, SHOW_UNIFORM | SHOW_INITIAL},
                               {"dist.mean.rel", 3, SHOW_INITIAL},
                               {"dist.q50", 0, HIDE},
                               {"dist.q95", 0, SHOW_UNIFORM | SHOW_INITIAL},
                               {"self", 3, SHOW_UNIFORM | SHOW_INITIAL},
                               {"entropy.rel", 3, SHOW_INITIAL},
                               {"range.mean", 1, HIDE},
                               {"range.mean.rel", 3, HIDE},
                               {"range.q50", 0, HIDE},
                               {"range.q95", 0, HIDE}},
                    places[] = {{"side", 2, SHOW_UNIFORM | SHOW_INITIAL},
                                {"sink.max", 3, SHOW_UNIFORM | SHOW_INITIAL},
                                {"sink.at", 0, SHOW_INITIAL},
                                {"shift.w1", 1, SHOW_UNIFORM},
                                {"shift.peak", 0, SHOW_UNIFORM}},
                    shares[] = {{"share.relative", 3, SHOW_INITIAL},
                                {"share.absolute", 3, SHOW_INITIAL},
                                {"share.content", 3, SHOW_INITIAL},
                                {"share.left", 3, HIDE}},
                    relations[] = {{"tree.parent", 3, HIDE},
                                   {"tree.children", 3, HIDE},
                                   {"tree.siblings", 3, HIDE},
                                   {"tree.bracket", 3, HIDE},
                                   {"tree.lift.class.parent", 3, SHOW_INITIAL},
                                   {"tree.lift.class.children", 3, SHOW_INITIAL},
                                   {"tree.lift.class.siblings", 3, SHOW_INITIAL},
                                   {"tree.lift.class.bracket", 3, SHOW_INITIAL},
                                   {"tree.lift.parent", 3, HIDE},
                                   {"tree.lift.children", 3, HIDE},
                                   {"tree.lift.siblings", 3, HIDE},
                                   {"tree.lift.bracket", 3, HIDE}},
                    pixels[] = {{"dist.mean.px", 1, SHOW_UNIFORM | SHOW_INITIAL},
                                {"dist.q95.px", 0, SHOW_UNIFORM | SHOW_INITIAL},
                                {"range.mean.px", 1, HIDE},
                                {"range.q95.px", 0, HIDE}},
                    nosink[] = {{"dist.mean.nosink", 1, SHOW_UNIFORM},
                                {"dist.q95.nosink", 0, SHOW_UNIFORM},
                                {"range.mean.nosink", 1, HIDE},
                                {"range.q95.nosink", 0, HIDE}};
#define COLUMNS(list) list, sizeof list / sizeof *list
static const group groups[] = {
    {"Attention distance", "range.mean", false, COLUMNS(reach)},
    {"Attention direction, sink and shift", "side", false, COLUMNS(places)},
    {"Kinds of attention heads", "head.kind", true, COLUMNS(shares)},
    {"Attention to syntactic relations of expressions", "tree.parent", false, COLUMNS(relations)},
    {"Attention distance in pixels", "range.mean.px", false, COLUMNS(pixels)},
    {"Attention distance without sinks", "range.mean.nosink", false, COLUMNS(nosink)}};
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

/* True if any unit has a null value for permuted labels in this measurement. */
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

/* Adds a row for each head that has the measurement g->first. */
static void add_heads(lra_table *t, const lra_probe_result *r, const group *g)
{
    for (int u = 0; u < r->n_units; u++)
        if (lra_probe_measurement(r->unit[u], g->first)) add_head(t, r->unit[u], g);
}

/* Adds notes on the columns that the run has, and on the kinds of heads. */
static void note_columns(lra_table *t, const lra_probe_result *r, const group *g)
{
    const char *id[LRA_TABLE_COLUMNS];
    int n = 0;
    if (g->kind) id[n++] = "head.kind";
    for (int c = 0; c < g->n; c++)
        if (!(g->column[c].show & HIDE) && has_any(r, g->column[c].id)) id[n++] = g->column[c].id;
    lra_note_measurements(t, n, id, false);
    const lra_probe_cell cell = {.n_seeds = 1, .seed = &r};
    lra_table_note(
        t,
        "CI\t95 %% confidence interval over examples; uniform: for uniform weights under "
        "the same mask; initial: %s",
        lra_phase_initial(1, &cell));
}

static lra_table *heads_table(const lra_probe_result *r, const group *g)
{
    lra_columns columns = {.n = 0};
    lra_columns_add(&columns, "head", "head");
    if (g->kind) lra_columns_measurement_dotted(&columns, "head.kind", LRA_COLUMN_VALUE, true);
    for (int c = 0; c < g->n; c++) {
        const column *x = &g->column[c];
        bool shown = !(x->show & HIDE) && has_any(r, x->id);
        const bool show[LRA_COLUMN_KINDS] = {[LRA_COLUMN_VALUE] = shown,
                                             [LRA_COLUMN_INTERVAL] = shown,
                                             [LRA_COLUMN_INITIAL] = shown && x->show & SHOW_INITIAL,
                                             [LRA_COLUMN_UNIFORM] = shown && x->show & SHOW_UNIFORM,
                                             [LRA_COLUMN_SHUFFLED] = shown &&
                                                                     has_shuffled(r, x->id)};
        for (int k = 0; k < LRA_COLUMN_KINDS; k++)
            if (k != LRA_COLUMN_IQR)
                lra_columns_measurement_dotted(&columns, x->id, (lra_column_kind)k, show[k]);
    }
    char *run = lra_probe_run_name(r), *name = lra_model_shown(run, r->model, r->config);
    char *title = lra_format("%s: %s", g->title, name);
    lra_free(run);
    lra_table *t = lra_columns_table(&columns, title);
    if (g == groups) lra_verdict_of_attention(r, &t->verdict);
    add_heads(t, r, g);
    lra_free(name);
    lra_free(title);
    note_columns(t, r, g);
    if (g == groups && strstr(r->config, "train.objective=pretrain-masked"))
        lra_table_note(t,
                       "inputs\tmasked, as in pretraining; 'initial' of a run fine-tuned from this "
                       "one has these weights on complete inputs");
    int64_t queries = lra_probe_queries(r);
    if (queries > 0 && g == groups)
        lra_table_note(t,
                       "queries\t%" PRId64 " evenly spaced positions of each example; all "
                       "positions: 'lra-probe attention RUN --queries 0'",
                       queries);
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
    (*list)[n++] = lra_probe_measurements_table("Layers and models", in->probes, in->n_probes,
                                                summary);
    return n;
}

static lra_table *records(const lra_report_input *in, lra_table *const *list, int n)
{
    (void)n;
    return lra_probe_records(list[0]->title, in);
}

const lra_report_table lra_table_attention = {
    "attention", "attention distance, entropy, sinks and kinds of heads", make, LRA_FROM_ATTENTION,
    records};
