/* Table T1: measured and published values of Table 1 of "On the locality bias and results in the
 * LRA". It contains only results of the `paper` preset; table `ladder` contains those of other
 * presets. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/views/across_tasks.h"
#include "reports/ladder/ladder_notes.h"
#include "reports/ladder/ladder_views.h"
#include "reports/results/published.h"
#include "reports/report.h"
#include "reports/print/table.h"
#include "reports/verdict/verdict_results.h"

enum { COLUMNS = 11 };
static const char *const head[COLUMNS] = {
    "task",       "kernel", "reach",       "measured %",
    LRA_TABLE_CI, "seeds",  "published %", "difference (points)",
    "% of MEGA",  "preset", "precision"};

static const char *const key[COLUMNS] = {"task",
                                         "kernel",
                                         "reach",
                                         "measured_percent",
                                         "measured_percent_lo,measured_percent_hi",
                                         "seeds",
                                         "published_percent",
                                         "difference_points",
                                         "percent_of_mega",
                                         "preset",
                                         "precision"};

static double published_of(const lra_ladder_view *v, int r)
{
    char variant[32];
    snprintf(variant, sizeof variant, "kernel=%" PRId64, v->ladder.row[r].kernel);
    return lra_published("locality", "1", "resconv", variant, v->first->task, "accuracy");
}

static void add_rung(lra_table *t, const lra_ladder_view *v, int r)
{
    const lra_ladder_row *row = &v->ladder.row[r];
    const char *task = v->first->task;
    double measured = 100 * row->accuracy.value, published = published_of(v, r);
    double mega = lra_published("locality", "1", "mega", NULL, task, "accuracy");
    lra_table_row(t);
    lra_table_cell(t, "%s", task);
    lra_table_number(t, (double)row->kernel, 0);
    lra_table_number(t, (double)row->reach, 0);
    lra_table_number(t, measured, 2);
    lra_table_interval(t, 100 * row->accuracy.lo, 100 * row->accuracy.hi, 2);
    lra_table_number(t, v->data.n_seeds, 0);
    lra_table_number(t, published, 2);
    double difference = measured - published;
    lra_table_value(t, difference, isnan(difference) ? "-" : "%+.2f", difference);
    lra_table_number(t, 100 * measured / mega, 2);
    lra_table_cell(t, "%s", v->first->preset);
    lra_table_cell(t, "%s", v->first->precision);
}

static bool is_paper(const lra_ladder_view *v)
{
    return strcmp(v->first->preset, "paper") == 0;
}

static bool is_row(const lra_ladder_view *v)
{
    return is_paper(v) && lra_ladder_is_published(&v->kind);
}

/* Adds the mean of a kernel in one precision over the tasks with this rung; adds nothing if a task
 * has two ladders. */
static void add_mean(lra_table *t, const lra_ladder_view *views, int n, const char *precision,
                     int64_t kernel)
{
    lra_across_tasks all = {0};
    for (int i = 0; i < n; i++) {
        if (!is_row(&views[i]) || strcmp(views[i].first->precision, precision) != 0) continue;
        for (int r = 0; r < views[i].ladder.n_rungs; r++)
            if (views[i].ladder.row[r].kernel == kernel)
                lra_across_tasks_add(&all, views[i].first->task,
                                     lra_ladder_sample(&views[i].data, &views[i].ladder), r);
    }
    char label[64];
    snprintf(label, sizeof label, "K = %" PRId64 " (%s)", kernel, precision);
    lra_across_tasks_note(t, label, &all);
}

/* Adds the means of all kernels, in the order of the first ladder of each precision. */
static void add_means(lra_table *t, const lra_ladder_view *views, int n)
{
    for (int i = 0; i < n; i++) {
        const char *precision = views[i].first->precision;
        bool first = is_row(&views[i]);
        for (int k = 0; k < i && first; k++)
            first = !is_row(&views[k]) || strcmp(views[k].first->precision, precision) != 0;
        for (int r = 0; first && r < views[i].ladder.n_rungs; r++)
            add_mean(t, views, n, precision, views[i].ladder.row[r].kernel);
    }
}

static void add_verdict(lra_table *t, const lra_ladder_view *views, int n, int n_cells)
{
    lra_published_cell *cell = lra_alloc_array((size_t)n_cells + 1, sizeof *cell);
    int k = 0;
    for (int i = 0; i < n; i++)
        for (int r = 0; is_row(&views[i]) && r < views[i].ladder.n_rungs; r++) {
            const lra_ladder_row *row = &views[i].ladder.row[r];
            cell[k++] = (lra_published_cell){views[i].first, row->kernel, row->n_seeds,
                                             row->accuracy, published_of(&views[i], r) / 100};
        }
    lra_verdict_of_published(k, cell, &t->verdict);
    lra_free(cell);
}

static int make(const lra_report_input *in, lra_table ***list, lra_err *e)
{
    lra_ladder_view *views;
    int n_views = lra_ladder_accuracy_views(in->list, in->n, &in->scale, &views, e), n_rows = 0;
    if (n_views < 0) return n_views;
    lra_table *t = lra_table_new("Table 1 of the locality paper: measured and published accuracy",
                                 COLUMNS, head);
    lra_table_keys(t, key);
    for (int i = 0; i < n_views; i++) {
        if (!is_row(&views[i])) continue;
        for (int r = 0; r < views[i].ladder.n_rungs; r++, n_rows++) add_rung(t, &views[i], r);
        const lra_ladder *l = &views[i].ladder;
        char *index = lra_ladder_index_text(&views[i], l);
        lra_table_note(t, "%s: LI %s; reference %s %.2f %%, chance %.2f %%", views[i].first->task,
                       index, views[i].reference, 100 * l->reference, 100 * l->chance);
        lra_free(index);
        double accuracy = 0;
        const char *baseline = lra_result_simple_baseline(views[i].first, &accuracy);
        if (baseline)
            lra_table_note(t, "%s: baseline %s %.2f %%", views[i].first->task, baseline,
                           100 * accuracy);
        for (const char *line = views[i].first->deviations; *line; line += strcspn(line, "\n") + 1)
            lra_table_note(t, "%s deviates from the published setting: %.*s", views[i].first->task,
                           (int)strcspn(line, "\n"), line);
    }
    add_means(t, views, n_views);
    add_verdict(t, views, n_views, n_rows);
    lra_table_note(t, "%% of MEGA: measured accuracy in %% of the published accuracy of MEGA");
    lra_table_note_ci(t);
    lra_ladder_views_free(views, n_views);
    if (n_rows > 0) {
        *list = lra_alloc(sizeof **list);
        (*list)[0] = t;
        return 1;
    }
    lra_table_free(t);
    return lra_fail(e, "none of %d results has preset 'paper'; table 'ladder' shows other presets",
                    in->n);
}

const lra_report_table lra_table_t1 = {"T1",
                                       "Table 1 of the locality paper: measured and published "
                                       "accuracy",
                                       make, LRA_FROM_RESULTS, NULL};
