/* What probes measured: made, found, freed, loaded. */
#include "reports/probe_result.h"

#include <stdarg.h>
#include <string.h>

#include "kernels/base/file.h"
#include "kernels/base/mem.h"
#include "reports/result_files.h"

lra_probe_result *lra_probe_result_new(const char *probe, const lra_result *run,
                                       const lra_origin *origin)
{
    lra_probe_result *r = lra_alloc(sizeof *r);
    r->probe = lra_copy_text(probe);
    r->task = lra_copy_text(run->task), r->model = lra_copy_text(run->model);
    r->preset = lra_copy_text(run->preset), r->precision = lra_copy_text(run->precision);
    r->fingerprint = lra_copy_text(run->fingerprint), r->run = lra_copy_text(run->run);
    r->config = lra_copy_text(run->config), r->settings = lra_copy_text("");
    r->origin = *origin;
    r->seed = run->seed, r->kernel = run->kernel, r->reach = run->reach;
    r->max_length = run->max_length, r->grid = run->grid;
    return r;
}

void lra_probe_result_set(lra_probe_result *r, const char *key, const char *fmt, ...)
{
    lra_text t = {0};
    va_list args;
    lra_text_add(&t, "%s%s=", r->settings, key);
    va_start(args, fmt);
    lra_text_addv(&t, fmt, args);
    va_end(args);
    lra_text_add(&t, "\n");
    lra_free(r->settings);
    r->settings = lra_copy_text(t.s);
    lra_text_free(&t);
}

lra_probe_unit *lra_probe_unit_new(lra_probe_result *r, const char *name)
{
    lra_probe_unit *u = lra_alloc(sizeof *u);
    u->name = lra_copy_text(name);
    r->unit = lra_resize(r->unit, (size_t)(r->n_units + 1) * sizeof *r->unit);
    r->unit[r->n_units++] = u;
    return u;
}

void lra_probe_unit_array(lra_probe_unit *u, const char *name, int rank, const int64_t *dims,
                          const double *value)
{
    u->array = lra_resize(u->array, (size_t)(u->n_arrays + 1) * sizeof *u->array);
    lra_probe_array *a = &u->array[u->n_arrays++];
    int64_t n = 1;
    *a = (lra_probe_array){.name = lra_copy_text(name), .rank = rank};
    for (int d = 0; d < rank; d++) n *= a->dims[d] = dims[d];
    a->value = lra_alloc_array((size_t)n + 1, sizeof *a->value);
    for (int64_t i = 0; i < n; i++) a->value[i] = (float)value[i];
}

void lra_probe_unit_findings(lra_probe_unit *u, int n, const lra_finding *list)
{
    u->finding = lra_resize(u->finding, (size_t)(u->n_findings + n) * sizeof *u->finding + 1);
    for (int i = 0; i < n; i++) u->finding[u->n_findings++] = list[i];
}

const lra_probe_unit *lra_probe_unit_find(const lra_probe_result *r, const char *name)
{
    for (int i = 0; i < r->n_units; i++)
        if (strcmp(r->unit[i]->name, name) == 0) return r->unit[i];
    return NULL;
}

const lra_probe_array *lra_probe_array_find(const lra_probe_unit *u, const char *name)
{
    for (int i = 0; i < u->n_arrays; i++)
        if (strcmp(u->array[i].name, name) == 0) return &u->array[i];
    return NULL;
}

const lra_finding *lra_probe_finding(const lra_probe_unit *u, const char *id)
{
    return lra_finding_find(u->n_findings, u->finding, id);
}

static void free_unit(lra_probe_unit *u)
{
    for (int i = 0; i < u->n_arrays; i++) {
        lra_free(u->array[i].name);
        lra_free(u->array[i].value);
    }
    lra_free(u->array);
    lra_free(u->finding);
    lra_free(u->name);
    lra_free(u);
}

void lra_probe_result_free(lra_probe_result *r)
{
    if (!r) return;
    char *text[] = {r->probe,       r->task, r->model,  r->preset,  r->precision,
                    r->fingerprint, r->run,  r->config, r->settings};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) lra_free(text[i]);
    for (int i = 0; i < r->n_units; i++) free_unit(r->unit[i]);
    lra_free(r->unit);
    lra_origin_free(&r->origin);
    lra_free(r);
}

int lra_probe_results_load(int n, const char *const *place, const char *probe,
                           lra_probe_result ***list, lra_err *e)
{
    char **paths, *name = lra_format("%s.h5", probe);
    int n_paths = lra_result_files_find(n, place, name, &paths, e), done = 0;
    lra_free(name);
    *list = NULL;
    if (n_paths < 0) return LRA_FAILED;
    *list = lra_alloc_array((size_t)n_paths + 1, sizeof **list);
    for (; done < n_paths; done++) {
        (*list)[done] = lra_probe_result_read(paths[done], probe, e);
        if (!(*list)[done]) break;
    }
    lra_names_free(paths, n_paths);
    if (done == n_paths) return done;
    lra_probe_results_free(*list, done);
    *list = NULL;
    return LRA_FAILED;
}

void lra_probe_results_free(lra_probe_result **list, int n)
{
    for (int i = 0; i < n; i++) lra_probe_result_free(list[i]);
    lra_free(list);
}
