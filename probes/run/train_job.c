/* Trains a job and writes its result file (train_job.h). */
#include "probes/run/train_job.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "datasets/loader/permute.h"
#include "kernels/base/os/file.h"
#include "kernels/base/os/lock.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/os/signals.h"
#include "models/training/epoch_log.h"
#include "probes/run/baselines.h"
#include "probes/run/failure.h"
#include "probes/run/origin.h"
#include "probes/run/published.h"
#include "probes/run/sources.h"
#include "reports/results/result.h"

static double *history_table(const lra_train_report *t)
{
    double *v = lra_alloc_array((size_t)t->n_epochs * LRA_HISTORY_COLUMNS + 1, sizeof *v);
    for (int64_t i = 0; i < t->n_epochs; i++)
        lra_epoch_values(&t->history[i], v + i * LRA_HISTORY_COLUMNS);
    return v;
}

char *lra_job_deviations(const lra_job *r)
{
    static const char note[] =
        "labels of training and validation rows are permuted: this run provides a null value";
    char *paper = lra_published_deviations(r);
    if (!lra_config_int(r->train_config, "permute-labels")) return paper;
    char *all = lra_format("%s%s\n", paper, note);
    lra_free(paper);
    return all;
}

static void *copy_of(const void *from, size_t n, size_t size)
{
    return memcpy(lra_alloc_array(n + 1, size), from, n * size);
}

/* Adds the outputs on the test split, and their metric. */
static void add_test(const lra_job *r, lra_train_report *t, lra_result *out)
{
    const lra_sequences *test = &r->data->split[LRA_TEST_SPLIT];
    out->metric = lra_objective_metric(r->objective, r->data);
    out->chance = lra_objective_chance(r->objective, r->data, LRA_TEST_SPLIT);
    out->batch = lra_config_int(r->train_config, "batch");
    out->n = t->n_rows, out->n_classes = r->objective->pretrains ? 0 : r->task->n_classes;
    if (out->n_classes) {
        out->logits = t->output, t->output = NULL;
        out->label = copy_of(test->label, (size_t)out->n, sizeof *out->label);
        lra_add_baselines(r->data, out);
        return;
    }
    out->row = t->row, t->row = NULL;
    if (!t->output) return;
    out->n_numbers = r->task->n_targets;
    out->number = t->output, t->output = NULL;
    out->target = copy_of(test->target, (size_t)(out->n * out->n_numbers), sizeof *out->target);
}

/* Replaces labels of the validation rows by the permuted ones that were used in training. */
static void permute_labels(const lra_sequences *val, uint64_t seed, int64_t n, int32_t *label)
{
    int64_t *from = lra_label_permutation(val->n, seed, LRA_VAL_SPLIT);
    for (int64_t i = 0; i < n; i++) label[i] = val->label[from[i]];
    lra_free(from);
}

/* Adds the outputs of the best weights on the validation split and on training rows. */
static void add_others(const lra_job *r, lra_train_report *t, lra_result *out)
{
    const lra_sequences *val = &r->data->split[LRA_VAL_SPLIT];
    bool permuted = lra_config_int(r->train_config, "permute-labels");
    out->train_value = out->train_loss = NAN;
    if (out->n_classes) {
        out->n_val = t->n_val;
        out->val_logits = t->val_output, t->val_output = NULL;
        out->val_label = copy_of(val->label, (size_t)out->n_val, sizeof *out->val_label);
        if (permuted) permute_labels(val, (uint64_t)out->seed, out->n_val, out->val_label);
    }
    out->n_train = t->n_train;
    if (t->train.n == 0) return;
    out->train_value = out->metric->value(&t->train);
    out->train_loss = t->train.loss / (double)t->train.n;
    if (!out->n_classes) return;
    out->train_correct = lra_alloc((size_t)t->n_train + 1);
    for (int64_t i = 0; i < t->n_train; i++) out->train_correct[i] = t->train_row[i].right == 1;
}

