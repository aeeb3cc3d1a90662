/* Writes the result of an external model that another program has trained (exchange.h). */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "datasets/loader/batch.h"
#include "datasets/prepare.h"
#include "kernels/base/core/history.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/formats/safetensors.h"
#include "kernels/base/os/file.h"
#include "kernels/base/os/lock.h"
#include "models/training/objective.h"
#include "models/training/rows.h"
#include "models/training/train_report.h"
#include "probes/fit/exchange.h"
#include "probes/run/baselines.h"
#include "probes/run/origin.h"
#include "reports/results/result.h"

/* Content of the file that is imported, and the data to which it belongs. */
typedef struct {
    const lra_job *job;
    const lra_fit_model *model;
    const char *file;
    lra_safetensors in;
    int64_t outputs; /* C: number of outputs of a row */
    lra_result *out;
} import;

static bool has_classes(const import *m)
{
    return m->job->task->goal != LRA_GOAL_VALUE;
}

/* ---- reading --------------------------------------------------------------------------------- */

static const lra_ndarray *find(const import *m, const char *name, int64_t rows, int64_t columns,
                               lra_err *e)
{
    const lra_ndarray *a = lra_safetensors_find(&m->in, name);
    if (!a) {
        lra_fail(e, "'%s' has no array '%s'", m->file, name);
        return NULL;
    }
    bool good = a->rank == 2 && (rows < 0 || a->dims[0] == rows) && a->dims[1] == columns;
    if (good) return a;
    lra_fail(e,
             "'%s': array '%s' has shape (%" PRId64 ", %" PRId64 ") and %d dimensions, expected "
             "(%" PRId64 ", %" PRId64 ")",
             m->file, name, a->dims[0], a->dims[1], a->rank, rows, columns);
    return NULL;
}

/* Reads outputs (rows, C), all finite. The caller frees them; NULL: failed. */
static float *outputs_of(const import *m, const char *name, int64_t rows, lra_err *e)
{
    const lra_ndarray *a = find(m, name, rows, m->outputs, e);
    float *x = a ? lra_try_array(rows * m->outputs + 1, sizeof *x, name, e) : NULL;
    int rc = x ? lra_ndarray_get_f32(a, name, x, e) : LRA_FAILED;
    for (int64_t i = 0; rc == 0 && i < rows * m->outputs; i++)
        if (!isfinite(x[i]))
            rc = lra_fail(e, "'%s': output %" PRId64 " of row %" PRId64 " of '%s' is not finite",
                          m->file, i % m->outputs, i / m->outputs, name);
    if (rc == 0) return x;
    lra_free(x);
    return NULL;
}

/* Reads a number of the metadata; lo and hi: the permitted range. */
static int number_of(const import *m, const char *key, double lo, double hi, double *x, lra_err *e)
{
    char *end = NULL;
    const char *text = lra_config_text_or(m->in.meta, key, "");
    *x = strtod(text, &end);
    if (*text && !*end && *x >= lo && *x <= hi) return 0;
    return lra_fail(e, "'%s': metadata '%s' is '%s', expected a number from %g to %g", m->file, key,
                    text, lo, hi);
}

static int read_history(import *m, lra_err *e)
{
    lra_result *out = m->out;
    const lra_ndarray *a = find(m, "history", -1, LRA_HISTORY_COLUMNS, e);
    if (!a) return LRA_FAILED;
    out->n_epochs = a->dims[0];
    out->history = lra_alloc_array((size_t)a->n + 1, sizeof *out->history);
    return lra_ndarray_get_f64(a, "history", out->history, e);
}

static int read_training(import *m, lra_err *e)
{
    double parameters, steps, skipped, best, seconds;
    double epochs = (double)m->out->n_epochs;
    if (number_of(m, "parameters", 0, 1e15, &parameters, e) != 0 ||
        number_of(m, "steps", 0, 1e15, &steps, e) != 0 ||
        number_of(m, "skipped", 0, 1e15, &skipped, e) != 0 ||
        number_of(m, "best_epoch", 1, epochs, &best, e) != 0 ||
        number_of(m, "seconds", 0, 1e12, &seconds, e) != 0)
        return LRA_FAILED;
    m->out->training = (lra_training){.parameters = (int64_t)parameters,
                                      .steps = (int64_t)steps,
                                      .skipped = (int64_t)skipped,
                                      .best_epoch = (int64_t)best,
                                      .seconds = seconds};
    return 0;
}

