/* Table ladder: rungs, bag of tokens (reach 0) and baselines of a ladder; ladder_notes.c adds the
 * notes. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/ladder/ladder_notes.h"
#include "reports/ladder/ladder_views.h"
#include "reports/report.h"
#include "reports/print/table.h"
#include "reports/verdict/verdict_ladder.h"
#include "reports/views/model_names.h"

enum { COLUMNS = 28, VALUE = 3, INFO = 8, RATIO = 10, TRAIN = 12, KERNEL = 18 };
/* The last columns appear in CSV and JSON only and repeat the title in every row. */
static const char *const head[COLUMNS] = {"kernel",
                                          "reach/layer",
                                          "reach",
                                          "acc. %",
                                          LRA_TABLE_CI,
                                          "seed SD",
                                          "gain",
                                          LRA_TABLE_CI,
                                          "gain (MI)",
                                          "",
                                          "acc./reference",
                                          "params",
                                          "train acc. %",
                                          "seeds",
                                          "",
                                          "",
                                          "",
                                          "",
                                          "",
                                          "",
                                          "",
                                          "",
                                          "",
                                          "",
                                          "",
                                          "",
                                          "",
                                          ""};
static const char *const key[COLUMNS] = {"row",
                                         "reach_per_layer",
                                         "reach",
                                         "accuracy_percent",
                                         "accuracy_percent_lo,accuracy_percent_hi",
                                         "seed_sd_percent",
                                         "gain",
                                         "gain_lo,gain_hi",
                                         "gain_info",
                                         "gain_info_lo,gain_info_hi",
                                         "ratio",
                                         "parameters",
                                         "train_percent",
                                         "seeds",
                                         "seeds_trained",
                                         "preset",
                                         "precision",
                                         "kind",
                                         "kernel",
                                         "task",
                                         "model",
                                         "test_examples",
                                         "max_length",
                                         "reference",
                                         "chance",
                                         "flags",
                                         "solved_size",
                                         "step_flops"};

/* Creates an empty table for the ladder's metric; only accuracies are scaled (to %). */
static lra_table *new_table(const char *title, const lra_ladder_view *v)
{
    static const char *const value_key[] = {"value", "value_lo,value_hi", "seed_sd"};
    const char *own_head[COLUMNS], *own_key[COLUMNS];
    bool other = strcmp(v->metric->name, "accuracy") != 0;
    for (int c = 0; c < COLUMNS; c++) own_head[c] = head[c], own_key[c] = key[c];
    own_head[0] = own_key[KERNEL] = v->kind.axis;
    if (other)
        own_head[VALUE] = v->metric->text, own_head[RATIO] = "value/reference",
        own_head[TRAIN] = "training value", own_key[TRAIN] = "train_value";
    for (int c = 0; c < 3 && other; c++) own_key[VALUE + c] = value_key[c];
    if (!v->has_info) own_head[INFO] = "";
    lra_table *t = lra_table_new(title, COLUMNS, own_head);
    lra_table_keys(t, own_key);
    return t;
}

/* Adds the columns that all rows have; a baseline has no seeds. kernel: value of the rung; run: one
 * run of the rung. Nullable: run */
static void add_setting(lra_table *t, const lra_ladder_view *v, const char *kind, int64_t kernel,
                        const lra_result *run)
{
    char flags[LRA_FLAGS_TEXT];
    int64_t size = run ? lra_ladder_size(&v->kind, run) : -1;
    lra_table_cell(t, "%s", kind);
    lra_table_number(t, kernel ? (double)kernel : NAN, 0);
    lra_table_cell(t, "%s", v->first->task);
    lra_table_cell(t, "%s", v->first->model);
    lra_table_number(t, (double)v->data.n, 0);
    lra_table_number(t, (double)v->data.T, 0);
    lra_table_cell(t, "%s", v->reference);
    lra_table_cell(t, "%s", v->chance);
    lra_table_cell(t, "%s", kernel ? lra_result_flags(v->first, v->flags, flags) : "");
    lra_table_number(t, size >= 0 ? (double)size : NAN, 0);
    lra_table_number(t, run ? run->training.step_flops : NAN, 0);
}

/* True if all taps of the model's convolutions are at the current or at past positions. */
static bool is_causal(const lra_result *r)
{
    return strstr(r->config, "model.causal=1\n") != NULL;
}

static void add_train(lra_table *t, const lra_ladder_view *v, int r)
{
    const lra_metric *m = v->metric;
    if (isnan(v->train[r]))
        lra_table_value(t, NAN, "not recorded");
    else
        lra_table_number(t, m->scale * v->train[r], m->decimals);
}

static void add_seeds(lra_table *t, const lra_ladder_row *row)
{
    if (row->n_learned < row->n_seeds)
        lra_table_value(t, row->n_learned, "%d of %d learned", row->n_learned, row->n_seeds);
    else
        lra_table_number(t, row->n_seeds, 0);
    lra_table_number(t, row->n_seeds, 0);
}

/* Reach per layer, for a stack of equal layers. */
static double layer_reach(const lra_ladder_view *v, const lra_ladder_row *row)
{
    bool alike = strcmp(v->kind.axis, "kernel") == 0 &&
                 lra_ladder_setting(v->first, "dilation") < 2;
    return alike ? (double)(row->kernel - 1) / (is_causal(v->first) ? 1 : 2) : NAN;
}

