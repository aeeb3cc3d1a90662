/* Prepared data: the registry, the cache, and rows that grow. */
#include "datasets/dataset.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "kernels/base/file.h"
#include "kernels/base/h5.h"
#include "kernels/base/mem.h"
#include "kernels/base/options.h"
#include "kernels/base/process.h"
#include "kernels/base/terminal.h"

const char *const lra_split_names[LRA_N_SPLITS] = {"train", "val", "test"};

static const lra_task *const registry[] = {
#define LRA_TASK(name) &lra_task_##name,
#include "datasets/datasets.def"
#undef LRA_TASK
};
enum { N_TASKS = sizeof registry / sizeof *registry };

const lra_task *lra_task_at(int i)
{
    return i >= 0 && i < N_TASKS ? registry[i] : NULL;
}

const lra_task *lra_task_find(const char *name, lra_err *e)
{
    const char *names[N_TASKS];
    for (int i = 0; i < N_TASKS; i++) {
        names[i] = registry[i]->name;
        if (strcmp(names[i], name) == 0) return registry[i];
    }
    lra_fail_unknown(e, "task", name, N_TASKS, names, "lra-probe list tasks");
    return NULL;
}

lra_config *lra_task_config(const lra_task *t, const char *preset, lra_err *e)
{
    const char *changes = strcmp(preset, "quick") == 0   ? t->quick
                          : strcmp(preset, "small") == 0 ? t->small
                          : strcmp(preset, "paper") == 0 ? t->paper ? t->paper : ""
                                                         : NULL;
    if (!changes) {
        lra_fail_usage(e, "task '%s' has no preset '%s'", t->name, preset);
        return NULL;
    }
    lra_config *c = lra_config_parse(t->defaults, e), *change = lra_config_parse(changes, e);
    if (!c || !change) LRA_BUG("task '%s': %s", t->name, e->msg);
    for (int i = 0; lra_config_key(change, i); i++)
        lra_config_set(c, lra_config_key(change, i), lra_config_value(change, i));
    lra_config_free(change);
    return c;
}

/* ---- rows ----------------------------------------------------------------------------------------- */

void lra_sequences_add(lra_sequences *r, const uint16_t *token, int64_t n, int32_t label)
{
    if (r->n == r->row_capacity) {
        r->row_capacity = r->row_capacity ? 2 * r->row_capacity : 1024;
        r->start = lra_resize(r->start, (size_t)(r->row_capacity + 1) * sizeof *r->start);
        r->label = lra_resize(r->label, (size_t)r->row_capacity * sizeof *r->label);
        r->start[0] = 0;
    }
    int64_t used = r->start[r->n];
    if (used + n > r->token_capacity) {
        r->token_capacity = 2 * (used + n) + 4096;
        r->token = lra_resize(r->token, (size_t)r->token_capacity * sizeof *r->token);
    }
    memcpy(r->token + used, token, (size_t)n * sizeof *token);
    r->label[r->n] = label;
    r->start[++r->n] = used + n;
}

uint16_t *lra_sequences_extend(lra_sequences *r, int64_t n, int64_t length, lra_err *e)
{
    int64_t rows = r->n + n, used = r->n ? r->start[r->n] : 0, tokens = used + n * length;
    double needed = (double)(n * length) * sizeof *r->token, free = lra_memory_free();
    char text[2][32];
    if (free > 0 && needed > free) {
        lra_fail(e, "%lld rows of %lld need %s, %s free", (long long)n, (long long)length,
                 lra_size_text(text[0], needed), lra_size_text(text[1], free));
        return NULL;
    }
    r->start = lra_resize(r->start, (size_t)(rows + 1) * sizeof *r->start);
    r->label = lra_resize(r->label, (size_t)rows * sizeof *r->label);
    r->token = lra_resize(r->token, (size_t)tokens * sizeof *r->token);
    r->row_capacity = rows, r->token_capacity = tokens;
    r->start[0] = 0;
    for (int64_t i = r->n; i < rows; i++) r->start[i + 1] = r->start[i] + length;
    r->n = rows;
    return r->token + used;
}

void lra_sequences_free(lra_sequences *r)
{
    lra_free(r->start);
    lra_free(r->token);
    lra_free(r->label);
    *r = (lra_sequences){0};
}

double lra_sequences_majority(const lra_sequences *r, int n_classes, int32_t *label)
{
    int64_t *count = lra_alloc_array((size_t)n_classes, sizeof *count);
    for (int64_t i = 0; i < r->n; i++) count[r->label[i]]++;
    *label = 0;
    for (int k = 1; k < n_classes; k++)
        if (count[k] > count[*label]) *label = k;
    double share = r->n ? (double)count[*label] / (double)r->n : 0;
    lra_free(count);
    return share;
}

