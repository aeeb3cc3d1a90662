/* Names cells by the settings in which their configurations differ (cell_names.h). */
#include "reports/views/cell_names.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/os/file.h"

/* One setting of a cell. */
typedef struct {
    int cell, at; /* at: index of the setting among the keys of the cell's configuration */
    const char *key, *value;
} setting;

static int by_setting(const void *a, const void *b)
{
    const setting *x = a, *y = b;
    int order = strcmp(x->key, y->key);
    if (order == 0) order = strcmp(x->value, y->value);
    return order ? order : x->cell - y->cell;
}

static int by_model(const void *a, const void *b)
{
    const lra_cell_identity *x = *(const lra_cell_identity *const *)a,
                            *y = *(const lra_cell_identity *const *)b;
    int order = strcmp(x->model, y->model);
    if (order == 0) order = strcmp(x->task, y->task);
    return order ? order : (x > y) - (x < y);
}

static bool has_own_place(const char *key)
{
    static const char *const not_said[] = {
        "seed", "version", "data", "model.kernel", "train.related", "train.from", "train.matched"};
    for (size_t k = 0; k < sizeof not_said / sizeof *not_said; k++)
        if (strcmp(key, not_said[k]) == 0) return true;
    return false;
}

void lra_settings_differ(int n, lra_config *const *config, bool **differs)
{
    int total = 0, m = 0;
    for (int c = 0; c < n; c++)
        for (int k = 0; config[c] && lra_config_key(config[c], k); k++) total++;
    setting *all = lra_alloc_array((size_t)total + 1, sizeof *all);
    for (int c = 0; c < n; c++) {
        int k = 0;
        for (; config[c] && lra_config_key(config[c], k); k++)
            all[m++] = (setting){c, k, lra_config_key(config[c], k),
                                 lra_config_value(config[c], k)};
        differs[c] = lra_alloc_array((size_t)k + 1, sizeof **differs);
    }
    qsort(all, (size_t)total, sizeof *all, by_setting);
    for (int from = 0, to; from < total; from = to) {
        to = from + 1;
        while (to < total && strcmp(all[to].key, all[from].key) == 0 &&
               strcmp(all[to].value, all[from].value) == 0)
            to++;
        for (int i = from; i < to && to - from < n; i++) differs[all[i].cell][all[i].at] = true;
    }
    lra_free(all);
}

static char *name_of(const lra_cell_identity *identity, const lra_config *config,
                     const bool *differs)
{
    lra_text t = {0};
    lra_text_add(&t, "%s", identity->model);
    if (identity->kernel) lra_text_add(&t, " K = %lld", (long long)identity->kernel);
    for (int k = 0; config && lra_config_key(config, k); k++) {
        const char *key = lra_config_key(config, k), *dot = strchr(key, '.');
        if (differs[k] && !has_own_place(key))
            lra_text_add(&t, " %s=%s", dot ? dot + 1 : key, lra_config_value(config, k));
        if (strcmp(key, "train.from") == 0) lra_text_add(&t, " pretrained");
    }
    if (identity->label && *identity->label) lra_text_add(&t, " [%s]", identity->label);
    return t.s;
}

/* Names n cells of one model and task. */
static void name_group(int n, const lra_cell_identity *const *identity,
                       const lra_cell_identity *first, char **name)
{
    lra_config **config = lra_alloc_array((size_t)n, sizeof *config);
    bool **differs = lra_alloc_array((size_t)n, sizeof *differs);
    for (int c = 0; c < n; c++) config[c] = lra_config_parse(identity[c]->config, NULL);
    lra_settings_differ(n, config, differs);
    for (int c = 0; c < n; c++) {
        name[identity[c] - first] = name_of(identity[c], config[c], differs[c]);
        lra_config_free(config[c]);
        lra_free(differs[c]);
    }
    lra_free(config);
    lra_free(differs);
}

char **lra_cell_names(int n, const lra_cell_identity *all)
{
    char **name = lra_alloc_array((size_t)n + 1, sizeof *name);
    const lra_cell_identity **sorted = lra_alloc_array((size_t)n + 1, sizeof *sorted);
    for (int c = 0; c < n; c++) sorted[c] = &all[c];
    qsort(sorted, (size_t)n, sizeof *sorted, by_model);
    for (int from = 0, to; from < n; from = to) {
        to = from + 1;
        while (to < n && strcmp(sorted[to]->model, sorted[from]->model) == 0 &&
               strcmp(sorted[to]->task, sorted[from]->task) == 0)
            to++;
        name_group(to - from, sorted + from, all, name);
    }
    lra_free(sorted);
    return name;
}

char **lra_result_group_names(int n, const lra_result_group *all)
{
    lra_cell_identity *identity = lra_alloc_array((size_t)n + 1, sizeof *identity);
    for (int k = 0; k < n; k++) {
        const lra_result *r = all[k].run[0];
        identity[k] = (lra_cell_identity){r->model, r->task, r->config, r->kernel, r->user_label};
    }
    char **name = lra_cell_names(n, identity);
    lra_free(identity);
    return name;
}

/* The lines of a configuration that are settings of the model (model: true), or all other lines.
 * The caller frees them. */
static char *lines_of(const char *config, bool model)
{
    lra_text t = {0};
    lra_text_add(&t, "%s", "");
    for (const char *at = config; *at;) {
        size_t n = strcspn(at, "\n");
        if ((strncmp(at, "model.", 6) == 0) == model) lra_text_add(&t, "%.*s\n", (int)n, at);
        at += n + (at[n] == '\n');
    }
    return t.s;
}

/* Scope within which the model settings of results are compared: preset, precision, and for preset
 * paper also the task. */
static char *scope_of(const lra_result *r)
{
    bool published = strcmp(r->preset, "paper") == 0;
    return lra_format("%s %s %s", r->preset, r->precision, published ? r->task : "");
}

/* Names by the model settings alone (model: true), or by all other settings and the label. */
static char **partial_names(int n, const lra_result_group *all, bool model)
{
    lra_cell_identity *identity = lra_alloc_array((size_t)n + 1, sizeof *identity);
    for (int k = 0; k < n; k++) {
        const lra_result *r = all[k].run[0];
        identity[k] = (lra_cell_identity){r->model, model ? scope_of(r) : lra_copy_text(r->task),
                                          lines_of(r->config, model), model ? r->kernel : 0,
                                          model ? "" : r->user_label};
    }
    char **name = lra_cell_names(n, identity);
    for (int k = 0; k < n; k++) {
        lra_free((void *)(uintptr_t)identity[k].task);
        lra_free((void *)(uintptr_t)identity[k].config);
    }
    lra_free(identity);
    return name;
}

char **lra_configuration_names(int n, const lra_result_group *all)
{
    char **name = partial_names(n, all, true), **other = partial_names(n, all, false);
    for (int k = 0; k < n; k++) {
        /* the part after the model: " epochs=2 [label]" */
        const char *rest = other[k] + strlen(all[k].run[0]->model);
        char *both = lra_format("%s%s", name[k], rest);
        lra_free(name[k]);
        name[k] = both;
    }
    lra_names_free(other, n);
    return name;
}
