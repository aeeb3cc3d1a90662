/* Prepares the data of a task: reads the stored file, or generates or imports the rows and stores
 * them. */
#include "datasets/prepare.h"

#include <inttypes.h>
#include <string.h>

#include "datasets/formats/parquet.h"
#include "datasets/loader/cache.h"
#include "datasets/loader/published.h"
#include "datasets/loader/repeats.h"
#include "datasets/own/own.h"
#include "kernels/base/os/file.h"
#include "kernels/base/formats/h5.h"
#include "kernels/base/os/lock.h"
#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/os/terminal.h"

/* Imports the official files, and warns once about facts that concern all results on these data. */
static int import(lra_dataset *d, const lra_config *c, const char *data_dir, lra_err *e)
{
    if (lra_parquet_is(data_dir)) return lra_parquet_explain(d->task, data_dir, LRA_FAILED, e);
    int rc = d->task->files.import(c, data_dir, d, e);
    if (rc != 0) rc = lra_parquet_explain(d->task, data_dir, rc, e);
    if (rc != 0) return lra_own_explain(d->task, data_dir, rc, e);
    if (d->task->resolve && d->task->resolve(d, e) != 0) return LRA_FAILED;
    lra_published_report(d);
    lra_repeats_report(d);
    return 0;
}

/* True if a file of prepared data has this name, but was made from other files of the user. */
static bool has_name(const char *path, const char *name, const char *import)
{
    lra_err e;
    lra_h5 *f = lra_h5_open(path, "data", &e);
    bool named = f && lra_h5_has_attr(f, "/", "name");
    char *found = named ? lra_h5_attr_text(f, "/", "name", &e) : NULL;
    char *lines = found && strcmp(found, name) == 0 ? lra_h5_get_text(f, "/config", &e) : NULL;
    lra_config *config = lines ? lra_config_parse(lines, &e) : NULL;
    const char *other = config ? lra_config_text_or(config, "import", NULL) : NULL;
    bool differs = other && strcmp(other, import) != 0;
    lra_config_free(config);
    lra_free(lines);
    lra_free(found);
    lra_h5_close(f);
    return differs;
}

/* If the name of own data belongs to other data in the folder, appends a part of the hash of the
 * files to the name, so that tables distinguish the two. */
static void name_apart(lra_dataset *d, const char *folder)
{
    lra_err e;
    char **names = NULL;
    const char *import = lra_config_text_or(d->config, "import", "");
    int n = lra_is_folder(folder) ? lra_folder_list(folder, &names, &e) : 0;
    bool taken = false;
    for (int i = 0; i < n && !taken; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(names[i], "file-", 5) != 0 || strcmp(names[i] + length - 3, ".h5") != 0)
            continue;
        char *path = lra_format("%s/%s", folder, names[i]);
        taken = has_name(path, d->name, import);
        lra_free(path);
    }
    if (n >= 0) lra_names_free(names, n);
    if (!taken) return;
    char *name = lra_format("%.*s-%.6s", LRA_OWN_NAME - 2, d->name, import);
    lra_note("'%s' is the name of other data in '%s': these are named '%s' (--task file:NAME gives "
             "another name)",
             d->name, folder, name);
    lra_dataset_rename(d, name);
    lra_free(name);
}

/* Imports or generates the rows, and reports their numbers. folder: folder of the prepared data. */
static int make_rows(lra_dataset *d, const lra_config *c, const char *folder, const char *data_dir,
                     lra_err *e)
{
    double start = lra_now();
    if (!data_dir && !d->task->data.make)
        return lra_fail_usage(e,
                              "task '%s' cannot be generated: --data-dir must name its files (%s)",
                              d->task->name, d->task->files.source);
    int rc = data_dir ? import(d, c, data_dir, e) : d->task->data.make(c, d->split, e);
    if (rc != 0) return rc;
    lra_cache_fingerprint(d);
    if (d->own) name_apart(d, folder);
    char text[32];
    lra_note("%s: %lld training, %lld validation and %lld test rows prepared in %s", d->task->name,
             (long long)d->split[0].n, (long long)d->split[1].n, (long long)d->split[2].n,
             lra_time_text(text, lra_now() - start));
    return 0;
}

static int make_cache(lra_dataset *d, const lra_config *c, const char *folder, const char *path,
                      const char *data_dir, lra_err *e)
{
    int rc = make_rows(d, c, folder, data_dir, e);
    return rc == 0 ? lra_cache_write(d, path, e) : rc;
}

/* Reads the prepared data, or makes them. A lock ensures that one process makes the file and others
 * wait for it. */
