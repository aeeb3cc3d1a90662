/* Writes the batches and settings with which an external model is trained (exchange.h). */
#include <inttypes.h>
#include <string.h>

#include "datasets/loader/batch.h"
#include "datasets/loader/chance.h"
#include "datasets/prepare.h"
#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/formats/safetensors.h"
#include "models/training/objective.h"
#include "models/training/estimate.h"
#include "models/training/train_report.h"
#include "probes/fit/exchange.h"

/* ---- identity -------------------------------------------------------------------------------- */

/* Removes the name and the settings of the built-in model whose training settings are used. */
static void remove_model(lra_config *c)
{
    for (int i = 0; lra_config_key(c, i);) {
        const char *key = lra_config_key(c, i);
        if (strncmp(key, "model", 5) != 0) {
            i++;
            continue;
        }
        char *own = lra_copy_text(key);
        lra_config_remove(c, own);
        lra_free(own);
    }
}

char *lra_fit_config(const lra_job *job, const lra_fit_model *m, char hash[17])
{
    lra_err e;
    char *built_in = lra_job_config(job, (int64_t)m->seed, hash);
    lra_config *c = lra_config_parse(built_in, &e);
    if (!c) LRA_BUG("%s", e.msg);
    char *name = lra_format("user.%s", m->name);
    remove_model(c);
    lra_config_set(c, "model", name);
    lra_config_set(c, "precision", "f32");
    if (m->source) lra_config_set(c, "model.source", m->source);
    if (m->settings) lra_config_set(c, "model.settings", m->settings);
    if (m->reach >= 0) lra_config_set_int(c, "model.reach", m->reach);
    char *lines = lra_config_lines(c);
    lra_config_hash(c, hash);
    lra_config_free(c);
    lra_free(built_in);
    lra_free(name);
    return lines;
}

char *lra_fit_folder(const lra_job *job, const lra_fit_model *m)
{
    char hash[17];
    lra_free(lra_fit_config(job, m, hash));
    return lra_format("%s/runs/%s-user.%s-%s", job->out, lra_task_id(job->task), m->name, hash);
}

bool lra_fit_inputs_change(const lra_job *job)
{
    return lra_config_int(job->train_config, "augment") || job->task->data.fresh;
}

int lra_fit_check(const lra_job *job, lra_err *e)
{
    lra_goal goal = job->task->goal;
    const lra_config *c = job->train_config;
    if (goal != LRA_GOAL_CLASS && goal != LRA_GOAL_PAIR && goal != LRA_GOAL_VALUE)
        return lra_fail_usage(e,
                              "task '%s' has no single answer for each row; 'fit' trains models "
                              "on rows with one class or one list of numbers",
                              job->task->name);
    if (job->objective != &lra_objective_classify)
        return lra_fail_usage(e, "objective '%s' is not available to 'fit'; expected 'classify'",
                              job->objective->name);
    if (lra_config_int(c, "permute-labels"))
        return lra_fail_usage(e, "'permute-labels' is not available to 'fit'");
    if (lra_config_int(c, "accumulate") > 1)
        return lra_fail_usage(e, "'accumulate' is not available to 'fit'; --set accumulate=1");
    return 0;
}

/* ---- arrays ---------------------------------------------------------------------------------- */

enum { MOST = 9 };

typedef struct {
    int n;
    lra_safetensor tensor[MOST];
    void *owned[MOST];
} arrays;

/* Adds an array; takes ownership of `bytes`. */
static void add(arrays *a, const char *name, lra_dtype dtype, int rank, const int64_t *dims,
                void *bytes)
{
    lra_safetensor *t = &a->tensor[a->n];
    *t = (lra_safetensor){.name = lra_copy_text(name), .array = {.dtype = dtype, .rank = rank}};
    t->array.n = 1;
    for (int i = 0; i < rank; i++) t->array.dims[i] = dims[i], t->array.n *= dims[i];
    t->array.element = lra_dtype_bytes(dtype);
    t->array.bytes = bytes;
    a->owned[a->n++] = bytes;
}

static void free_arrays(arrays *a)
{
    for (int i = 0; i < a->n; i++) {
        lra_free(a->tensor[i].name);
        lra_free(a->owned[i]);
    }
}

/* Adds the rows and the padded lengths of all batches of the given number of epochs. */
static int add_batches(arrays *a, lra_loader *l, const lra_buckets *buckets, const char *split,
                       int64_t epochs, int64_t B, lra_err *e)
{
    int64_t S = lra_loader_batches(l), at = 0;
    int32_t *row = lra_try_array(epochs * S * B + 1, sizeof *row, "batches", e);
    if (!row) return LRA_FAILED;
    int32_t *length = lra_alloc_array((size_t)(epochs * S) + 1, sizeof *length);
    for (int64_t epoch = 0; epoch < epochs; epoch++) {
        lra_loader_epoch(l, epoch);
        for (int64_t i = 0; i < S; i++, at++) {
            const lra_batch *b = lra_loader_get(l, i);
            for (int64_t k = 0; k < B; k++) row[at * B + k] = (int32_t)b->row[k];
            length[at] = (int32_t)buckets->length[b->bucket];
        }
    }
    bool train = strcmp(split, "train") == 0;
    char *rows = lra_format("%s/row", split), *lengths = lra_format("%s/length", split);
    const int64_t all[] = {epochs, S, B};
    add(a, rows, LRA_DTYPE_I32, train ? 3 : 2, train ? all : all + 1, row);
    add(a, lengths, LRA_DTYPE_I32, train ? 2 : 1, train ? all : all + 1, length);
    lra_free(rows);
    lra_free(lengths);
    return 0;
}