static int write_result(const lra_job *r, const lra_train_spec *s, lra_train_report *t,
                        const char *path, lra_err *e)
{
    char hash[17];
    lra_free(lra_job_config(r, (int64_t)s->seed, hash));
    lra_result *out = lra_alloc(sizeof *out);
    out->task = lra_copy_text(r->task->name), out->model = lra_copy_text(r->model->name);
    out->preset = lra_copy_text(r->preset), out->precision = lra_copy_text(r->precision);
    lra_probe_origin(&r->device, &out->origin);
    if (*t->level) {
        lra_free(out->origin.level);
        out->origin.level = lra_copy_text(t->level);
    }
    out->fingerprint = lra_copy_text(r->data->fingerprint), out->run = lra_copy_text(hash);
    out->config = lra_copy_text(s->config);
    out->task_parameters = lra_config_lines(r->data->config);
    out->deviations = lra_job_deviations(r);
    out->seed = (int64_t)s->seed;
    /* In other models, a key `kernel` may exist that does not bound the reach. */
    if (r->model->axis && strcmp(r->model->axis, "kernel") == 0)
        out->kernel = lra_config_int(r->model_config, "kernel");
    out->reach = lra_job_reach(r), out->max_length = r->data->max_length;
    out->grid = lra_dataset_grid(r->data);
    out->ladder = lra_copy_text(r->ladder ? r->ladder : "");
    lra_job_sources(r, hash);
    out->sources = lra_copy_text(hash);
    out->user_label = lra_copy_text(r->user_label ? r->user_label : "");
    out->paper = lra_copy_text(r->plan.published ? r->plan.published : "");
    out->training = t->training;
    out->n_epochs = t->n_epochs, out->history = history_table(t);
    add_test(r, t, out);
    add_others(r, t, out);
    int rc = lra_result_write(path, out, e);
    lra_result_free(out);
    return rc;
}

/* Trains the run if it still has no result; called with the lock held, because another process may
 * have finished the run meanwhile. */
static int train_missing(const lra_job *r, const lra_train_spec *s, const char *path, lra_err *e)
{
    lra_train_report t = {0};
    lra_device device = r->device;
    if (lra_file_exists(path)) return 0;
    lra_folder_clean(s->folder);
    lra_run_failure_remove(s->folder);
    int rc = lra_train(s, &device, &t, e);
    if (rc == 0) rc = write_result(r, s, &t, path, e);
    if (t.diverged || (rc < 0 && r->no_wait))
        lra_run_failure_write(s->folder, rc == LRA_USAGE ? 2 : 1, t.diverged, e->msg);
    lra_train_report_free(&t);
    return rc;
}

/* Removes the lock file of a run that failed before it wrote another file, so that its folder can
 * be removed after the lock is released. The lock is held. */
static void leave_nothing(const char *folder, const char *lock)
{
    char **names = NULL;
    int n = lra_folder_list(folder, &names, NULL), others = 0;
    for (int i = 0; i < n; i++) others += strncmp(names[i], "lock", 4) != 0;
    if (n > 0 && others == 0) unlink(lock);
    if (n >= 0) lra_names_free(names, n);
}

int lra_job_train(const lra_job *r, int64_t seed, lra_err *e)
{
    lra_train_spec s;
    lra_origin origin;
    lra_job_spec(r, seed, &s);
    lra_probe_origin(&r->device, &origin);
    s.origin = &origin;
    char *path = lra_format("%s/result.h5", s.folder), *lock_path = lra_format("%s/lock", s.folder);
    int rc = lra_folder_make(s.folder, e), lock = -1;
    if (rc == 0 && !lra_file_exists(path)) {
        /* If a sweep was killed, its cells may still run: the repeated command waits for them and
         * uses their results. */
        bool held = false;
        lock = r->no_wait ? lra_lock(lock_path, &held, e) : lra_lock_wait(lock_path, e);
        rc = lock >= 0           ? train_missing(r, &s, path, e)
             : held              ? LRA_HELD
             : lra_stop_signal() ? LRA_STOPPED
                                 : LRA_FAILED;
        if (lock >= 0 && rc != 0 && rc != LRA_STOPPED) leave_nothing(s.folder, lock_path);
    }
    lra_unlock(lock);
    if (rc < 0) rmdir(s.folder); /* fails, as it should, if the folder contains files */
    lra_job_spec_free(&s);
    lra_origin_free(&origin);
    lra_free(path);
    lra_free(lock_path);
    return rc;
}