/* ---- the result ------------------------------------------------------------------------------ */

static void set_identity(import *m)
{
    char hash[17];
    const lra_job *job = m->job;
    const lra_fit_model *model = m->model;
    lra_result *out = m->out;
    out->config = lra_fit_config(job, model, hash);
    out->task = lra_copy_text(job->task->name), out->model = lra_format("user.%s", model->name);
    out->preset = lra_copy_text(job->preset), out->precision = lra_copy_text("f32");
    out->fingerprint = lra_copy_text(job->data->fingerprint), out->run = lra_copy_text(hash);
    out->task_parameters = lra_config_lines(job->data->config);
    out->deviations = lra_copy_text("an external model, trained by another program\n");
    out->seed = (int64_t)model->seed, out->reach = model->reach;
    out->max_length = job->data->max_length, out->grid = lra_dataset_grid(job->data);
    out->ladder = lra_copy_text(model->rung ? "axis=reach" : "");
    out->sources = lra_copy_text("");
    out->user_label = lra_copy_text(job->user_label ? job->user_label : "");
}

static void replace(char **to, const char *text)
{
    if (!text) return;
    lra_free(*to);
    *to = lra_copy_text(text);
}

/* Sets the origin: that of this program, with the device and the libraries of the training
 * program. */
static void set_origin(import *m)
{
    const lra_config *meta = m->in.meta;
    lra_origin *o = &m->out->origin;
    lra_probe_origin(&m->job->device, o);
    replace(&o->device, lra_config_text_or(meta, "device", NULL));
    replace(&o->device_name, lra_config_text_or(meta, "device_name", NULL));
    replace(&o->libraries, lra_config_text_or(meta, "libraries", NULL));
    o->threads = (int64_t)lra_config_real_or(meta, "threads", 1);
}

/* Contribution of one row to the metric. */
static lra_sums row_sums(const import *m, const lra_sequences *split, int64_t row, const float *x)
{
    int64_t C = m->outputs;
    float mask[64], target[64];
    if (has_classes(m)) return lra_class_row(x, C, split->label[row]);
    lra_sums sum = {0};
    for (int64_t from = 0; from < C; from += 64) {
        int64_t n = C - from < 64 ? C - from : 64;
        for (int64_t i = 0; i < n; i++) {
            target[i] = split->target[row * C + from + i];
            mask[i] = isnan(target[i]) ? 0.0f : 1.0f;
        }
        lra_sums part = lra_number_row(n, x + from, target, mask);
        lra_sums_add(&sum, &part);
    }
    return sum;
}

static void *copy_of(const void *from, size_t n, size_t size)
{
    return memcpy(lra_alloc_array(n + 1, size), from, n * size);
}

static int add_test(import *m, lra_err *e)
{
    lra_result *out = m->out;
    const lra_job *job = m->job;
    const lra_sequences *test = &job->data->split[LRA_TEST_SPLIT];
    int64_t n = test->n, C = m->outputs;
    float *x = outputs_of(m, "test/output", n, e);
    if (!x) return LRA_FAILED;
    out->metric = lra_objective_metric(job->objective, job->data);
    out->chance = lra_objective_chance(job->objective, job->data, LRA_TEST_SPLIT);
    out->batch = lra_config_int(job->train_config, "batch");
    out->n = n;
    if (has_classes(m)) {
        out->n_classes = C, out->logits = x;
        out->label = copy_of(test->label, (size_t)n, sizeof *out->label);
        lra_add_baselines(job->data, out);
        return 0;
    }
    out->n_numbers = C, out->number = x;
    out->target = copy_of(test->target, (size_t)(n * C), sizeof *out->target);
    out->row = lra_alloc_array((size_t)n + 1, sizeof *out->row);
    for (int64_t i = 0; i < n; i++) out->row[i] = row_sums(m, test, i, x + i * C);
    return 0;
}

static int add_val(import *m, lra_err *e)
{
    lra_result *out = m->out;
    const lra_sequences *val = &m->job->data->split[LRA_VAL_SPLIT];
    if (!out->n_classes) return 0;
    out->val_logits = outputs_of(m, "val/output", val->n, e);
    if (!out->val_logits) return LRA_FAILED;
    out->n_val = val->n;
    out->val_label = copy_of(val->label, (size_t)val->n, sizeof *out->val_label);
    return 0;
}