static void add_sample(arrays *a, const lra_loader_spec *spec)
{
    lra_loader *l = lra_loader_new(spec);
    int64_t n = lra_loader_rows(l);
    int32_t *row = lra_alloc_array((size_t)n + 1, sizeof *row);
    for (int64_t i = 0; i < n; i++) row[i] = (int32_t)lra_loader_used(l)[i];
    add(a, "sample", LRA_DTYPE_I32, 1, &n, row);
    lra_loader_free(l);
}

/* Adds the means of the targets of the training split, (targets). */
static void add_means(arrays *a, const lra_dataset *d)
{
    int64_t n = d->task->n_targets;
    double *mean = lra_alloc_array((size_t)n + 1, sizeof *mean);
    for (int j = 0; j < n; j++) mean[j] = lra_dataset_mean_target(d, j);
    add(a, "mean", LRA_DTYPE_F64, 1, &n, mean);
}

/* Adds the learning rate of each step, for a plateau factor of 1. */
static void add_rates(arrays *a, const lra_schedule *s)
{
    int64_t dims[] = {s->epochs, s->steps_per_epoch}, n = dims[0] * dims[1];
    double *rate = lra_alloc_array((size_t)n + 1, sizeof *rate);
    const lra_schedule_state start = lra_schedule_start();
    for (int64_t i = 0; i < n; i++) rate[i] = lra_schedule_rate(s, &start, i);
    add(a, "rate", LRA_DTYPE_F64, 2, dims, rate);
}

static lra_config *metadata(const lra_job *job, const lra_fit_model *m, const lra_schedule *s)
{
    char hash[17], chance[40];
    const lra_task *t = job->task;
    const lra_metric *metric = lra_objective_metric(job->objective, job->data);
    lra_config *c = lra_config_new();
    char *config = lra_fit_config(job, m, hash), *folder = lra_fit_folder(job, m),
         *plan = lra_schedule_text(s);
    snprintf(chance, sizeof chance, "%.17g",
             lra_objective_chance(job->objective, job->data, LRA_VAL_SPLIT));
    for (int i = 0; lra_config_key(job->train_config, i); i++) {
        char *key = lra_format("train.%s", lra_config_key(job->train_config, i));
        lra_config_set(c, key, lra_config_value(job->train_config, i));
        lra_free(key);
    }
    lra_config_set(c, "task", t->name);
    lra_config_set(c, "preset", job->preset);
    lra_config_set(c, "goal", t->goal == LRA_GOAL_VALUE ? "value" : "class");
    lra_config_set_int(c, "towers", t->goal == LRA_GOAL_PAIR ? 2 : 1);
    lra_config_set(c, "inputs", lra_fit_inputs_change(job) ? "epoch" : "rows");
    lra_config_set_int(c, "classes", t->n_classes);
    lra_config_set_int(c, "targets", t->n_targets);
    lra_config_set(c, "fingerprint", job->data->fingerprint);
    lra_config_set(c, "metric", metric->name);
    lra_config_set_int(c, "lower-is-better", metric->lower);
    lra_config_set(c, "chance", chance);
    lra_config_set_int(c, "seed", (int64_t)m->seed);
    lra_config_set_int(c, "epochs", s->epochs);
    lra_config_set_int(c, "steps", s->steps_per_epoch);
    lra_config_set(c, "config", config);
    lra_config_set(c, "run", hash);
    lra_config_set(c, "folder", folder);
    lra_config_set(c, "plan", plan);
    lra_free(config);
    lra_free(folder);
    lra_free(plan);
    return c;
}

static int fill(const lra_job *job, const lra_train_spec *spec, lra_schedule *schedule, arrays *a,
                lra_err *e)
{
    const lra_buckets buckets = lra_buckets_find(job->data);
    lra_loader_spec rows = {.data = job->data,
                            .split = LRA_TRAIN_SPLIT,
                            .buckets = &buckets,
                            .batch = spec->batch,
                            .seed = spec->seed,
                            .training = true,
                            .fraction = spec->fraction,
                            .same_steps = spec->same_steps,
                            .group = 1,
                            .alone = true};
    lra_loader *l = lra_loader_new(&rows);
    schedule->steps_per_epoch = lra_loader_batches(l);
    int rc = add_batches(a, l, &buckets, "train", schedule->epochs, spec->batch, e);
    lra_loader_free(l);
    rows.training = rows.same_steps = false;
    rows.sample = LRA_TRAIN_SAMPLE;
    if (rc == 0) add_sample(a, &rows);
    rows.sample = 0, rows.fraction = 0;
    for (int s = LRA_VAL_SPLIT; s < LRA_N_SPLITS && rc == 0; s++) {
        rows.split = s;
        l = lra_loader_new(&rows);
        rc = add_batches(a, l, &buckets, lra_split_names[s], 1, spec->batch, e);
        lra_loader_free(l);
    }
    if (rc == 0) add_rates(a, schedule);
    if (rc == 0 && job->task->goal == LRA_GOAL_VALUE) add_means(a, job->data);
    return rc;
}

int lra_fit_write_batches(const lra_job *job, const lra_fit_model *m, const char *path, lra_err *e)
{
    arrays a = {0};
    lra_train_spec spec;
    lra_job_spec(job, (int64_t)m->seed, &spec);
    lra_schedule schedule = spec.schedule;
    int rc = lra_train_check(&spec, e);
    if (rc == 0) rc = fill(job, &spec, &schedule, &a, e);
    lra_config *meta = rc == 0 ? metadata(job, m, &schedule) : NULL;
    if (rc == 0) rc = lra_safetensors_write(path, a.n, a.tensor, meta, e);
    if (rc == 0) lra_note("wrote %s", path);
    lra_config_free(meta);
    free_arrays(&a);
    lra_job_spec_free(&spec);
    return rc;
}
