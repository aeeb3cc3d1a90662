/* Table tuned: the value of a setting that trials have chosen for each combination of a sweep
 * ('lra-probe sweep --tune'), the width of the window of values that work, and the test metric of
 * the runs with the chosen value. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/report.h"
#include "reports/results/result_metric.h"
#include "reports/views/model_names.h"

enum { COLUMNS = 22, WINDOWS = 2 };
static const double margin[WINDOWS] = {0.01, 0.05}; /* 1 and 5 points */

static const char *const head[COLUMNS] = {"task",
                                          "model",
                                          "settings",
                                          "preset",
                                          "setting",
                                          "chosen",
                                          "factor",
                                          "edge",
                                          "window 1 (octaves)",
                                          LRA_TABLE_CI,
                                          "window 5 (octaves)",
                                          LRA_TABLE_CI,
                                          "validation",
                                          "tuning seeds",
                                          "test",
                                          LRA_TABLE_CI,
                                          "seeds",
                                          "remarks",
                                          "",
                                          "",
                                          "",
                                          ""};
static const char *const key[COLUMNS] = {"task",
                                         "model",
                                         "settings",
                                         "preset",
                                         "setting",
                                         "value",
                                         "factor",
                                         "edge",
                                         "window1_octaves",
                                         "window1_lo,window1_hi",
                                         "window5_octaves",
                                         "window5_lo,window5_hi",
                                         "validation",
                                         "tuning_seeds",
                                         "test",
                                         "test_lo,test_hi",
                                         "seeds",
                                         "remarks",
                                         "base",
                                         "window1_bound",
                                         "window5_bound",
                                         "trials"};

/* A row: a choice, the metric, and the scores of its values. */
typedef struct {
    const lra_tuning_result *t;
    const lra_metric *metric;                            /* NULL: no result is loaded */
    double value[LRA_MAX_TRIALS], score[LRA_MAX_TRIALS]; /* score: larger is better */
    lra_tuning_window window[WINDOWS];
} row;

static const lra_metric *metric_of(const lra_tuning_result *t)
{
    for (int i = 0; i < t->n; i++)
        for (int k = 0; k < t->n_seeds; k++)
            if (t->trial[i].result[k]) return lra_result_metric(t->trial[i].result[k]);
    for (int k = 0; k < t->n_runs; k++)
        if (t->result[k]) return lra_result_metric(t->result[k]);
    return NULL;
}

/* True if the results of a value hold predictions of `n` validation rows. */
static bool has_rows(const lra_trial *trial, int n_seeds, int64_t n)
{
    for (int k = 0; k < n_seeds; k++)
        if (!trial->result[k] || trial->result[k]->n_val != n) return false;
    return n > 0;
}

/* Sample of the correct validation rows of all values with scores; series[i]: series of value i.
 * NULL: some value has no predictions. */
static lra_sample *sample_of(const row *r, int *series)
{
    const lra_tuning_result *t = r->t;
    lra_sample *s = NULL;
    for (int i = 0; i < t->n; i++) {
        const lra_trial *trial = &t->trial[i];
        if (isnan(r->score[i])) continue;
        if (!s && trial->result[0]) s = lra_sample_new(trial->result[0]->n_val, true);
        if (!s || !has_rows(trial, t->n_seeds, s->n)) {
            lra_sample_free(s);
            return NULL;
        }
        uint8_t *correct[LRA_TUNING_SEEDS];
        for (int k = 0; k < t->n_seeds; k++) correct[k] = lra_result_val_correct(trial->result[k]);
        series[i] = lra_sample_add_correct(s, t->n_seeds, (const uint8_t *const *)correct);
        for (int k = 0; k < t->n_seeds; k++) lra_free(correct[k]);
    }
    if (s) s->paired = true; /* values share the seeds of initialisation and order */
    return s;
}

