/* The HDF5 file of prepared data: /config; for own data also /properties and the attribute `name`;
 * for each split the arrays start, label, and those of token, value, target and middle that its
 * rows have. The attributes width, n_targets and step_targets are omitted if they are 1, 0 and
 * 0. */
#include "datasets/loader/cache.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "datasets/own/own.h"
#include "datasets/registry.h"
#include "kernels/base/os/file.h"
#include "kernels/base/formats/h5.h"
#include "kernels/base/core/mem.h"

enum { START, TOKEN, LABEL, VALUE, TARGET, MIDDLE, N_ARRAYS, MAX_WIDTH = 64 };

static const struct {
    const char *name;
    lra_h5_type type;
    size_t size;
} arrays[N_ARRAYS] = {
    {"start", LRA_H5_I64, sizeof(int64_t)}, {"token", LRA_H5_U16, sizeof(uint16_t)},
    {"label", LRA_H5_I32, sizeof(int32_t)}, {"value", LRA_H5_F32, sizeof(float)},
    {"target", LRA_H5_F32, sizeof(float)},  {"middle", LRA_H5_I64, sizeof(int64_t)}};

static int64_t n_steps(const lra_sequences *r)
{
    return r->n ? r->start[r->n] : 0;
}

/* Returns the number of elements of one array of a split; -1: the split has no such array. */
static int64_t length_of(const lra_sequences *r, int array)
{
    int64_t width = r->width ? r->width : 1;
    switch (array) {
    case START: return r->n + 1;
    case TOKEN: return r->value ? -1 : n_steps(r) * width;
    case LABEL: return r->n;
    case VALUE: return r->value ? n_steps(r) * width : -1;
    case TARGET: return r->n_targets ? (r->step_targets ? n_steps(r) : r->n) * r->n_targets : -1;
    default: return r->middle ? r->n : -1;
    }
}

static const void *data_of(const lra_sequences *r, int array)
{
    static const int64_t none;
    const void *const data[N_ARRAYS] = {
        r->n ? r->start : &none, r->token, r->label, r->value, r->target, r->middle};
    return data[array];
}

/* Computes the fingerprint of the data: a hash of start, token and label of all splits. Other
 * arrays and a width above 1 enter through one additional hash (0 if no split has any). For
 * own data the hash also covers the properties (lra_own_identity()). */
void lra_cache_fingerprint(lra_dataset *d)
{
    uint64_t parts[1 + 3 * LRA_N_SPLITS] = {0};
    for (int s = 0; s < LRA_N_SPLITS; s++) {
        const lra_sequences *r = &d->split[s];
        if (r->n == 0) continue;
        uint64_t more[1 + N_ARRAYS] = {(uint64_t)r->width};
        for (int k = 0; k < N_ARRAYS; k++) {
            int64_t n = length_of(r, k);
            if (n >= 0) more[1 + k] = lra_hash64(data_of(r, k), (size_t)n * arrays[k].size);
        }
        for (int k = START; k <= LABEL; k++) parts[1 + 3 * s + k] = more[1 + k];
        if (r->width != 1 || r->value || r->target || r->middle) {
            more[0] += parts[0];
            parts[0] = lra_hash64(more, sizeof more);
        }
    }
    uint64_t hash = lra_hash64(parts, sizeof parts);
    if (d->properties) {
        uint64_t both[2] = {hash, lra_hash64(d->properties, lra_own_identity(d->properties))};
        hash = lra_hash64(both, sizeof both);
    }
    snprintf(d->fingerprint, sizeof d->fingerprint, "%016" PRIx64, hash);
}

/* ---- write ----------------------------------------------------------------------------------- */

static int write_split(lra_h5 *f, int s, const lra_sequences *r, lra_err *e)
{
    char *group = lra_format("/%s", lra_split_names[s]);
    int rc = 0;
    for (int k = 0; k < N_ARRAYS && rc == 0; k++) {
        int64_t n = length_of(r, k);
        if (n < 0) continue;
        char *path = lra_format("%s/%s", group, arrays[k].name);
        rc = lra_h5_put(f, path, arrays[k].type, 1, &n, data_of(r, k), e);
        lra_free(path);
    }
    if (rc == 0 && r->width > 1) rc = lra_h5_set_int(f, group, "width", r->width, e);
    if (rc == 0 && r->n_targets) rc = lra_h5_set_int(f, group, "n_targets", r->n_targets, e);
    if (rc == 0 && r->step_targets) rc = lra_h5_set_int(f, group, "step_targets", 1, e);
    lra_free(group);
    return rc;
}

