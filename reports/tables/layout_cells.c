/* Finds the results that fill the cells of a layout (layout_cells.h). */
#include "reports/tables/layout_cells.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/papers/techniques.h"

/* ---- settings of results --------------------------------------------------------------------- */

static const lra_layout_default defaults[] = {
    {"resconv", "kernel", "5"},
    {"dlr", "init", "structured"},
    {"transformer", "positions", "rotary"},
    {"spt-local", "positions", "sinusoidal"},
    {NULL, "causal", "0"},
    {NULL, "chunk", "0"},
    {NULL, "attention", "softmax"},
    {NULL, "memory", "256"},
    {NULL, "augment", "0"},
    {NULL, "sets", "one"},
    {NULL, "level", "hard"},
    {NULL, "objective", "classify"},
    {NULL, "fraction", "1"},
    {NULL, "permute-labels", "0"},
    {NULL, "from", "none"},
    {NULL, "matched", "none"},
};
enum { N_DEFAULTS = sizeof defaults / sizeof *defaults };

const lra_layout_default *lra_layout_default_at(int i)
{
    return i >= 0 && i < N_DEFAULTS ? &defaults[i] : NULL;
}

static const char *default_of(const char *model, const char *key)
{
    for (int i = 0; i < N_DEFAULTS; i++)
        if (strcmp(defaults[i].key, key) == 0 &&
            (!defaults[i].model || strcmp(defaults[i].model, model) == 0))
            return defaults[i].value;
    return "";
}

/* Value of a key of the configuration, under its owner; the default value if it is missing. */
static const char *value_of(const lra_config *config, const lra_result *r, const char *key)
{
    static const char *const owner[] = {"task", "model", "train"};
    const char *value = NULL;
    for (int i = 0; i < 3 && !value; i++) {
        char *name = lra_format("%s.%s", owner[i], key);
        value = lra_config_text_or(config, name, NULL);
        lra_free(name);
    }
    return value ? value : default_of(r->model, key);
}

/* ---- a cell ---------------------------------------------------------------------------------- */

/* Settings of results in place of those of the sweep: `techniques` becomes the settings of the
 * technique, and unstated settings get their values. */
static void complete(lra_config *c)
{
    static const char *const unstated[] = {"augment", "sets",    "fraction", "permute-labels",
                                           "from",    "matched", "causal"};
    const lra_technique *x = lra_technique_find(lra_config_text_or(c, "techniques", NULL),
                                                lra_config_text_or(c, "task", ""));
    char *first = lra_format("%.*s", x && x->settings ? (int)strcspn(x->settings, " ") : 0,
                             x && x->settings ? x->settings : "");
    size_t n = strcspn(first, "=");
    if (first[n]) {
        first[n] = 0;
        if (!lra_config_has(c, first)) lra_config_set(c, first, first + n + 1);
    }
    lra_free(first);
    if (!lra_config_has(c, "objective")) lra_config_set(c, "objective", "classify");
    for (size_t i = 0; i < sizeof unstated / sizeof *unstated; i++)
        if (!lra_config_has(c, unstated[i]))
            lra_config_set(c, unstated[i], default_of("", unstated[i]));
    lra_config_remove(c, "techniques");
    lra_config_remove(c, "preset");
}

/* True if `run`, the hash of a related run, is a run of the same task and model with this
 * objective. */
static bool is_relation(const char *run, const char *objective, const lra_result *r,
                        lra_result *const *list, int n)
{
    int i = 0;
    while (i < n && strcmp(list[i]->run, run) != 0) i++;
    if (i == n || strcmp(list[i]->task, r->task) != 0 || strcmp(list[i]->model, r->model) != 0)
        return false;
    lra_err e;
    lra_config *c = lra_config_parse(list[i]->config, &e);
    bool is = c && strcmp(lra_config_text_or(c, "train.objective", "classify"), objective) == 0;
    lra_config_free(c);
    return is;
}

static bool has_setting(const lra_config *config, const lra_result *r, const char *key,
                        const char *value, lra_result *const *list, int n)
{
    if (strcmp(key, "task") == 0) return strcmp(r->task, value) == 0;
    if (strcmp(key, "model") == 0) return strcmp(r->model, value) == 0;
    const char *own = value_of(config, r, key);
    bool relation = strcmp(key, "from") == 0 || strcmp(key, "matched") == 0;
    if (relation && strcmp(value, "none") != 0)
        return strcmp(own, "none") != 0 && is_relation(own, value, r, list, n);
    return strcmp(own, value) == 0;
}

/* False if the cell has the settings of another paper than the result. Older files do not contain
 * the paper. */