/* Adds the interval of a gain; the gain of the reference is 1 by definition and has no interval. */
static void add_interval(lra_table *t, const lra_ladder_view *v, int r, const lra_estimate *gain)
{
    bool itself = r == v->ladder.reference_rung;
    lra_table_interval(t, itself ? NAN : gain->lo, itself ? NAN : gain->hi, 3);
}

static void add_rung(lra_table *t, const lra_ladder_view *v, int r)
{
    const lra_ladder_row *row = &v->ladder.row[r];
    const lra_metric *m = v->metric;
    const lra_estimate none = {NAN, NAN, NAN}, info = v->has_info ? v->info.row[r].gain : none;
    lra_estimate value = lra_ladder_values(v, row->accuracy);
    bool all = row->reach == v->data.T;
    lra_table_row(t);
    char name[48];
    lra_table_cell(t, row->null_row ? "%s (bag)" : "%s",
                   lra_ladder_rung_name(&v->kind, row->kernel, name));
    lra_table_number(t, layer_reach(v, row), 0);
    lra_table_value(t, (double)row->reach, all ? "%" PRId64 " (all)" : "%" PRId64, row->reach);
    lra_table_number(t, m->scale * value.value, m->decimals);
    lra_table_interval(t, m->scale * value.lo, m->scale * value.hi, m->decimals);
    lra_table_number(t, m->scale * row->seed_sd, m->decimals);
    lra_table_number(t, row->gain.value, 3);
    add_interval(t, v, r, &row->gain);
    lra_table_number(t, info.value, 3);
    add_interval(t, v, r, &info);
    lra_table_number(t, row->ratio, 3);
    lra_table_number(t, (double)v->run[r][0]->training.parameters, 0);
    add_train(t, v, r);
    add_seeds(t, row);
    lra_table_cell(t, "%s", v->first->preset);
    lra_table_cell(t, "%s", v->first->precision);
    add_setting(t, v, row->null_row ? "bag" : "rung", row->kernel, v->run[r][0]);
}

/* Adds n empty cells. */
static void skip(lra_table *t, int n)
{
    for (int i = 0; i < n; i++) lra_table_number(t, NAN, 0);
}

static void add_baseline(lra_table *t, const lra_ladder_view *v, const char *name, double accuracy)
{
    const lra_ladder *l = &v->ladder;
    lra_estimate w = lra_wilson(accuracy * (double)v->data.n, (double)v->data.n, 0.95);
    bool gains = l->state != LRA_LI_AT_CHANCE;
    lra_table_row(t);
    lra_table_cell(t, "%s", name);
    skip(t, 2);
    lra_table_number(t, 100 * accuracy, 2);
    lra_table_interval(t, 100 * w.lo, 100 * w.hi, 2);
    skip(t, 1);
    lra_table_number(t, gains ? (accuracy - l->chance) / (l->reference - l->chance) : NAN, 3);
    lra_table_interval(t, NAN, NAN, 3);
    skip(t, 1);
    lra_table_interval(t, NAN, NAN, 3);
    lra_table_number(t, accuracy / l->reference, 3);
    skip(t, 4);
    lra_table_cell(t, "%s", v->first->preset);
    lra_table_cell(t, "-");
    add_setting(t, v, "baseline", 0, NULL);
}

/* Number of seeds as text: "3 seeds", "2 to 3 seeds". The caller frees it. */
static char *seeds_text(const lra_ladder_view *v)
{
    int least = v->data.n_seeds, most = least;
    for (int r = 0; r < v->ladder.n_rungs; r++)
        if (v->ladder.row[r].n_seeds > most) most = v->ladder.row[r].n_seeds;
    if (most > least) return lra_format("%d to %d seeds", least, most);
    return lra_format("%d seed%s", most, most == 1 ? "" : "s");
}

static lra_table *ladder_table(const lra_ladder_view *v)
{
    const lra_result *r = v->first;
    char *seeds = seeds_text(v), *kind = lra_ladder_kind_text(&v->kind);
    char *model = lra_model_shown(r->model, r->model, r->config);
    char *title = lra_format(
        "Ladder: %s, preset %s, %s, %s%s; %" PRId64 " test examples, T <= %" PRId64 ", %s", r->task,
        r->preset, model, r->precision, kind, v->data.n, v->data.T, seeds);
    lra_table *t = new_table(title, v);
    lra_free(title);
    lra_free(model);
    lra_free(seeds);
    lra_free(kind);
    for (int i = 0; i < v->ladder.n_rungs; i++) add_rung(t, v, i);
    for (int b = 0; b < r->n_baselines; b++) {
        if (lra_ladder_shows(r->baseline_name[b]))
            add_baseline(t, v, r->baseline_name[b],
                         lra_result_baseline_accuracy(r, r->baseline_name[b]));
    }
    lra_verdict_of_ladder(v, &t->verdict);
    lra_ladder_add_notes(t, v);
    lra_ladder_add_facts(t, v);
    lra_ladder_add_identity(v, t);
    return t;
}

static int make(const lra_report_input *in, lra_table ***list, lra_err *e)
{
    lra_ladder_view *views;
    int n = lra_ladder_views(in->list, in->n, &in->scale, &views, e);
    if (n < 0) return n;
    *list = lra_alloc_array((size_t)n, sizeof **list);
    for (int i = 0; i < n; i++) (*list)[i] = ladder_table(&views[i]);
    lra_ladder_views_free(views, n);
    return n;
}

const lra_report_table lra_table_ladder = {
    "ladder", "accuracy against reach, baselines, locality index", make, LRA_FROM_RESULTS, NULL};
