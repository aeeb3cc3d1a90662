/* Result files. */
#include "reports/result.h"

#include <string.h>

#include "kernels/base/file.h"
#include "kernels/base/h5.h"
#include "kernels/base/mem.h"
#include "reports/fields.h"
#include "reports/places.h"

enum { COLUMNS = 7, MAX_ROWS = 1 << 26, MAX_CLASSES = 1 << 20 };

/* Attributes of the root, by name. */
static const lra_field fields[] = {{LRA_MEMBER(lra_result, task), LRA_FIELD_TEXT, 0},
                                   {LRA_MEMBER(lra_result, model), LRA_FIELD_TEXT, 0},
                                   {LRA_MEMBER(lra_result, preset), LRA_FIELD_TEXT, 0},
                                   {LRA_MEMBER(lra_result, precision), LRA_FIELD_TEXT, 0},
                                   {LRA_MEMBER(lra_result, device), LRA_FIELD_TEXT, 0},
                                   {LRA_MEMBER(lra_result, revision), LRA_FIELD_TEXT, 0},
                                   {LRA_MEMBER(lra_result, fingerprint), LRA_FIELD_TEXT, 0},
                                   {LRA_MEMBER(lra_result, run), LRA_FIELD_TEXT, 0},
                                   {LRA_MEMBER(lra_result, seed), LRA_FIELD_INT, 0},
                                   {LRA_MEMBER(lra_result, kernel), LRA_FIELD_INT, 0},
                                   {LRA_MEMBER(lra_result, reach), LRA_FIELD_INT, -1},
                                   {LRA_MEMBER(lra_result, max_length), LRA_FIELD_INT, 1},
                                   {LRA_MEMBER(lra_result, parameters), LRA_FIELD_INT, 0},
                                   {LRA_MEMBER(lra_result, steps), LRA_FIELD_INT, 0},
                                   {LRA_MEMBER(lra_result, skipped), LRA_FIELD_INT, 0},
                                   {LRA_MEMBER(lra_result, best_epoch), LRA_FIELD_INT, -1},
                                   {LRA_MEMBER(lra_result, seconds), LRA_FIELD_REAL, 0},
                                   {LRA_MEMBER(lra_result, step_flops), LRA_FIELD_REAL, 0},
                                   {LRA_MEMBER(lra_result, padding), LRA_FIELD_REAL, 0}};
enum { N_FIELDS = sizeof fields / sizeof *fields };

/* ---- write -------------------------------------------------------------------------------------------- */

static int write_fields(const lra_result *r, lra_h5 *f, lra_err *e)
{
    int rc = lra_fields_write(f, fields, N_FIELDS, r, e);
    if (rc == 0) rc = lra_h5_put_text(f, "/config", r->config, e);
    if (rc == 0) rc = lra_h5_put_text(f, "/versions", r->versions, e);
    if (rc == 0) rc = lra_h5_put_text(f, "/deviations", r->deviations, e);
    if (rc == 0 && r->grid > 0) rc = lra_h5_set_int(f, "/", "grid", r->grid, e);
    return rc;
}

static int write_arrays(const lra_result *r, lra_h5 *f, lra_err *e)
{
    const int64_t history[] = {r->n_epochs, COLUMNS}, logits[] = {r->n, r->n_classes};
    int rc = lra_h5_put(f, "/history", LRA_H5_F64, 2, history, r->history, e);
    if (rc == 0) rc = lra_h5_put(f, "/test/logits", LRA_H5_F32, 2, logits, r->logits, e);
    if (rc == 0) rc = lra_h5_put(f, "/test/label", LRA_H5_I32, 1, &r->n, r->label, e);
    for (int b = 0; b < r->n_baselines && rc == 0; b++) {
        char *path = lra_format("/baseline/%s", r->baseline_name[b]);
        rc = lra_h5_put(f, path, LRA_H5_I32, 1, &r->n, r->baseline[b], e);
        lra_free(path);
    }
    return rc;
}

int lra_result_write(const char *path, const lra_result *r, lra_err *e)
{
    lra_h5 *f = lra_h5_create(path, "result", e);
    if (!f) return LRA_FAILED;
    if (write_fields(r, f, e) == 0 && write_arrays(r, f, e) == 0) return lra_h5_commit(f, e);
    lra_h5_close(f);
    return LRA_FAILED;
}