static int prepare(lra_dataset *d, const lra_config *c, const char *folder, const char *path,
                   const char *data_dir, lra_err *e)
{
    if (lra_file_exists(path)) return lra_cache_read(d, path, e);
    char *lock_path = lra_format("%s.lock", path);
    int lock = lra_lock_wait(lock_path, e), rc = lock < 0 ? LRA_FAILED : 0;
    if (rc == 0)
        rc = lra_file_exists(path) ? lra_cache_read(d, path, e)
                                   : make_cache(d, c, folder, path, data_dir, e);
    if (lock >= 0) lra_file_remove(lock_path, NULL);
    lra_unlock(lock);
    lra_free(lock_path);
    return rc;
}

/* Copies the parameters whose names are in a list of words. */
static void copy_keys(lra_config *to, const lra_config *from, const char *words)
{
    for (int i = 0; lra_config_key(from, i); i++)
        if (lra_task_has_key(words, lra_config_key(from, i)))
            lra_config_set(to, lra_config_key(from, i), lra_config_value(from, i));
}

/* Sets d->config, from which the name of the prepared data follows. Imported data depend on the
 * bytes of their files and on the import keys, generated data on the parameters. Neither depends on
 * input.keys, which change only the inputs of models. */
static int name_data(lra_dataset *d, const lra_config *c, const char *data_dir, lra_err *e)
{
    if (!data_dir) {
        d->config = lra_config_copy(c);
        for (int i = 0; lra_config_key(c, i); i++)
            if (lra_task_has_key(d->task->input.keys, lra_config_key(c, i)))
                lra_config_remove(d->config, lra_config_key(c, i));
        return 0;
    }
    if (!d->task->files.import)
        return lra_fail_usage(e, "task '%s' can only be generated; remove --data-dir",
                              d->task->name);
    if (!lra_file_exists(data_dir) && d->task->resolve)
        return lra_fail(e, "there is no file or folder '%s'; expected %s", data_dir,
                        d->task->files.source);
    if (!lra_file_exists(data_dir))
        return lra_fail(e, "there is no file or folder '%s', expected the official files of '%s'",
                        data_dir, d->task->name);
    lra_digest files = {0};
    if (d->task->files.import_hash(c, data_dir, &files, e) != 0) return LRA_FAILED;
    char hex[17];
    snprintf(hex, sizeof hex, "%016" PRIx64, files.hash);
    d->config = lra_config_new();
    lra_config_set(d->config, "import", hex);
    copy_keys(d->config, c, d->task->files.import_keys);
    return 0;
}

/* For own data: sets the length of the rows if all are equally long, and adds the resolved
 * parameters to the configuration. */
static void complete_own(lra_dataset *d)
{
    int64_t shortest = d->longest;
    for (int s = 0; s < LRA_N_SPLITS; s++)
        for (int64_t i = 0; i < d->split[s].n; i++) {
            int64_t n = lra_sequences_length(&d->split[s], i);
            if (n < shortest) shortest = n;
        }
    d->own->data.steps = shortest == d->longest ? d->longest : 0;
    for (int i = 0; lra_config_key(d->resolved, i); i++)
        lra_config_set(d->config, lra_config_key(d->resolved, i), lra_config_value(d->resolved, i));
}

/* Computes the members that follow from rows and parameters and are not stored in the file. */
static void complete(lra_dataset *d, const lra_config *c)
{
    const lra_task *t = d->task;
    int64_t longest = 0;
    copy_keys(d->config, c, t->input.keys);
    for (int s = 0; s < LRA_N_SPLITS; s++)
        for (int64_t i = 0; i < d->split[s].n; i++) {
            lra_row row = lra_sequences_row(&d->split[s], i);
            int64_t document = row.n - row.middle > row.middle ? row.n - row.middle : row.middle;
            if (row.n > longest) longest = row.n;
            if (document > d->max_length) d->max_length = document;
        }
    if (t->goal == LRA_GOAL_NEXT) d->max_length = lra_config_int(d->config, "context");
    d->longest = d->own ? longest : lra_task_longest(t, c);
    if (d->own) complete_own(d);
    if (t->input.positions) {
        d->positions = lra_alloc_array((size_t)(d->max_length * t->input.n_positions) + 1,
                                       sizeof *d->positions);
        t->input.positions(d->max_length, d->positions);
    }
    if (t->input.channels == 0 || t->input.values) return;
    int64_t n = longest * d->split[LRA_TRAIN_SPLIT].width;
    d->scale = lra_alloc_array((size_t)n + 1, sizeof *d->scale);
    d->shift = lra_alloc_array((size_t)n + 1, sizeof *d->shift);
    for (int64_t j = 0; j < n; j++)
        d->scale[j] = (float)t->input.level_scale, d->shift[j] = (float)t->input.level_shift;
    if (t->input.levels) t->input.levels(d, d->scale, d->shift);
}

