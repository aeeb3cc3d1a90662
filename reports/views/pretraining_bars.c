/* Draws accuracies from scratch and after self-pretraining (pretraining_bars.h). */
#include "reports/views/pretraining_bars.h"

#include <math.h>
#include <string.h>

#include "kernels/base/core/config.h"
#include "kernels/base/core/mem.h"
#include "reports/draw/groups.h"
#include "reports/results/published.h"
#include "reports/results/result_metric.h"

static bool has_word(const char *words, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = words; *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        if (length == n && strncmp(at, word, n) == 0) return true;
        at += length;
    }
    return false;
}

/* ---- results --------------------------------------------------------------------------------- */

/* True if the run from which c was fine-tuned is among the results and predicts the next token. */
static bool is_causal(const lra_report_input *in, const lra_config *c)
{
    const char *from = lra_config_text_or(c, "train.from", "");
    for (int i = 0; i < in->n; i++)
        if (strcmp(in->list[i]->run, from) == 0 &&
            strstr(in->list[i]->config, "train.objective=pretrain-causal"))
            return true;
    return false;
}

/* The series of a result; -1: it is none of them: pretraining, or a run with techniques of other
 * papers. */
static int series_of(const lra_report_input *in, const lra_config *c)
{
    if (lra_config_has(c, "train.objective") || is_causal(in, c) ||
        lra_config_has(c, "train.augment") || lra_config_has(c, "task.sets") ||
        lra_config_real_or(c, "train.fraction", 1) < 1)
        return -1;
    return lra_config_has(c, "train.from")      ? LRA_BARS_PRETRAINED
           : lra_config_has(c, "train.matched") ? LRA_BARS_MATCHED
                                                : LRA_BARS_SCRATCH;
}

static int panel_of(const lra_pretraining_bars *s, const lra_result *r, const lra_config *c)
{
    for (int i = 0; i < s->n_panels; i++) {
        const lra_bars_panel *p = &s->panel[i];
        if (has_word(p->models, r->model) &&
            (!p->key || strcmp(lra_config_text_or(c, p->key, p->missing), p->value) == 0))
            return i;
    }
    return -1;
}

static int task_of(const lra_pretraining_bars *s, const char *task)
{
    for (int i = 0; i < s->n_tasks; i++)
        if (strcmp(s->task[i], task) == 0) return i;
    return -1;
}

static int add_group(const lra_pretraining_bars *s, const lra_report_input *in,
                     const lra_result_group *g, lra_group_panel *panel, lra_plot *f, lra_err *e)
{
    const lra_result *r = g->run[0];
    lra_config *c = lra_config_parse(r->config, e);
    if (!c) return LRA_FAILED;
    int series = series_of(in, c), at = panel_of(s, r, c), task = task_of(s, r->task);
    lra_config_free(c);
    if (series < 0 || at < 0 || task < 0 || lra_result_metric(r)->scale != 100) return 0;
    lra_group_value *v = &panel[at].at[task][series];
    if (!isnan(v->value))
        return lra_fail(e,
                        "two configurations of '%s' on '%s' for one bar; select results by --label "
                        "or name fewer",
                        r->model, r->task);
    lra_estimate x = lra_results_value(g->run, g->n);
    v->value = 100 * x.value, v->lo = 100 * x.lo, v->hi = 100 * x.hi;
    for (int i = 0; i < g->n; i++) lra_plot_source(f, "run", g->run[i]->run);
    lra_plot_source(f, "data", r->fingerprint);
    return 1;
}

/* ---- published values and averages ----------------------------------------------------------- */

static double published(const lra_bars_panel *p, int series, const char *task)
{
    const char *variant = series == LRA_BARS_SCRATCH   ? p->scratch
                          : series == LRA_BARS_MATCHED ? NULL
                                                       : p->pretrained;
    return p->table && variant ? lra_published("spt", p->table, p->model, variant, task, "accuracy")
                               : NAN;
}

/* Adds published values, and averages without intervals at index n_tasks. */
static void complete(const lra_pretraining_bars *s, lra_group_panel *panel)
{
    for (int i = 0; i < s->n_panels; i++)
        for (int k = 0; k < LRA_BARS_SERIES; k++) {
            double sum = 0, printed = 0;
            for (int t = 0; t < s->n_tasks; t++) {
                panel[i].at[t][k].published = published(&s->panel[i], k, s->task[t]);
                if (t >= s->averaged) continue;
                sum += panel[i].at[t][k].value;
                printed += panel[i].at[t][k].published;
            }
            lra_group_value *v = &panel[i].at[s->n_tasks][k];
            v->value = sum / s->averaged;
            v->published = s->panel[i].average ? published(&s->panel[i], k, s->panel[i].average)
                                               : printed / s->averaged;
        }
}

/* Removes the series of controls, if none was measured, so that series 1 is "pretrained". */
static int drop_matched(const lra_pretraining_bars *s, lra_group_panel *panel)
{
    for (int i = 0; i < s->n_panels; i++)
        for (int t = 0; t < s->n_tasks; t++)
            if (!isnan(panel[i].at[t][LRA_BARS_MATCHED].value)) return LRA_BARS_SERIES;
    for (int i = 0; i < s->n_panels; i++)
        for (int t = 0; t <= s->n_tasks; t++)
            panel[i].at[t][1] = panel[i].at[t][LRA_BARS_PRETRAINED];
    return 2;
}

int lra_pretraining_bars_make(const lra_pretraining_bars *s, const lra_report_input *in,
                              lra_plot *f, lra_err *e)
{
    lra_result_group *group;
    lra_group_panel *panel = lra_alloc_array((size_t)s->n_panels, sizeof *panel);
    int n = lra_results_group(in->list, in->n, &group), rc = 0, found = 0;
    for (int i = 0; i < s->n_panels; i++) {
        lra_group_panel_clear(&panel[i]);
        panel[i].title = s->panel[i].name;
        panel[i].axis = "test accuracy (%)";
    }
    for (int i = 0; i < n && rc >= 0; i++) {
        rc = add_group(s, in, &group[i], panel, f, e);
        found += rc > 0;
    }
    if (rc >= 0 && found == 0)
        rc = lra_fail(e, "no result of these models and tasks; 'lra-probe train' and 'lra-probe "
                         "train --from RUN' make them");
    if (rc >= 0) {
        lra_groups g = {.bars = true,
                        .n_groups = s->n_tasks + 1,
                        .n_panels = s->n_panels,
                        .panel = panel,
                        .series = {"from scratch", "from scratch, steps of both phases",
                                   "self-pretrained, then fine-tuned"}};
        complete(s, panel);
        g.n_series = drop_matched(s, panel);
        if (g.n_series == 2) g.series[1] = g.series[LRA_BARS_PRETRAINED];
        for (int t = 0; t < s->n_tasks; t++) g.group[t] = s->task[t];
        g.group[s->n_tasks] = "average";
        f->title = lra_copy_text(s->title);
        lra_groups_draw(f, s->figure, &g);
    }
    lra_result_groups_free(group, n);
    lra_free(panel);
    return rc < 0 ? rc : 0;
}