static void fingerprint(lra_dataset *d)
{
    uint64_t parts[1 + 3 * LRA_N_SPLITS] = {0};
    for (int s = 0; s < LRA_N_SPLITS; s++) {
        const lra_sequences *r = &d->split[s];
        if (r->n == 0) continue;
        parts[1 + 3 * s] = lra_hash64(r->start, (size_t)(r->n + 1) * sizeof *r->start);
        parts[2 + 3 * s] = lra_hash64(r->token, (size_t)r->start[r->n] * sizeof *r->token);
        parts[3 + 3 * s] = lra_hash64(r->label, (size_t)r->n * sizeof *r->label);
    }
    snprintf(d->fingerprint, sizeof d->fingerprint, "%016" PRIx64, lra_hash64(parts, sizeof parts));
}

/* ---- the cache ------------------------------------------------------------------------------------ */

static int write_split(lra_h5 *f, int s, const lra_sequences *r, lra_err *e)
{
    static const int64_t none;
    const char *names[] = {"start", "token", "label"};
    const lra_h5_type types[] = {LRA_H5_I64, LRA_H5_U16, LRA_H5_I32};
    const void *data[] = {r->n ? r->start : &none, r->token, r->label};
    int64_t n[] = {r->n + 1, r->n ? r->start[r->n] : 0, r->n};
    int rc = 0;
    for (int i = 0; i < 3 && rc == 0; i++) {
        char *path = lra_format("/%s/%s", lra_split_names[s], names[i]);
        rc = lra_h5_put(f, path, types[i], 1, &n[i], data[i], e);
        lra_free(path);
    }
    return rc;
}

static int write_cache(const lra_dataset *d, const char *path, lra_err *e)
{
    lra_h5 *f = lra_h5_create(path, "data", e);
    if (!f) return LRA_FAILED;
    char *lines = lra_config_lines(d->config);
    int rc = lra_h5_put_text(f, "/config", lines, e);
    lra_free(lines);
    if (rc == 0) rc = lra_h5_set_text(f, "/", "task", d->task->name, e);
    if (rc == 0) rc = lra_h5_set_text(f, "/", "fingerprint", d->fingerprint, e);
    for (int s = 0; s < LRA_N_SPLITS && rc == 0; s++) rc = write_split(f, s, &d->split[s], e);
    if (rc == 0) return lra_h5_commit(f, e);
    lra_h5_close(f);
    return rc;
}

static int read_array(lra_h5 *f, const char *path, lra_h5_type type, size_t size, void **data,
                      int64_t *n, lra_err *e)
{
    lra_h5_info info;
    if (lra_h5_find(f, path, &info, e) != 0) return LRA_FAILED;
    if (info.rank != 1 || info.type != type || info.n > (int64_t)1 << 36)
        return lra_fail(e, "'%s' is not a list of the expected type and of sensible length", path);
    *data = lra_try_array(info.n + 1, size, path, e);
    if (!*data) return LRA_FAILED;
    *n = info.n;
    return lra_h5_get(f, path, type, 1, info.dims, *data, e);
}

static int check_rows(const lra_sequences *r, const lra_task *t, int64_t n_tokens, lra_err *e)
{
    bool ok = r->start[0] == 0 && r->start[r->n] == n_tokens;
    for (int64_t i = 0; i < r->n && ok; i++)
        ok = r->start[i] < r->start[i + 1] && r->label[i] >= 0 && r->label[i] < t->n_classes;
    for (int64_t i = 0; i < n_tokens && ok; i++) ok = r->token[i] < t->vocab;
    return ok ? 0 : lra_fail(e, "rows, tokens and labels do not fit together");
}

static int read_split(lra_h5 *f, int s, lra_dataset *d, lra_err *e)
{
    lra_sequences *r = &d->split[s];
    int64_t n_start = 0, n_tokens = 0;
    void *start = NULL, *token = NULL, *label = NULL;
    char path[3][32];
    snprintf(path[0], sizeof path[0], "/%s/start", lra_split_names[s]);
    snprintf(path[1], sizeof path[1], "/%s/token", lra_split_names[s]);
    snprintf(path[2], sizeof path[2], "/%s/label", lra_split_names[s]);
    int rc = read_array(f, path[0], LRA_H5_I64, sizeof *r->start, &start, &n_start, e);
    if (rc == 0) rc = read_array(f, path[1], LRA_H5_U16, sizeof *r->token, &token, &n_tokens, e);
    if (rc == 0) rc = read_array(f, path[2], LRA_H5_I32, sizeof *r->label, &label, &r->n, e);
    r->start = start, r->token = token, r->label = label;
    if (rc == 0 && n_start != r->n + 1)
        rc = lra_fail(e, "%lld starts for %lld rows", (long long)n_start, (long long)r->n);
    if (rc == 0) rc = check_rows(r, d->task, n_tokens, e);
    return rc;
}