static row row_of(const lra_tuning_result *t)
{
    row r = {.t = t, .metric = metric_of(t)};
    int series[LRA_MAX_TRIALS] = {0};
    bool points = r.metric && r.metric->scale == 100;
    for (int i = 0; i < t->n; i++) {
        r.value[i] = t->trial[i].value;
        r.score[i] = (r.metric && r.metric->lower ? -1 : 1) * lra_tuning_score(t, i);
    }
    lra_sample *s = points ? sample_of(&r, series) : NULL;
    for (int w = 0; w < WINDOWS; w++) {
        r.window[w] = lra_tuning_window_of(t->n, r.value, r.score, s, series, margin[w]);
        if (!points) r.window[w].width.octaves = NAN;
    }
    lra_sample_free(s);
    return r;
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* Settings of the combination without task, model and preset, which have columns. The caller frees
 * them. */
static char *other_settings(const char *settings)
{
    static const char *const known[] = {"task=", "model=", "preset="};
    lra_text t = {0};
    for (const char *at = settings; *at;) {
        size_t n = strcspn(at, " ");
        bool has_column = false;
        for (int k = 0; k < 3; k++)
            has_column = has_column || strncmp(at, known[k], strlen(known[k])) == 0;
        bool word = memchr(at, '=', n) != NULL; /* "the run": nothing varies */
        if (!has_column && word) lra_text_add(&t, "%s%.*s", t.n ? " " : "", (int)n, at);
        at += n + (at[n] == ' ');
    }
    return t.s ? t.s : lra_copy_text("-");
}

static void add_window(lra_table *t, const lra_tuning_window *w)
{
    char text[64];
    lra_table_value(t, w->width.octaves, isnan(w->width.octaves) ? "-" : "%s%.1f",
                    w->width.from_edge ? ">= " : "", w->width.octaves);
    snprintf(text, sizeof text, "%.1f to %s%.1f", w->lo.octaves, w->hi.from_edge ? ">= " : "",
             w->hi.octaves);
    if (isnan(w->lo.octaves) || isnan(w->width.octaves))
        lra_table_interval(t, NAN, NAN, 1);
    else
        lra_table_interval_text(t, w->lo.octaves, w->hi.octaves, text);
}

static void add_metric(lra_table *t, const lra_metric *m, double value)
{
    char text[32];
    if (m)
        lra_table_value(t, value, "%s", lra_metric_value_text(m, value, text));
    else
        lra_table_number(t, value, 4);
}

/* Adds the test metric of the runs with its interval and the number of seeds. Returns true if it is
 * not better than chance. */
static bool add_test(lra_table *t, const row *r)
{
    lra_result *run[LRA_TUNING_SEEDS];
    int n = 0;
    for (int k = 0; k < r->t->n_runs; k++)
        if (r->t->result[k]) run[n++] = r->t->result[k];
    if (n == 0) {
        lra_table_number(t, NAN, 0);
        lra_table_interval(t, NAN, NAN, 0);
        lra_table_value(t, 0, "0");
        return false;
    }
    const lra_metric *m = lra_result_metric(run[0]);
    lra_estimate v = lra_results_value(run, n);
    add_metric(t, m, v.value);
    lra_table_scaled_interval(t, v.lo, v.hi, m->scale, m->decimals);
    lra_table_value(t, n, "%d", n);
    return !isnan(v.value) &&
           !lra_metric_better(m, m->lower ? v.hi : v.lo, lra_result_chance(run[0]));
}

/* End of the grid at which the chosen value lies, or "-". */
static const char *edge_of(const lra_tuning_result *t)
{
    return t->best < 0 ? "-" : t->best == 0 ? "smallest" : t->best == t->n - 1 ? "largest" : "-";
}

static int count_diverged(const row *r)
{
    int n = 0;
    for (int i = 0; i < r->t->n; i++) n += isnan(r->score[i]);
    return n;
}

/* Remarks: at chance, values whose training diverged, runs that are missing. */
static void add_remarks(lra_table *t, const row *r, bool at_chance)
{
    lra_text text = {0};
    int diverged = count_diverged(r), missing = 0;
    for (int k = 0; k < r->t->n_runs; k++) missing += !r->t->result[k];
    if (at_chance) lra_text_add(&text, "at chance");
    if (diverged)
        lra_text_add(&text, "%s%d of %d values diverged", text.n ? ", " : "", diverged, r->t->n);
    if (missing)
        lra_text_add(&text, "%s%d of %d runs missing", text.n ? ", " : "", missing, r->t->n_runs);
    lra_table_cell(t, "%s", text.s ? text.s : "");
    lra_text_free(&text);
}

static void add_row(lra_table *table, const row *r)
{
    const lra_tuning_result *t = r->t;
    const lra_trial *best = t->best < 0 ? NULL : &t->trial[t->best];
    const lra_result *first = t->n_runs && t->result[0] ? t->result[0] : t->trial[0].result[0];
    char *settings = other_settings(t->settings);
    lra_text trials = {0};
    lra_table_row(table);
    lra_table_cell(table, "%s", t->task);
    lra_table_model(table, t->model, t->model, first ? first->config : "");
    lra_table_cell(table, "%s", settings);
    lra_table_cell(table, "%s", t->preset);
    lra_table_cell(table, "%s", t->key);
    lra_table_value(table, best ? best->value : NAN, best ? "%.6g" : "-", best ? best->value : 0);
    lra_table_value(table, best ? best->factor : NAN, best ? "%.4g" : "-", best ? best->factor : 0);
    lra_table_cell(table, "%s", edge_of(t));
    for (int w = 0; w < WINDOWS; w++) add_window(table, &r->window[w]);
    add_metric(table, r->metric, t->best < 0 ? NAN : lra_tuning_score(t, t->best));
    lra_table_value(table, t->n_seeds, "%d", t->n_seeds);
    bool at_chance = add_test(table, r);
    add_remarks(table, r, at_chance);
    lra_table_number(table, t->base, 6);
    for (int w = 0; w < WINDOWS; w++)
        lra_table_value(table, r->window[w].width.from_edge, "%d", r->window[w].width.from_edge);
    for (int i = 0; i < t->n; i++)
        lra_text_add(&trials, "%s%.6g:%.6g", i ? " " : "", t->trial[i].value,
                     lra_tuning_score(t, i));
    lra_table_cell(table, "%s", trials.s ? trials.s : "");
    lra_text_free(&trials);
    lra_free(settings);
}

/* ---- notes ----------------------------------------------------------------------------------- */

/* Adds advice if chosen values lie at an end of the grid. */
static void add_advice(lra_table *table, int n, lra_tuning_result *const *list)
{
    lra_text names = {0};
    int ends[2] = {0};
    for (int i = 0; i < n; i++) {
        const lra_tuning_result *t = list[i];
        bool largest = t->best == t->n - 1;
        if (t->best != 0 && !largest) continue;
        if (ends[0] + ends[1] < 8)
            lra_text_add(&names, "%s%s (%s)", names.n ? ", " : "", t->model, edge_of(t));
        ends[largest]++;
    }
    if (names.n)
        lra_table_note(table,
                       "edge\tthe chosen value is an end of the grid, so that a better one may lie "
                       "beyond it: extend --tune with %s%s%s factors; %s%s",
                       ends[0] ? "smaller" : "", ends[0] && ends[1] ? " and " : "",
                       ends[1] ? "larger" : "", names.s, ends[0] + ends[1] > 8 ? ", ..." : "");
    lra_text_free(&names);
}

static void add_notes(lra_table *table, int n, lra_tuning_result *const *list)
{
    bool one_seed = false;
    for (int i = 0; i < n; i++) one_seed = one_seed || list[i]->n_seeds == 1;
    add_advice(table, n, list);
    lra_table_note(table,
                   "chosen\tvalue of the setting with the best mean validation metric over the "
                   "tuning seeds, which the test metric does not use");
    lra_table_note(table, "factor\tchosen value / value of the preset and of --set");
    lra_table_note(
        table, "window 1, 5\twidest range of neighbouring values whose mean validation accuracy "
               "is at most 1 or 5 points below the best, in octaves (1 = a factor of 2); 0: no "
               "neighbour of that value works; >=: the range reaches an end of the grid, and "
               "its width is a lower bound");
    lra_table_note(
        table,
        "window CI\t95 %% interval of that width, simultaneous over all pairs of values, "
        "over validation examples (normal)%s",
        one_seed ? "; with one tuning seed the variation over seeds is not known"
                 : " and tuning seeds (Student t)");
    lra_table_note_ci(table);
    lra_table_note(table, "at chance\tthe interval includes the value of chance, or is worse");
}

/* Verdict: how often the value of the preset is the best, and how often the grid is too small. */
static void add_verdict(lra_table *table, int n, lra_tuning_result *const *list)
{
    int usual = 0, ends = 0;
    for (int i = 0; i < n; i++) {
        const lra_tuning_result *t = list[i];
        usual += t->best >= 0 && fabs(t->trial[t->best].factor - 1) < 1e-9;
        ends += strcmp(edge_of(t), "-") != 0;
    }
    lra_verdict_add(&table->verdict,
                    "factor 1, the value of the preset, is chosen for %d of %d combination%s; the "
                    "chosen value is an end of the grid for %d of %d.",
                    usual, n, n == 1 ? "" : "s", ends, n);
}

static int make(const lra_report_input *in, lra_table ***list, lra_err *e)
{
    if (in->n_tunings == 0)
        return lra_fail(e, "no choices of settings; 'lra-probe sweep --tune' makes them");
    lra_table *t = lra_table_new("Tuned settings: the value that trials have chosen, and the test "
                                 "metric with it",
                                 COLUMNS, head);
    lra_table_keys(t, key);
    for (int i = 0; i < in->n_tunings; i++) {
        row r = row_of(in->tunings[i]);
        add_row(t, &r);
    }
    add_notes(t, in->n_tunings, in->tunings);
    add_verdict(t, in->n_tunings, in->tunings);
    *list = lra_alloc(sizeof **list);
    (*list)[0] = t;
    return 1;
}

const lra_report_table lra_table_tuned = {
    "tuned", "setting chosen by trials for each model, window of values that work, test metric",
    make, LRA_FROM_TUNING, NULL};
