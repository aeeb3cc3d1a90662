/* Creates, searches, frees and loads results of probes (probe_result.h). */
#include "reports/results/probe_result.h"

#include <stdarg.h>
#include <string.h>

#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/printable.h"
#include "reports/results/load_files.h"

const struct lra_probe_curve lra_probe_curves[LRA_PROBE_CURVES] = {
    {"gain", "1"}, {"value", "1"}, {"kl", "nats"}, {"key", "1"}, {"loss", "bits"}};

lra_probe_result *lra_probe_result_new(const char *probe, const lra_result *run,
                                       const lra_origin *origin)
{
    lra_probe_result *r = lra_alloc(sizeof *r);
    r->probe = lra_copy_text(probe);
    r->task = lra_copy_text(run->task), r->model = lra_copy_text(run->model);
    r->preset = lra_copy_text(run->preset), r->precision = lra_copy_text(run->precision);
    r->fingerprint = lra_copy_text(run->fingerprint), r->run = lra_copy_text(run->run);
    r->config = lra_copy_text(run->config), r->settings = lra_copy_text("");
    r->user_label = lra_copy_text(run->user_label ? run->user_label : "");
    r->left_out = lra_copy_text("");
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

void lra_probe_result_leave_out(lra_probe_result *r, const char *part, const char *reason)
{
    lra_text t = {0};
    size_t size = strlen(part);
    lra_text_add(&t, "%s", "");
    for (const char *at = r->left_out; *at;) {
        size_t n = strcspn(at, "\n");
        bool own = n > size && strncmp(at, part, size) == 0 && at[size] == ':';
        if (!own) lra_text_add(&t, "%.*s\n", (int)n, at);
        at += n + (at[n] == '\n');
    }
    if (reason) {
        char *line = lra_make_printable(lra_copy_text(reason));
        lra_text_add(&t, "%s: %s\n", part, line);
        lra_free(line);
    }
    lra_free(r->left_out);
    r->left_out = lra_copy_text(t.s);
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

void lra_probe_unit_measurements(lra_probe_unit *u, int n, const lra_measurement *list)
{
    u->measurement = lra_resize(u->measurement,
                                (size_t)(u->n_measurements + n) * sizeof *u->measurement + 1);
    for (int i = 0; i < n; i++) u->measurement[u->n_measurements++] = list[i];
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

const lra_measurement *lra_probe_measurement(const lra_probe_unit *u, const char *id)
{
    return lra_measurement_find(u->n_measurements, u->measurement, id);
}

static void free_unit(lra_probe_unit *u)
{
    for (int i = 0; i < u->n_arrays; i++) {
        lra_free(u->array[i].name);
        lra_free(u->array[i].value);
    }
    lra_free(u->array);
    lra_free(u->measurement);
    lra_free(u->name);
    lra_free(u);
}

void lra_probe_result_cut(lra_probe_result *r, int n)
{
    while (r->n_units > n) free_unit(r->unit[--r->n_units]);
}

void lra_probe_result_free(lra_probe_result *r)
{
    if (!r) return;
    char *text[] = {r->probe, r->task,   r->model,    r->preset,     r->precision, r->fingerprint,
                    r->run,   r->config, r->settings, r->user_label, r->left_out};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) lra_free(text[i]);
    for (int i = 0; i < r->n_units; i++) free_unit(r->unit[i]);
    lra_free(r->unit);
    lra_model_checks_free(&r->checks);
    lra_origin_free(&r->origin);
    lra_free(r);
}

static void *read_probe(const char *path, const char *file, lra_err *e)
{
    char *probe = lra_format("%.*s", (int)strcspn(file, "."), file);
    lra_probe_result *r = lra_probe_result_read(path, probe, e);
    lra_free(probe);
    return r;
}

static void free_probe(void *r)
{
    lra_probe_result_free(r);
}

/* True if the settings contain "skip=1": the kernels include the skip path D u, which is a
 * different measurement of the same run. */
static bool counts_skip(const lra_probe_result *r)
{
    const char *at = strstr(r->settings, "skip=1\n");
    return at && (at == r->settings || at[-1] == '\n');
}

char *lra_probe_identity(const lra_probe_result *r)
{
    static const char *const seed[] = {"seed="};
    char *run = lra_identity_text(r->task, r->preset, r->precision, r->fingerprint, r->config, 1,
                                  seed);
    char *all = lra_format("%s %s %s%s", r->probe, counts_skip(r) ? "skip" : "-", r->model, run);
    lra_free(run);
    return all;
}

static char *cell_of(const void *item)
{
    const lra_probe_result *r = item;
    char *configuration = lra_probe_identity(r);
    char *cell = lra_format("%s seed %lld", configuration, (long long)r->seed);
    lra_free(configuration);
    return cell;
}

static uint64_t add_digest(uint64_t to, const void *bytes, size_t n)
{
    const uint64_t both[] = {to, lra_hash64(bytes, n)};
    return lra_hash64(both, sizeof both);
}

static uint64_t unit_digest(const lra_probe_unit *u)
{
    uint64_t all = lra_hash64(u->name, strlen(u->name));
    for (int k = 0; k < u->n_arrays; k++) {
        size_t n = sizeof *u->array[k].value;
        for (int d = 0; d < u->array[k].rank; d++) n *= (size_t)u->array[k].dims[d];
        all = add_digest(all, u->array[k].value, n);
    }
    for (int k = 0; k < u->n_measurements; k++) {
        const lra_measurement *f = &u->measurement[k];
        const double number[] = {f->value, f->lo, f->hi};
        all = add_digest(all, f->id, strlen(f->id));
        all = add_digest(all, number, sizeof number);
        all = add_digest(all, f->null, sizeof f->null);
    }
    return all;
}

static uint64_t digest_of(const void *item)
{
    const lra_probe_result *r = item;
    uint64_t all = lra_hash64(r->settings, strlen(r->settings));
    for (int i = 0; i < r->n_units; i++) {
        uint64_t unit = unit_digest(r->unit[i]);
        all = add_digest(all, &unit, sizeof unit);
    }
    return all;
}

int lra_probe_results_load(int n, const char *const *place, const char *probe,
                           lra_probe_result ***list, lra_err *e)
{
    void **items;
    char *file = lra_format("%s.h5", probe);
    const lra_file_kind kind = {file, read_probe, free_probe, cell_of, digest_of};
    int n_items = lra_files_load(&kind, n, place, &items, e);
    lra_free(file);
    *list = (lra_probe_result **)items;
    return n_items;
}

void lra_probe_results_free(lra_probe_result **list, int n)
{
    for (int i = 0; i < n; i++) lra_probe_result_free(list[i]);
    lra_free(list);
}