/* The file of another task or of other parameters may have been copied here. */
static int check_origin(const lra_dataset *d, lra_h5 *f, lra_err *e)
{
    char *task = lra_h5_attr_text(f, "/", "task", e);
    char *config = task ? lra_h5_get_text(f, "/config", e) : NULL;
    char *wanted = lra_config_lines(d->config);
    int rc = config ? 0 : LRA_FAILED;
    if (rc == 0 && strcmp(task, d->task->name) != 0)
        rc = lra_fail(e, "it holds '%s', expected '%s'", task, d->task->name);
    if (rc == 0 && strcmp(config, wanted) != 0)
        rc = lra_fail(e, "it was made with other parameters than its name says");
    lra_free(task);
    lra_free(config);
    lra_free(wanted);
    return rc;
}

static int read_parts(lra_dataset *d, const char *path, lra_err *e)
{
    lra_h5 *f = lra_h5_open(path, "data", e);
    if (!f) return LRA_FAILED;
    char *stored = lra_h5_attr_text(f, "/", "fingerprint", e);
    int rc = stored ? check_origin(d, f, e) : LRA_FAILED;
    for (int s = 0; s < LRA_N_SPLITS && rc == 0; s++) rc = read_split(f, s, d, e);
    if (rc == 0) fingerprint(d);
    if (rc == 0 && strcmp(stored, d->fingerprint) != 0)
        rc = lra_fail(e, "fingerprint is %s, stored is %s", d->fingerprint, stored);
    lra_free(stored);
    lra_h5_close(f);
    return rc;
}

static int read_cache(lra_dataset *d, const char *path, lra_err *e)
{
    if (read_parts(d, path, e) == 0) return 0;
    return lra_fail_in(e, "cannot use '%s' (remove it to make it anew)", path);
}

/* ---- open ----------------------------------------------------------------------------------------- */

static int make_cache(lra_dataset *d, const lra_config *c, const char *path, const char *data_dir,
                      lra_err *e)
{
    double start = lra_now();
    int rc = data_dir ? d->task->import(c, data_dir, d->split, e) : d->task->make(c, d->split, e);
    if (rc != 0) return rc;
    fingerprint(d);
    char text[32];
    lra_note("%s: %lld + %lld + %lld rows prepared in %s", d->task->name, (long long)d->split[0].n,
             (long long)d->split[1].n, (long long)d->split[2].n,
             lra_time_text(text, lra_now() - start));
    return write_cache(d, path, e);
}

/* One process makes the file, another that comes meanwhile waits for it. */
static int prepare(lra_dataset *d, const lra_config *c, const char *path, const char *data_dir,
                   lra_err *e)
{
    if (lra_file_exists(path)) return read_cache(d, path, e);
    char *lock_path = lra_format("%s.lock", path);
    int lock = lra_lock_wait(lock_path, e), rc = lock < 0 ? LRA_FAILED : 0;
    if (rc == 0)
        rc = lra_file_exists(path) ? read_cache(d, path, e) : make_cache(d, c, path, data_dir, e);
    if (lock >= 0) lra_file_remove(lock_path, NULL);
    lra_unlock(lock);
    lra_free(lock_path);
    return rc;
}

/* Copies the parameters named in a list of words. */
static void copy_keys(lra_config *to, const lra_config *from, const char *keys)
{
    for (const char *at = keys ? keys : ""; *at;) {
        size_t n = strcspn(at, " ");
        char *key = lra_format("%.*s", (int)n, at);
        lra_config_set(to, key, lra_config_text(from, key));
        lra_free(key);
        at += n + (at[n] == ' ');
    }
}