int lra_cache_write(const lra_dataset *d, const char *path, lra_err *e)
{
    lra_h5 *f = lra_h5_create(path, "data", e);
    if (!f) return LRA_FAILED;
    char *lines = lra_config_lines(d->config);
    int rc = lra_h5_put_text(f, "/config", lines, e);
    lra_free(lines);
    if (rc == 0) rc = lra_h5_set_text(f, "/", "task", lra_task_id(d->task), e);
    if (rc == 0 && d->name) rc = lra_h5_set_text(f, "/", "name", d->name, e);
    if (rc == 0) rc = lra_h5_set_text(f, "/", "fingerprint", d->fingerprint, e);
    int64_t n_words = d->words ? (int64_t)strlen(d->words) : 0;
    if (rc == 0 && d->words) rc = lra_h5_put(f, "/words", LRA_H5_U8, 1, &n_words, d->words, e);
    if (rc == 0 && d->words) rc = lra_h5_set_int(f, "/", "vocab", d->vocab, e);
    int64_t n_bytes = d->properties ? (int64_t)strlen(d->properties) : 0;
    if (rc == 0 && d->properties)
        rc = lra_h5_put(f, "/properties", LRA_H5_U8, 1, &n_bytes, d->properties, e);
    for (int s = 0; s < LRA_N_SPLITS && rc == 0; s++) rc = write_split(f, s, &d->split[s], e);
    if (rc == 0) return lra_h5_commit(f, e);
    lra_h5_close(f);
    return rc;
}

/* ---- read ------------------------------------------------------------------------------------ */

static int read_array(lra_h5 *f, const char *group, int array, void **data, int64_t *n, lra_err *e)
{
    lra_h5_info info;
    char *path = lra_format("%s/%s", group, arrays[array].name);
    int rc = lra_h5_find(f, path, &info, e);
    if (rc == 0 && (info.rank != 1 || info.type != arrays[array].type || info.n > (int64_t)1 << 36))
        rc = lra_fail(e, "'%s' is not a list of the expected type and of plausible length", path);
    if (rc == 0) {
        *data = lra_try_array(info.n + 1, arrays[array].size, path, e);
        *n = info.n;
        rc = *data ? lra_h5_get(f, path, arrays[array].type, 1, info.dims, *data, e) : LRA_FAILED;
    }
    lra_free(path);
    return rc;
}

static int bad_rows(lra_err *e)
{
    return lra_fail(e, "rows, positions, targets and labels are inconsistent");
}

static bool numbers_fit(const lra_sequences *r, int vocab)
{
    int64_t n = n_steps(r) * r->width;
    int halves = lra_token_width(vocab);
    for (int64_t i = 0; r->token && i < n / halves; i++)
        if (lra_token_at(r->token, halves, i) >= vocab) return false;
    for (int64_t i = 0; r->value && i < n; i++)
        if (!isfinite(r->value[i])) return false;
    return true;
}

/* Checks the rows of a file: lengths, labels, array sizes. n: number of elements of each array in
 * the file, -1: no such array. */
static int check_rows(const lra_sequences *r, const lra_dataset *d, const int64_t n[N_ARRAYS],
                      lra_err *e)
{
    int n_classes = d->task->n_classes > 0 ? d->task->n_classes : 1;
    if (n[START] != r->n + 1 || r->start[0] != 0) return bad_rows(e);
    for (int64_t i = 0; i < r->n; i++) {
        int64_t steps = r->start[i + 1] - r->start[i];
        if (steps <= 0 || r->label[i] < 0 || r->label[i] >= n_classes) return bad_rows(e);
        if (r->middle && (r->middle[i] < 1 || r->middle[i] >= steps)) return bad_rows(e);
    }
    for (int k = 0; k < N_ARRAYS; k++)
        if (n[k] != length_of(r, k)) return bad_rows(e);
    if (!r->token == !r->value || (d->task->goal == LRA_GOAL_PAIR && !r->middle) ||
        (!d->task->input.channels && r->width != lra_token_width(d->vocab)) ||
        r->n_targets != d->task->n_targets)
        return bad_rows(e);
    return numbers_fit(r, d->vocab) ? 0 : bad_rows(e);
}

static int read_attribute(lra_h5 *f, const char *group, const char *name, int otherwise, int *value,
                          lra_err *e)
{
    int64_t found = otherwise;
    if (lra_h5_has_attr(f, group, name) && lra_h5_get_int(f, group, name, &found, e) != 0)
        return LRA_FAILED;
    if (found < 0 || found > MAX_WIDTH)
        return lra_fail(e, "'%s' of '%s' is %lld, expected 0 to %d", name, group, (long long)found,
                        MAX_WIDTH);
    *value = (int)found;
    return 0;
}

