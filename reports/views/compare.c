/* Compares runs (compare.h). */
#include "reports/views/compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/decay.h"
#include "kernels/base/core/config.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/os/terminal.h"
#include "reports/results/result_metric.h"
#include "reports/views/measurement_columns.h"

/* The cells of a table row that is being filled: one text for each run, owned. */
typedef struct {
    int n;
    char *text[LRA_COMPARE_MOST];
    double x[LRA_COMPARE_MOST]; /* number in the cell; NAN: the cell is a text */
} cells;

static void set(cells *c, int i, char *text, double x)
{
    c->text[i] = text, c->x[i] = x;
}

/* Adds the row if its texts differ, or if `always` is set; frees the texts. */
static void add(lra_table *t, const char *kind, const char *what, cells *c, bool always)
{
    bool differ = always;
    for (int i = 1; i < c->n; i++) differ = differ || strcmp(c->text[i], c->text[0]) != 0;
    if (differ) {
        lra_table_row(t);
        lra_table_cell(t, "%s", kind);
        lra_table_cell(t, "%s", what);
        for (int i = 0; i < c->n; i++)
            if (isnan(c->x[i]))
                lra_table_cell(t, "%s", c->text[i]);
            else
                lra_table_value(t, c->x[i], "%s", c->text[i]);
    }
    for (int i = 0; i < c->n; i++) lra_free(c->text[i]);
}

/* ---- settings -------------------------------------------------------------------------------- */

static void add_texts(lra_table *t, const lra_report_input *in)
{
    static const char *const what[] = {"task", "model", "label", "preset", "precision", "data"};
    for (int k = 0; k < 6; k++) {
        cells c = {.n = in->n};
        for (int i = 0; i < in->n; i++) {
            const lra_result *r = in->list[i];
            const char *const text[] = {r->task,   r->model,     r->user_label ? r->user_label : "",
                                        r->preset, r->precision, r->fingerprint};
            set(&c, i, lra_copy_text(*text[k] ? text[k] : "-"), NAN);
        }
        add(t, "setting", what[k], &c, false);
    }
    cells c = {.n = in->n};
    for (int i = 0; i < in->n; i++)
        set(&c, i, lra_format("%" PRId64, in->list[i]->seed), (double)in->list[i]->seed);
    add(t, "setting", "seed", &c, false);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The keys of all configurations, ascending, without repetitions. The texts are not owned; the
 * caller frees the list. */
static const char **all_keys(int n, lra_config *const *config, int *n_keys)
{
    int total = 0, m = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; config[i] && lra_config_key(config[i], k); k++) total++;
    const char **key = lra_alloc_array((size_t)total + 1, sizeof *key);
    total = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; config[i] && lra_config_key(config[i], k); k++)
            key[total++] = lra_config_key(config[i], k);
    qsort(key, (size_t)total, sizeof *key, by_text);
    for (int i = 0; i < total; i++)
        if (m == 0 || strcmp(key[m - 1], key[i]) != 0) key[m++] = key[i];
    *n_keys = m;
    return key;
}

static void add_settings(lra_table *t, const lra_report_input *in)
{
    lra_config *config[LRA_COMPARE_MOST];
    int n_keys;
    lra_err ignored;
    for (int i = 0; i < in->n; i++) config[i] = lra_config_parse(in->list[i]->config, &ignored);
    const char **key = all_keys(in->n, config, &n_keys);
    for (int k = 0; k < n_keys; k++) {
        static const char *const shown[] = {"task", "model", "data", "precision", "seed"};
        bool own = true;
        for (int s = 0; s < 5; s++) own = own && strcmp(key[k], shown[s]) != 0;
        cells c = {.n = in->n};
        for (int i = 0; i < in->n && own; i++)
            set(&c, i,
                lra_copy_text(config[i] ? lra_config_text_or(config[i], key[k], "default") : "-"),
                NAN);
        if (own) add(t, "setting", key[k], &c, false);
    }
    lra_free(key);
    for (int i = 0; i < in->n; i++) lra_config_free(config[i]);
}

/* Adds rows for device, revision, threads, ..., but not for date and command. */
static void add_origin(lra_table *t, const lra_report_input *in)
{
    for (int k = 0;; k++) {
        char *text;
        const char *what = lra_origin_line(&in->list[0]->origin, k, &text);
        if (!what) return;
        lra_free(text);
        cells c = {.n = in->n};
        for (int i = 0; i < in->n; i++) {
            lra_origin_line(&in->list[i]->origin, k, &text);
            set(&c, i, text ? text : lra_copy_text("-"), NAN);
        }
        bool moment = strcmp(what, "date") == 0 || strcmp(what, "command") == 0;
        for (int i = 0; i < c.n && moment; i++) lra_free(c.text[i]);
        if (!moment) add(t, "origin", what, &c, false);
    }
}

/* ---- measurements ---------------------------------------------------------------------------- */

static void add_metric(lra_table *t, const lra_report_input *in)
{
    static const char *const what[] = {"test", "test CI", "chance", "validation", "training"};
    for (int k = 0; k < 5; k++) {
        cells c = {.n = in->n};
        for (int i = 0; i < in->n; i++) {
            lra_result *r = in->list[i];
            const lra_metric *m = lra_result_metric(r);
            lra_estimate v = lra_results_value(&r, 1);
            const double x[] = {v.value, NAN, lra_result_chance(r), lra_result_val_value(r),
                                r->train_value};
            char value[32];
            char *text = k == 1        ? lra_format("%.*f to %.*f", m->decimals, m->scale * v.lo,
                                                    m->decimals, m->scale * v.hi)
                         : isnan(x[k]) ? lra_copy_text("-")
                                       : lra_copy_text(lra_metric_value_text(m, x[k], value));
            set(&c, i, text, x[k]);
        }
        add(t, "measured", what[k], &c, k < 2);
    }
}