/* Makes a data set without storing it. Nullable: data_dir (the rows are then generated). */
static int prepare_unkept(const lra_task *t, const lra_config *c, const char *data_dir,
                          lra_dataset **out, lra_err *e)
{
    lra_dataset *d = lra_dataset_new(t);
    d->config = lra_config_copy(c);
    int rc = data_dir ? import(d, c, data_dir, e) : t->data.make(c, d->split, e);
    if (rc == 0) {
        lra_cache_fingerprint(d);
        complete(d, c);
    } else {
        lra_dataset_free(d);
        d = NULL;
    }
    *out = d;
    return rc;
}

lra_dataset *lra_dataset_make(const lra_task *t, const lra_config *c, lra_err *e)
{
    lra_dataset *d;
    prepare_unkept(t, c, NULL, &d, e);
    return d;
}

int lra_dataset_import(const lra_task *t, const lra_config *c, const char *data_dir,
                       lra_dataset **out, lra_err *e)
{
    return prepare_unkept(t, c, data_dir, out, e);
}

/* Returns the path of the file of prepared data; the caller frees it. */
static char *cache_path(const lra_dataset *d, const char *folder)
{
    const char *revision = d->task->files.revision ? d->task->files.revision(d->config) : NULL;
    lra_config *named = lra_config_copy(d->config);
    char hash[17];
    if (revision) lra_config_set(named, "revision", revision);
    lra_config_hash(named, hash);
    lra_config_free(named);
    return lra_format("%s/%s-%s.h5", folder, lra_task_id(d->task), hash);
}

/* Opens or makes the rows of a data set. keep: newly made data are stored; otherwise nothing is
 * written. */
static lra_dataset *open_rows(const lra_task *t, const lra_config *c, const char *out,
                              const char *data_dir, bool keep, lra_err *e)
{
    lra_dataset *d = lra_dataset_new(t);
    char *folder = lra_format("%s/data", out), *path = NULL;
    int rc = name_data(d, c, data_dir, e);
    if (rc == 0 && keep) rc = lra_folder_make(folder, e);
    if (rc == 0) {
        path = cache_path(d, folder);
        rc = keep || lra_file_exists(path) ? prepare(d, c, folder, path, data_dir, e)
                                           : make_rows(d, c, folder, data_dir, e);
    }
    lra_free(folder);
    lra_free(path);
    if (rc == 0) {
        complete(d, c);
        return d;
    }
    lra_dataset_free(d);
    return NULL;
}

lra_dataset *lra_dataset_open(const lra_task *t, const lra_config *c, const char *out,
                              const char *data_dir, lra_err *e)
{
    return open_rows(t, c, out, data_dir, true, e);
}

lra_dataset *lra_dataset_open_readonly(const lra_task *t, const lra_config *c, const char *out,
                                       const char *data_dir, lra_err *e)
{
    return open_rows(t, c, out, data_dir, false, e);
}

/* Returns the configuration stored in a file of prepared data; NULL if the file is of another task
 * or has another fingerprint. */
static lra_config *config_of(const char *path, const lra_task *t, const char *fingerprint)
{
    lra_err e;
    lra_h5 *f = lra_h5_open(path, "data", &e);
    char *task = f ? lra_h5_attr_text(f, "/", "task", &e) : NULL;
    char *found = task ? lra_h5_attr_text(f, "/", "fingerprint", &e) : NULL;
    bool same = found && strcmp(task, lra_task_id(t)) == 0 && strcmp(found, fingerprint) == 0;
    char *lines = same ? lra_h5_get_text(f, "/config", &e) : NULL;
    lra_config *config = lines ? lra_config_parse(lines, &e) : NULL;
    lra_free(lines);
    lra_free(found);
    lra_free(task);
    lra_h5_close(f);
    return config;
}

static lra_dataset *read_found(const char *path, const lra_task *t, const lra_config *c,
                               const char *fingerprint)
{
    lra_err e;
    lra_config *config = config_of(path, t, fingerprint);
    if (!config) return NULL;
    lra_dataset *d = lra_dataset_new(t);
    d->config = config;
    if (lra_cache_read(d, path, &e) == 0) {
        complete(d, c);
        return d;
    }
    lra_dataset_free(d);
    return NULL;
}

lra_dataset *lra_dataset_find(const lra_task *t, const lra_config *c, const char *out,
                              const char *fingerprint)
{
    lra_err e;
    char **names = NULL, *folder = lra_format("%s/data", out);
    int n = lra_is_folder(folder) ? lra_folder_list(folder, &names, &e) : 0;
    lra_dataset *found = NULL;
    for (int i = 0; i < n && !found; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(names[i], lra_task_id(t), strlen(lra_task_id(t))) != 0 || length < 3 ||
            strcmp(names[i] + length - 3, ".h5") != 0)
            continue;
        char *path = lra_format("%s/%s", folder, names[i]);
        found = read_found(path, t, c, fingerprint);
        lra_free(path);
    }
    if (n >= 0) lra_names_free(names, n);
    lra_free(folder);
    return found;
}