/* ---- read --------------------------------------------------------------------------------------------- */

static int read_fields(lra_result *r, lra_h5 *f, lra_err *e)
{
    int rc = lra_fields_read(f, fields, N_FIELDS, r, e);
    char **texts[] = {&r->config, &r->versions, &r->deviations};
    const char *const paths[] = {"/config", "/versions", "/deviations"};
    for (int i = 0; i < 3 && rc == 0; i++) {
        *texts[i] = lra_h5_get_text(f, paths[i], e);
        rc = *texts[i] ? 0 : LRA_FAILED;
    }
    if (rc == 0 && lra_h5_has_attr(f, "/", "grid")) {
        rc = lra_h5_get_int(f, "/", "grid", &r->grid, e);
        if (rc == 0 && (r->grid < 0 || r->grid > r->max_length))
            rc = lra_fail(e, "'grid' is %lld, expected 0 to %lld", (long long)r->grid,
                          (long long)r->max_length);
    }
    return rc;
}

static int read_test(lra_result *r, lra_h5 *f, lra_err *e)
{
    lra_h5_info logits;
    if (lra_h5_find(f, "/test/logits", &logits, e) != 0) return LRA_FAILED;
    if (logits.rank != 2 || logits.dims[0] < 1 || logits.dims[0] > MAX_ROWS || logits.dims[1] < 1 ||
        logits.dims[1] > MAX_CLASSES)
        return lra_fail(e, "'/test/logits' is no table of sensible size");
    if (logits.type != LRA_H5_F32) return lra_fail(e, "'/test/logits' does not hold float32");
    r->n = logits.dims[0], r->n_classes = logits.dims[1];
    r->logits = lra_try_array(logits.n, sizeof *r->logits, "/test/logits", e);
    if (!r->logits) return LRA_FAILED;
    r->label = lra_try_array(r->n, sizeof *r->label, "/test/label", e);
    if (!r->label) return LRA_FAILED;
    if (lra_h5_get(f, "/test/logits", LRA_H5_F32, 2, logits.dims, r->logits, e) != 0)
        return LRA_FAILED;
    if (lra_h5_get(f, "/test/label", LRA_H5_I32, 1, &r->n, r->label, e) != 0) return LRA_FAILED;
    for (int64_t i = 0; i < r->n; i++)
        if (r->label[i] < 0 || r->label[i] >= r->n_classes)
            return lra_fail(e, "'/test/label': %d, expected 0 to %lld", r->label[i],
                            (long long)r->n_classes - 1);
    return 0;
}

static int read_history(lra_result *r, lra_h5 *f, lra_err *e)
{
    lra_h5_info info;
    if (lra_h5_find(f, "/history", &info, e) != 0) return LRA_FAILED;
    if (info.rank != 2 || info.type != LRA_H5_F64 || info.dims[0] > MAX_ROWS ||
        info.dims[1] != COLUMNS)
        return lra_fail(e, "'/history' is not a table of %d columns of float64", COLUMNS);
    r->n_epochs = info.dims[0];
    r->history = lra_try_array(info.n + 1, sizeof *r->history, "/history", e);
    if (!r->history) return LRA_FAILED;
    return lra_h5_get(f, "/history", LRA_H5_F64, 2, info.dims, r->history, e);
}

static int read_baselines(lra_result *r, lra_h5 *f, lra_err *e)
{
    char **names;
    if (!lra_h5_has(f, "/baseline")) return 0;
    int n = lra_h5_list(f, "/baseline", &names, e), rc = n < 0 ? LRA_FAILED : 0;
    if (n > LRA_MAX_BASELINES) rc = lra_fail(e, "%d baselines, at most %d", n, LRA_MAX_BASELINES);
    for (int b = 0; b < n && rc == 0; b++) {
        char *path = lra_format("/baseline/%s", names[b]);
        r->baseline[b] = lra_try_array(r->n, sizeof(int32_t), path, e);
        r->baseline_name[b] = lra_copy_text(names[b]);
        r->n_baselines++;
        rc = r->baseline[b] ? lra_h5_get(f, path, LRA_H5_I32, 1, &r->n, r->baseline[b], e)
                            : LRA_FAILED;
        for (int64_t i = 0; i < r->n && rc == 0; i++)
            if (r->baseline[b][i] < 0 || r->baseline[b][i] >= r->n_classes)
                rc = lra_fail(e, "'%s': %d, expected 0 to %lld", path, r->baseline[b][i],
                              (long long)r->n_classes - 1);
        lra_free(path);
    }
    if (n > 0) lra_h5_free_names(names, n);
    return rc;
}