/* Adds the metric on the sample of training rows, and the padding of the training batches. */
static int add_train(import *m, lra_err *e)
{
    lra_result *out = m->out;
    lra_train_spec spec;
    const lra_sequences *train = &m->job->data->split[LRA_TRAIN_SPLIT];
    const lra_buckets buckets = lra_buckets_find(m->job->data);
    lra_job_spec(m->job, (int64_t)m->model->seed, &spec);
    lra_loader_spec rows = {.data = m->job->data,
                            .split = LRA_TRAIN_SPLIT,
                            .buckets = &buckets,
                            .batch = spec.batch,
                            .fraction = spec.fraction,
                            .group = 1,
                            .sample = LRA_TRAIN_SAMPLE,
                            .alone = true};
    lra_loader *l = lra_loader_new(&rows);
    int64_t n = lra_loader_rows(l);
    const int64_t *used = lra_loader_used(l);
    float *x = outputs_of(m, "train/output", n, e);
    lra_sums sum = {0};
    if (x) out->train_correct = out->n_classes ? lra_alloc((size_t)n + 1) : NULL;
    for (int64_t i = 0; x && i < n; i++) {
        lra_sums row = row_sums(m, train, used[i], x + i * m->outputs);
        lra_sums_add(&sum, &row);
        if (out->train_correct) out->train_correct[i] = row.right == 1;
    }
    lra_loader_free(l);
    rows.sample = 0, rows.training = true, rows.seed = spec.seed, rows.same_steps = spec.same_steps;
    l = lra_loader_new(&rows);
    out->training.padding = lra_loader_padding(l);
    lra_loader_free(l);
    lra_job_spec_free(&spec);
    out->n_train = x ? n : 0;
    out->train_value = out->train_loss = NAN;
    if (x && sum.n) out->train_value = out->metric->value(&sum);
    if (x && sum.n) out->train_loss = sum.loss / (double)sum.n;
    lra_free(x);
    return x ? 0 : LRA_FAILED;
}

static int fill(import *m, lra_err *e)
{
    const lra_task *t = m->job->task;
    const char *data = m->job->data->fingerprint,
               *given = lra_config_text_or(m->in.meta, "fingerprint", "");
    if (strcmp(given, data) != 0)
        return lra_fail(e, "'%s' was made with data %s, expected %s", m->file, given, data);
    m->outputs = has_classes(m) ? t->n_classes : t->n_targets;
    set_identity(m);
    set_origin(m);
    int rc = read_history(m, e);
    if (rc == 0) rc = read_training(m, e);
    if (rc == 0) rc = add_test(m, e);
    if (rc == 0) rc = add_val(m, e);
    return rc == 0 ? add_train(m, e) : rc;
}

static int write_locked(const import *m, const char *folder, const char *path, lra_err *e)
{
    char *lock_path = lra_format("%s/lock", folder);
    int lock = lra_lock_wait(lock_path, e);
    int rc = lock < 0 ? LRA_FAILED : lra_file_exists(path) ? 0 : lra_result_write(path, m->out, e);
    lra_unlock(lock);
    lra_free(lock_path);
    return rc;
}

int lra_fit_import(const lra_job *job, const lra_fit_model *model, const char *file, char **path,
                   lra_err *e)
{
import m = {.job = job, .model = model, .file = file };
    *path = NULL;
    if (lra_safetensors_read(file, &m.in, e) != 0) {
        lra_safetensors_free(&m.in);
        return LRA_FAILED;
    }
    m.out = lra_alloc(sizeof *m.out);
    *m.out = (lra_result){0};
    int rc = fill(&m, e);
    char *folder = lra_fit_folder(job, model), *to = lra_format("%s/result.h5", folder);
    if (rc == 0) rc = lra_folder_make(folder, e);
    if (rc == 0) rc = write_locked(&m, folder, to, e);
    if (rc == 0)
        *path = to;
    else
        lra_free(to);
    lra_free(folder);
    lra_result_free(m.out);
    lra_safetensors_free(&m.in);
    return rc;
}
