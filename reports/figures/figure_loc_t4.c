/* Figure loc-T4: positions of Transformers: accuracy on five tasks and their average, with
 * learned, sinusoidal and rotary positions and the training techniques of the paper, and with
 * rotary positions without them. Hollow points are published values.
 * Source: table 4 of "On the locality bias and results in the LRA", drawn as bars. */
#include <math.h>
#include <string.h>

#include "kernels/base/core/config.h"
#include "kernels/base/core/mem.h"
#include "reports/draw/groups.h"
#include "reports/report.h"
#include "reports/results/published.h"
#include "reports/results/result_metric.h"

enum { TASKS = 5, SERIES = 4 };
static const char *const tasks[TASKS] = {"image", "pathfinder", "text", "retrieval", "listops"};
/* The setting that enables the paper's technique on each task. */
static const char *const technique[TASKS][2] = {{"train.augment", "1"},
                                                {"task.sets", "three"},
                                                {"train.objective", "denoise"},
                                                {"train.objective", "denoise"},
                                                {"train.augment", "1"}};
static const struct {
    const char *name, *positions, *variant;
    bool techniques;
} series[SERIES] = {{"learned", "learned", "summed learned; techniques", true},
                    {"sinusoidal", "sinusoidal", "summed sinusoidal; techniques", true},
                    {"rotary, without techniques", "rotary", "rotary; no techniques", false},
                    {"rotary", "rotary", "rotary; techniques", true}};

/* Index of the task and, in *kind, of the series of a result; -1: it is in none. */
static int task_of(const lra_result *r, const lra_config *c, int *kind)
{
    const char *positions = lra_config_text_or(c, "model.positions", "rotary");
    if (strcmp(r->model, "transformer") != 0 || lra_config_has(c, "train.from") ||
        lra_config_has(c, "train.matched") || lra_config_real_or(c, "train.fraction", 1) < 1)
        return -1;
    if (strcmp(positions, "rotary-half") == 0) positions = "rotary";
    for (int t = 0; t < TASKS; t++) {
        if (strcmp(r->task, tasks[t]) != 0) continue;
        const char *objective = lra_config_text_or(c, "train.objective", "");
        bool on = strcmp(lra_config_text_or(c, technique[t][0], ""), technique[t][1]) == 0;
        if (*objective && strcmp(objective, "denoise") != 0) return -1;
        for (*kind = 0; *kind < SERIES; ++*kind)
            if (strcmp(series[*kind].positions, positions) == 0 && series[*kind].techniques == on)
                return t;
    }
    return -1;
}

static int add_group(const lra_result_group *g, lra_group_panel *panel, lra_plot *f, lra_err *e)
{
    const lra_result *r = g->run[0];
    lra_config *c = lra_config_parse(r->config, e);
    if (!c) return LRA_FAILED;
    int kind, t = task_of(r, c, &kind);
    lra_config_free(c);
    if (t < 0) return 0;
    lra_group_value *v = &panel->at[t][kind];
    if (!isnan(v->value))
        return lra_fail(
            e,
            "two configurations of 'transformer' on '%s' for one bar; select results by "
            "--label or name fewer",
            r->task);
    lra_estimate x = lra_results_value(g->run, g->n);
    v->value = 100 * x.value, v->lo = 100 * x.lo, v->hi = 100 * x.hi;
    for (int i = 0; i < g->n; i++) lra_plot_source(f, "run", g->run[i]->run);
    lra_plot_source(f, "data", r->fingerprint);
    return 1;
}

/* Adds published values, and the average of measured ones over all tasks, without interval. */
static void complete(lra_group_panel *panel)
{
    for (int k = 0; k < SERIES; k++) {
        double sum = 0;
        for (int t = 0; t <= TASKS; t++) {
            panel->at[t][k].published = lra_published("locality", "4", "transformer",
                                                      series[k].variant,
                                                      t < TASKS ? tasks[t] : "avg5", "accuracy");
            if (t < TASKS) sum += panel->at[t][k].value;
        }
        panel->at[TASKS][k].value = sum / TASKS;
    }
}

static int make(const lra_report_input *in, lra_plot *f, lra_err *e)
{
    lra_result_group *group;
    lra_group_panel *panel = lra_alloc(sizeof *panel);
    lra_groups g = {
        .bars = true, .n_groups = TASKS + 1, .n_series = SERIES, .n_panels = 1, .panel = panel};
    int n = lra_results_group(in->list, in->n, &group), rc = 0, found = 0;
    lra_group_panel_clear(panel);
    panel->title = "", panel->axis = "test accuracy (%)";
    for (int i = 0; i < n && rc >= 0; i++) {
        rc = add_group(&group[i], panel, f, e);
        found += rc > 0;
    }
    if (rc >= 0 && found == 0)
        rc = lra_fail(e, "no result of a Transformer with these positions on these tasks");
    if (rc >= 0) {
        complete(panel);
        for (int t = 0; t < TASKS; t++) g.group[t] = tasks[t];
        g.group[TASKS] = "average";
        for (int k = 0; k < SERIES; k++) g.series[k] = series[k].name;
        f->title = lra_copy_text("Positions of Transformers, with the paper's training techniques");
        lra_groups_draw(f, "loc-T4", &g);
    }
    lra_result_groups_free(group, n);
    lra_free(panel);
    return rc < 0 ? rc : 0;
}

const lra_report_figure lra_figure_loc_t4 = {
    "loc-T4", "accuracy of Transformers by kind of positions, with and without techniques", make,
    LRA_FROM_RESULTS};