static bool is_of_paper(const lra_layout *l, int row, int column, const lra_result *r)
{
    lra_config *c = lra_layout_settings(l, row, column, NULL, NULL);
    const char *preset = c ? lra_config_text_or(c, "preset", "") : "";
    const char *paper = strchr(preset, ':');
    bool is = strcmp(r->preset, "paper") != 0 || !paper || !r->paper || !*r->paper ||
              strcmp(paper + 1, r->paper) == 0;
    lra_config_free(c);
    return is;
}

bool lra_layout_fills(const lra_layout *l, int row, int column, const lra_result *r,
                      lra_result *const *list, int n)
{
    lra_err e;
    /* With "quick", the cell has no settings of preset `paper`, such as sizes and rates, so that
     * these are free. */
    lra_config *cell = lra_layout_settings(l, row, column, "quick", NULL);
    lra_config *config = cell ? lra_config_parse(r->config, &e) : NULL;
    bool fills = config && is_of_paper(l, row, column, r);
    if (fills) complete(cell);
    for (int i = 0; fills && lra_config_key(cell, i); i++)
        fills = has_setting(config, r, lra_config_key(cell, i), lra_config_value(cell, i), list, n);
    lra_config_free(cell);
    lra_config_free(config);
    return fills;
}

/* ---- views ----------------------------------------------------------------------------------- */

const lra_layout_cell *lra_layout_cell_at(const lra_layout_view *v, int row, int column)
{
    return &v->cell[row * v->layout->n_columns + column];
}

/* Mean validation value of a group; NAN: not recorded. */
static double validation_of(const lra_result_group *g)
{
    double sum = 0;
    for (int i = 0; i < g->n; i++) sum += lra_result_val_value(g->run[i]) / g->n;
    return sum;
}

static void put_group(lra_layout_cell *cell, const lra_result_group *g)
{
    if (!cell->group) {
        cell->group = g;
        return;
    }
    cell->n_others++;
    const lra_metric *m = lra_result_metric(g->run[0]);
    if (lra_metric_better(m, validation_of(g), validation_of(cell->group))) cell->group = g;
}

/* Fills the cells of a view. Returns the number of cells with results. */
static int fill_view(lra_layout_view *v, lra_result *const *list, int n)
{
    const lra_layout *l = v->layout;
    int filled = 0;
    v->cell = lra_alloc_array((size_t)(l->n_rows * l->n_columns), sizeof *v->cell);
    for (int g = 0; g < v->n_groups; g++) {
        const lra_result *r = v->groups[g].run[0];
        if (strcmp(r->preset, v->preset) != 0 || strcmp(r->precision, v->precision) != 0) continue;
        for (int i = 0; i < l->n_rows; i++)
            for (int c = 0; c < l->n_columns; c++)
                if (lra_layout_fills(l, i, c, r, list, n)) {
                    put_group(&v->cell[i * l->n_columns + c], &v->groups[g]);
                    filled++;
                }
    }
    return filled;
}

static bool has_view(const lra_layout_view *views, int n, const lra_result *r)
{
    int i = 0;
    while (i < n && (strcmp(views[i].preset, r->preset) != 0 ||
                     strcmp(views[i].precision, r->precision) != 0))
        i++;
    return i < n;
}

int lra_layout_views(const lra_layout *l, lra_result *const *list, int n, lra_layout_view **views)
{
    lra_layout_view *v = lra_alloc_array((size_t)n + 1, sizeof *v);
    int n_views = 0;
    for (int i = 0; i < n; i++) {
        if (has_view(v, n_views, list[i])) continue;
        lra_layout_view *one = &v[n_views++];
        *one = (lra_layout_view){l, list[i]->preset, list[i]->precision, NULL, 0, NULL};
        one->n_groups = lra_results_group(list, n, &one->groups);
        if (fill_view(one, list, n) == 0) one->n_groups = -one->n_groups; /* negative: no results */
    }
    int kept = 0;
    for (int i = 0; i < n_views; i++) {
        if (v[i].n_groups > 0) {
            v[kept++] = v[i];
            continue;
        }
        lra_result_groups_free(v[i].groups, -v[i].n_groups);
        lra_free(v[i].cell);
    }
    if (kept == 0) {
        v[0] = (lra_layout_view){l, "", "", NULL, 0, NULL};
        fill_view(&v[0], NULL, 0);
    }
    *views = v;
    return kept > 0 ? kept : 1;
}

void lra_layout_views_free(lra_layout_view *views, int n)
{
    for (int i = 0; i < n; i++) {
        lra_result_groups_free(views[i].groups, views[i].n_groups);
        lra_free(views[i].cell);
    }
    lra_free(views);
}