/* Imported data depend on the bytes of their files and on what is imported, generated data on the parameters. */
static int name_data(lra_dataset *d, const lra_config *c, const char *data_dir, lra_err *e)
{
    if (!data_dir) {
        d->config = lra_config_copy(c);
        return 0;
    }
    if (!d->task->import)
        return lra_fail_usage(e, "task '%s' cannot be imported, only generated", d->task->name);
    uint64_t hash;
    if (d->task->import_hash(c, data_dir, &hash, e) != 0) return LRA_FAILED;
    char hex[17];
    snprintf(hex, sizeof hex, "%016" PRIx64, hash);
    d->config = lra_config_new();
    lra_config_set(d->config, "import", hex);
    copy_keys(d->config, c, d->task->import_keys);
    return 0;
}

static void find_max_length(lra_dataset *d)
{
    for (int s = 0; s < LRA_N_SPLITS; s++)
        for (int64_t i = 0; i < d->split[s].n; i++) {
            int64_t n = d->split[s].start[i + 1] - d->split[s].start[i];
            if (n > d->max_length) d->max_length = n;
        }
}

lra_dataset *lra_dataset_open(const lra_task *t, const lra_config *c, const char *out,
                              const char *data_dir, lra_err *e)
{
    lra_dataset *d = lra_alloc(sizeof *d);
    d->task = t;
    char hash[17], *folder = lra_format("%s/data", out), *path = NULL;
    int rc = name_data(d, c, data_dir, e);
    if (rc == 0) rc = lra_folder_make(folder, e);
    if (rc == 0) {
        lra_config_hash(d->config, hash);
        path = lra_format("%s/%s-%s.h5", folder, t->name, hash);
        rc = prepare(d, c, path, data_dir, e);
    }
    lra_free(folder);
    lra_free(path);
    if (rc == 0) {
        find_max_length(d);
        return d;
    }
    lra_dataset_free(d);
    return NULL;
}

/* Configuration of a file of prepared data of the task with the fingerprint, as its attributes say; NULL: it is
 * another. */
static lra_config *config_of(const char *path, const lra_task *t, const char *fingerprint)
{
    lra_err e;
    lra_h5 *f = lra_h5_open(path, "data", &e);
    char *task = f ? lra_h5_attr_text(f, "/", "task", &e) : NULL;
    char *found = task ? lra_h5_attr_text(f, "/", "fingerprint", &e) : NULL;
    bool same = found && strcmp(task, t->name) == 0 && strcmp(found, fingerprint) == 0;
    char *lines = same ? lra_h5_get_text(f, "/config", &e) : NULL;
    lra_config *config = lines ? lra_config_parse(lines, &e) : NULL;
    lra_free(lines);
    lra_free(found);
    lra_free(task);
    lra_h5_close(f);
    return config;
}

static lra_dataset *read_found(const char *path, const lra_task *t, const char *fingerprint)
{
    lra_err e;
    lra_config *config = config_of(path, t, fingerprint);
    if (!config) return NULL;
    lra_dataset *d = lra_alloc(sizeof *d);
    d->task = t, d->config = config;
    if (read_parts(d, path, &e) == 0) {
        find_max_length(d);
        return d;
    }
    lra_dataset_free(d);
    return NULL;
}

lra_dataset *lra_dataset_find(const lra_task *t, const char *out, const char *fingerprint)
{
    lra_err e;
    char **names = NULL, *folder = lra_format("%s/data", out);
    int n = lra_is_folder(folder) ? lra_folder_list(folder, &names, &e) : 0;
    lra_dataset *found = NULL;
    for (int i = 0; i < n && !found; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(names[i], t->name, strlen(t->name)) != 0 || length < 3 ||
            strcmp(names[i] + length - 3, ".h5") != 0)
            continue;
        char *path = lra_format("%s/%s", folder, names[i]);
        found = read_found(path, t, fingerprint);
        lra_free(path);
    }
    if (n >= 0) lra_names_free(names, n);
    lra_free(folder);
    return found;
}

int64_t lra_dataset_grid(const lra_dataset *d)
{
    int64_t side = 0;
    while (d->task->image && side * side < d->max_length) side++;
    return side;
}

void lra_facts_add(lra_facts *f, double value, const char *name, ...)
{
    if (f->n == LRA_MAX_FACTS) LRA_BUG("more than %d facts", LRA_MAX_FACTS);
    va_list args;
    va_start(args, name);
    vsnprintf(f->name[f->n], sizeof f->name[0], name, args);
    va_end(args);
    f->value[f->n++] = value;
}

void lra_dataset_free(lra_dataset *d)
{
    if (!d) return;
    for (int s = 0; s < LRA_N_SPLITS; s++) lra_sequences_free(&d->split[s]);
    lra_config_free(d->config);
    lra_free(d);
}