static int read_split(lra_h5 *f, int s, lra_dataset *d, lra_err *e)
{
    lra_sequences *r = &d->split[s];
    char group[16];
    int steps = 0, rc;
    int64_t n[N_ARRAYS];
    void *data[N_ARRAYS] = {NULL};
    snprintf(group, sizeof group, "/%s", lra_split_names[s]);
    rc = read_attribute(f, group, "width", 1, &r->width, e);
    if (rc == 0) rc = read_attribute(f, group, "n_targets", 0, &r->n_targets, e);
    if (rc == 0) rc = read_attribute(f, group, "step_targets", 0, &steps, e);
    r->step_targets = steps;
    for (int k = 0; k < N_ARRAYS && rc == 0; k++) {
        char path[32];
        snprintf(path, sizeof path, "%s/%s", group, arrays[k].name);
        n[k] = -1;
        bool needed = k == START || k == LABEL || (k == TARGET && r->n_targets);
        if (needed || lra_h5_has(f, path)) rc = read_array(f, group, k, &data[k], &n[k], e);
    }
    r->start = data[START], r->token = data[TOKEN], r->label = data[LABEL];
    r->value = data[VALUE], r->target = data[TARGET], r->middle = data[MIDDLE];
    if (rc == 0) r->n = n[LABEL];
    return rc == 0 ? check_rows(r, d, n, e) : rc;
}

/* Checks the task and the parameters in the file, because another file may have been copied to its
 * path. */
static int check_origin(const lra_dataset *d, lra_h5 *f, lra_err *e)
{
    char *task = lra_h5_attr_text(f, "/", "task", e);
    char *config = task ? lra_h5_get_text(f, "/config", e) : NULL;
    char *wanted = lra_config_lines(d->config);
    int rc = config ? 0 : LRA_FAILED;
    if (rc == 0 && strcmp(task, lra_task_id(d->task)) != 0)
        rc = lra_fail(e, "it contains '%s', expected '%s'", task, lra_task_id(d->task));
    if (rc == 0 && strcmp(config, wanted) != 0)
        rc = lra_fail(e, "it was made with other parameters than its name states");
    lra_free(task);
    lra_free(config);
    lra_free(wanted);
    return rc;
}

static int read_words(lra_dataset *d, lra_h5 *f, lra_err *e)
{
    int64_t n;
    if (!lra_h5_has(f, "/words")) return 0;
    d->words = lra_h5_get_text(f, "/words", e);
    if (!d->words || lra_h5_get_int(f, "/", "vocab", &n, e) != 0) return LRA_FAILED;
    if (n < 1 || n > INT32_MAX) return lra_fail(e, "a vocabulary of %lld words", (long long)n);
    d->vocab = (int)n;
    return 0;
}

/* Reads the properties and the name of own data, and makes the instance of the task. */
static int read_properties(lra_dataset *d, lra_h5 *f, lra_err *e)
{
    lra_err ignored;
    if (!d->task->resolve) return 0;
    d->properties = lra_h5_get_text(f, "/properties", e);
    if (!d->properties) return LRA_FAILED;
    d->name = lra_h5_attr_text(f, "/", "name", e);
    if (!d->name) return LRA_FAILED;
    if (!lra_task_find(d->name, &ignored)) return lra_fail(e, "its name is '%.80s'", d->name);
    return d->task->resolve(d, e);
}

static int read_parts(lra_dataset *d, const char *path, lra_err *e)
{
    lra_h5 *f = lra_h5_open(path, "data", e);
    if (!f) return LRA_FAILED;
    char *stored = lra_h5_attr_text(f, "/", "fingerprint", e);
    int rc = stored ? check_origin(d, f, e) : LRA_FAILED;
    if (rc == 0) rc = read_words(d, f, e);
    if (rc == 0) rc = read_properties(d, f, e);
    for (int s = 0; s < LRA_N_SPLITS && rc == 0; s++) rc = read_split(f, s, d, e);
    if (rc == 0) rc = lra_h5_intact(f, e);
    if (rc == 0) lra_cache_fingerprint(d);
    if (rc == 0 && strcmp(stored, d->fingerprint) != 0)
        rc = lra_fail(e, "fingerprint is %s, stored is %s", d->fingerprint, stored);
    lra_free(stored);
    lra_h5_close(f);
    return rc;
}

int lra_cache_read(lra_dataset *d, const char *path, lra_err *e)
{
    if (read_parts(d, path, e) == 0) return 0;
    return lra_fail_in(e, "cannot use '%s' (remove it; it is then made again)", path);
}
