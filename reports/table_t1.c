/* Table T1: Table 1 of "On the locality bias and results in the LRA", measured beside published.  Only
 * results of the `paper` preset stand here; others have the table `ladder`. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "reports/ladder_notes.h"
#include "reports/published.h"
#include "reports/report.h"
#include "reports/table.h"

enum { COLUMNS = 11 };
static const char *const head[COLUMNS] = {"task",    "kernel", "reach",       "measured %",
                                          "95 %",    "seeds",  "published %", "difference",
                                          "of MEGA", "preset", "prec."};

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

static void add_rung(lra_table *t, const lra_ladder_view *v, int r)
{
    const lra_ladder_row *row = &v->ladder.row[r];
    char variant[32];
    snprintf(variant, sizeof variant, "kernel=%" PRId64, row->kernel);
    const char *task = v->first->task;
    double measured = 100 * row->accuracy.value;
    double published = lra_published("locality", "1", "resconv", variant, task, "accuracy");
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

/* The mean of a kernel over all tasks, where every ladder has it. */
static void add_mean(lra_table *t, const lra_ladder_view *views, int n, int64_t kernel)
{
    double *value = lra_alloc_array((size_t)n, sizeof *value);
    lra_variance *variance = lra_alloc_array((size_t)n, sizeof *variance);
    int m = 0;
    for (int i = 0; i < n; i++)
        for (int r = 0; r < views[i].ladder.n_rungs && is_paper(&views[i]); r++) {
            if (views[i].ladder.row[r].kernel != kernel) continue;
            double g[LRA_MAX_SERIES] = {0};
            g[r] = 1;
            lra_sample *s = lra_ladder_sample(&views[i].data, &views[i].ladder);
            value[m] = s->series[r].value, variance[m++] = lra_contrast_variance(s, g);
            lra_sample_free(s);
        }
    lra_estimate x = lra_mean_of_tasks(m, value, variance);
    if (m > 1)
        lra_table_note(t, "mean over %d tasks: K = %" PRId64 " %.2f %% (%.2f to %.2f)", m, kernel,
                       100 * x.value, 100 * x.lo, 100 * x.hi);
    lra_free(value);
    lra_free(variance);
}

static int make(const lra_report_input *in, lra_table ***list, lra_err *e)
{
    lra_ladder_view *views;
    int n_views = lra_ladder_accuracy_views(in->list, in->n, &in->scale, &views, e), n_rows = 0;
    if (n_views < 0) return n_views;
    lra_table *t = lra_table_new("Table 1 of the locality paper: measured beside published",
                                 COLUMNS, head);
    lra_table_keys(t, key);
    for (int i = 0; i < n_views; i++) {
        if (!is_paper(&views[i]) || !lra_ladder_is_plain(&views[i].kind)) continue;
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
            lra_table_note(t, "%s deviates: %.*s", views[i].first->task, (int)strcspn(line, "\n"),
                           line);
    }
    int first = 0;
    while (first < n_views && !is_paper(&views[first])) first++;
    for (int r = 0; first < n_views && r < views[first].ladder.n_rungs; r++)
        add_mean(t, views, n_views, views[first].ladder.row[r].kernel);
    lra_table_note(t, "of MEGA: measured accuracy over the published accuracy of MEGA, in %%");
    lra_ladder_views_free(views, n_views);
    if (n_rows > 0) {
        *list = lra_alloc(sizeof **list);
        (*list)[0] = t;
        return 1;
    }
    lra_table_free(t);
    return lra_fail(e, "no results of preset 'paper' among %d; table 'ladder' shows the others",
                    in->n);
}

const lra_report_table lra_table_t1 = {
    "T1", "Table 1 of the locality paper, measured beside published", make, LRA_FROM_RESULTS};