static void add_counts(lra_table *t, const lra_report_input *in)
{
    enum { REACH = 4 };
    static const char *const what[] = {"parameters", "steps", "best epoch",
                                       "epochs",     "reach", "test examples"};
    for (int k = 0; k < 6; k++) {
        cells c = {.n = in->n};
        for (int i = 0; i < in->n; i++) {
            const lra_result *r = in->list[i];
            const int64_t x[] = {r->training.parameters,
                                 r->training.steps,
                                 r->training.best_epoch,
                                 r->n_epochs,
                                 r->reach,
                                 r->n};
            bool all = k == REACH && r->reach < 0; /* unbounded reach */
            set(&c, i, all ? lra_copy_text("all") : lra_format("%" PRId64, x[k]), (double)x[k]);
        }
        add(t, "measured", what[k], &c, false);
    }
    cells c = {.n = in->n};
    for (int i = 0; i < in->n; i++) {
        char time[32];
        double seconds = in->list[i]->training.seconds;
        set(&c, i, lra_copy_text(lra_time_text(time, seconds)), seconds);
    }
    add(t, "measured", "time", &c, false);
}

static const lra_measurement *measurement_of(const lra_report_input *in, const lra_result *r,
                                             const char *probe, const char *unit, const char *id)
{
    for (int i = 0; i < in->n_probes; i++) {
        const lra_probe_result *p = in->probes[i];
        if (strcmp(p->probe, probe) != 0 || strcmp(p->run, r->run) != 0 || p->seed != r->seed)
            continue;
        const lra_probe_unit *u = lra_probe_unit_find(p, unit);
        return u ? lra_probe_measurement(u, id) : NULL;
    }
    return NULL;
}

static bool has_row(const lra_table *t, const char *what)
{
    for (int r = 0; r < t->n_rows; r++)
        if (strcmp(t->cell[r][1].text, what) == 0) return true;
    return false;
}

/* A value with four digits, or the name of a decay law. The caller frees it. */
static char *value_text(const lra_measurement *x)
{
    bool law = strcmp(x->unit, "kind") == 0 && x->value >= 0 && x->value <= 2;
    return law ? lra_copy_text(lra_decay_names[(int)x->value]) : lra_format("%.4g", x->value);
}

/* Adds rows for measurements of the complete model: of units that are neither layers nor heads,
 * without quartiles. */
static void add_measurements(lra_table *t, const lra_report_input *in)
{
    for (int p = 0; p < in->n_probes; p++)
        for (int u = 0; u < in->probes[p]->n_units; u++) {
            const lra_probe_unit *unit = in->probes[p]->unit[u];
            if (strstr(unit->name, "layer") || strstr(unit->name, "head")) continue;
            for (int f = 0; f < unit->n_measurements; f++) {
                const char *id = unit->measurement[f].id;
                char *what = lra_format("%s %s %s", in->probes[p]->probe, unit->name, id);
                cells c = {.n = in->n};
                bool known = strchr(id, ':') != NULL || has_row(t, what);
                for (int i = 0; i < in->n && !known; i++) {
                    const lra_measurement *x = measurement_of(in, in->list[i], in->probes[p]->probe,
                                                              unit->name, id);
                    bool there = x && !isnan(x->value);
                    set(&c, i, there ? value_text(x) : lra_copy_text("-"), there ? x->value : NAN);
                }
                if (!known) add(t, "measured", what, &c, false);
                lra_free(what);
            }
        }
}

/* Explains the ids in the rows from `first` on; an id is the last word of its row. */
static void note_ids(lra_table *t, int first)
{
    const char **id = lra_alloc_array((size_t)t->n_rows + 1, sizeof *id);
    int n = 0;
    for (int r = first; r < t->n_rows; r++) {
        const char *last = strrchr(t->cell[r][1].text, ' ');
        if (last) id[n++] = last + 1;
    }
    lra_note_measurements(t, n, id, true);
    lra_free(id);
}

lra_table *lra_compare_table(const lra_report_input *in, lra_err *e)
{
    char *head[2 + LRA_COMPARE_MOST];
    if (in->n < 2 || in->n > LRA_COMPARE_MOST) {
        lra_fail(e, "%d run%s given, expected 2 to %d", in->n, in->n == 1 ? "" : "s",
                 LRA_COMPARE_MOST);
        return NULL;
    }
    head[0] = lra_copy_text("kind"), head[1] = lra_copy_text("quantity");
    for (int i = 0; i < in->n; i++)
        head[2 + i] = lra_format("%s %.6s", in->list[i]->model, in->list[i]->run);
    lra_table *t = lra_table_new("Differences between runs", 2 + in->n, (const char *const *)head);
    for (int i = 0; i < in->n; i++) {
        lra_free(t->key[2 + i]);
        t->key[2 + i] = lra_copy_text(in->list[i]->run);
    }
    for (int i = 0; i < 2 + in->n; i++) lra_free(head[i]);
    add_texts(t, in);
    add_settings(t, in);
    add_origin(t, in);
    add_metric(t, in);
    add_counts(t, in);
    int first = t->n_rows;
    add_measurements(t, in);
    note_ids(t, first);
    lra_table_note(t, "default\tnot set by the run: the value of its preset");
    lra_table_note(t, "CI\t95 %% confidence interval of the test metric over test examples");
    return t;
}