lra_result *lra_result_read(const char *path, lra_err *e)
{
    lra_h5 *f = lra_h5_open(path, "result", e);
    if (!f) return NULL;
    lra_result *r = lra_alloc(sizeof *r);
    int rc = read_fields(r, f, e);
    if (rc == 0) rc = read_history(r, f, e);
    if (rc == 0) rc = read_test(r, f, e);
    if (rc == 0) rc = read_baselines(r, f, e);
    lra_h5_close(f);
    if (rc == 0) return r;
    lra_fail_in(e, "cannot read '%s'", path);
    lra_result_free(r);
    return NULL;
}

void lra_result_free(lra_result *r)
{
    if (!r) return;
    lra_fields_free(fields, N_FIELDS, r);
    lra_free(r->config);
    lra_free(r->versions);
    lra_free(r->deviations);
    lra_free(r->history);
    lra_free(r->logits);
    lra_free(r->label);
    for (int b = 0; b < r->n_baselines; b++) {
        lra_free(r->baseline_name[b]);
        lra_free(r->baseline[b]);
    }
    lra_free(r);
}

/* ---- what follows from it ------------------------------------------------------------------------------ */

uint8_t *lra_result_correct(const lra_result *r)
{
    uint8_t *right = lra_alloc((size_t)r->n + 1);
    for (int64_t i = 0; i < r->n; i++) {
        const float *row = r->logits + i * r->n_classes;
        int64_t best = 0;
        for (int64_t c = 1; c < r->n_classes; c++)
            if (row[c] > row[best]) best = c;
        right[i] = best == r->label[i];
    }
    return right;
}

double lra_result_chance(const lra_result *r)
{
    int64_t *count = lra_alloc_array((size_t)r->n_classes, sizeof *count), most = 0;
    for (int64_t i = 0; i < r->n; i++)
        if (++count[r->label[i]] > most) most = count[r->label[i]];
    lra_free(count);
    return r->n ? (double)most / (double)r->n : 0;
}

double lra_result_baseline_accuracy(const lra_result *r, const char *name)
{
    for (int b = 0; b < r->n_baselines; b++) {
        if (strcmp(r->baseline_name[b], name) != 0) continue;
        int64_t right = 0;
        for (int64_t i = 0; i < r->n; i++) right += r->baseline[b][i] == r->label[i];
        return (double)right / (double)r->n;
    }
    return -1;
}

const char *lra_result_simple_baseline(const lra_result *r, double *accuracy)
{
    const char *best = NULL;
    for (int b = 0; b < r->n_baselines; b++) {
        const char *name = r->baseline_name[b];
        if (strcmp(name, "constant") == 0 || strncmp(name, "shallow-", 8) == 0) continue;
        double a = lra_result_baseline_accuracy(r, name);
        if (best && a <= *accuracy) continue;
        best = name;
        *accuracy = a;
    }
    return best;
}

/* ---- many ---------------------------------------------------------------------------------------------- */

int lra_results_load(int n, const char *const *place, lra_result ***list, lra_err *e)
{
    char **paths;
    int n_paths = lra_places_find(n, place, "result.h5", &paths, e), done = 0;
    *list = NULL;
    if (n_paths < 0) return LRA_FAILED;
    *list = lra_alloc_array((size_t)n_paths + 1, sizeof **list);
    for (; done < n_paths; done++) {
        (*list)[done] = lra_result_read(paths[done], e);
        if (!(*list)[done]) break;
    }
    lra_names_free(paths, n_paths);
    if (done == n_paths) return done;
    lra_results_free(*list, done);
    *list = NULL;
    return LRA_FAILED;
}

void lra_results_free(lra_result **list, int n)
{
    for (int i = 0; i < n; i++) lra_result_free(list[i]);
    lra_free(list);
}
