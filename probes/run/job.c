/* Builds the configuration and hash, folder, data and training specification of a run (job.h). */
#include "probes/run/job.h"

#include <inttypes.h>
#include <string.h>

#include "datasets/loader/cache.h"
#include "datasets/prepare.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/os/file.h"
#include "models/training/published.h"
#include "models/training/settings.h"

enum { CONFIG_VERSION = 2 };

/* Setting eval-drop-last: validation and test split lose the last rows that do not fill a batch, as
 * in the evaluation of the S4 code. */
static int drop_last_rows(lra_job *r, lra_err *e)
{
    int64_t batch = lra_config_int(r->train_config, "batch");
    if (r->task->goal == LRA_GOAL_NEXT)
        return lra_fail_usage(e, "'eval-drop-last' applies to rows; task '%s' is a stream",
                              r->task->name);
    for (int s = LRA_VAL_SPLIT; s < LRA_N_SPLITS; s++) {
        int64_t *n = &r->data->split[s].n;
        if (*n < batch)
            return lra_fail_usage(
                e, "'eval-drop-last' drops all %lld %s rows, which are fewer than a batch of %lld",
                (long long)*n, lra_split_names[s], (long long)batch);
        *n -= *n % batch;
    }
    return 0;
}

/* Fails if permute-labels is set for a task or objective without row labels: only labels of rows
 * can be permuted, not targets at positions. */
static int check_labels(const lra_job *r, lra_err *e)
{
    lra_goal goal = r->task->goal;
    if (!lra_config_int(r->train_config, "permute-labels")) return 0;
    if (goal == LRA_GOAL_TOKENS || goal == LRA_GOAL_NEXT)
        return lra_fail_usage(e, "'permute-labels' needs labels of rows; task '%s' has none",
                              r->task->name);
    if (r->objective->pretrains)
        return lra_fail_usage(e, "'permute-labels': objective '%s' does not read labels",
                              r->objective->name);
    return 0;
}

/* Fails if the objective needs classes and the data have fewer than two. Only own data can have
 * fewer. */
static int check_classes(const lra_job *r, lra_err *e)
{
    const lra_task *t = r->task;
    if (r->objective->pretrains || t->goal != LRA_GOAL_CLASS || t->n_classes > 1) return 0;
    if (t->n_classes == 1)
        return lra_fail_usage(e, "'%s' has one class: there is nothing to learn", t->name);
    return lra_fail_usage(e,
                          "'%s' has no labels: --label names their column; without labels, "
                          "'--objective' pretrains ('lra-probe list objectives')",
                          t->name);
}

/* Own data: sets the task of the job to the instance, with the name that the user gave, and adds
 * the resolved parameters, which are part of the identity of a run. */
static void use_task(lra_job *r)
{
    const lra_config *chosen = r->data->resolved;
    if (!r->data->own) return;
    if (r->task_name && strchr(r->task_name, ':')) lra_dataset_rename(r->data, r->task_name);
    r->task = r->data->task;
    for (int i = 0; lra_config_key(chosen, i); i++)
        lra_config_set(r->task_config, lra_config_key(chosen, i), lra_config_value(chosen, i));
}

int lra_job_use_data(lra_job *r, lra_dataset *data, lra_err *e)
{
    if (r->data != data) lra_dataset_free(r->data);
    r->data = data;
    use_task(r);
    if (check_labels(r, e) != 0 || check_classes(r, e) != 0) return LRA_USAGE;
    return lra_config_int(r->train_config, "eval-drop-last") ? drop_last_rows(r, e) : 0;
}

int lra_job_load_data(lra_job *r, lra_err *e)
{
    if (check_labels(r, e) != 0) return LRA_USAGE;
    if (!r->data)
        r->data = (r->dry ? lra_dataset_open_readonly : lra_dataset_open)(r->task, r->task_config,
                                                                          r->out, r->data_dir, e);
    return r->data ? lra_job_use_data(r, r->data, e) : LRA_FAILED;
}

static bool is_run(const char *folder)
{
    char *best = lra_format("%s/best.h5", folder);
    bool run = lra_file_exists(best);
    lra_free(best);
    return run;
}

int lra_job_load_weights(lra_job *r, const char *path, lra_err *e)
{
    if (is_run(path))
        return lra_fail(
            e,
            "'%s' is the folder of a run, expected a safetensors file: 'lra-probe export "
            "RUN FILE' writes its weights, '--from RUN' trains from them with a new head",
            path);
    if (lra_safetensors_read(path, &r->weights, e) != 0) return LRA_FAILED;
    r->weights_path = path;
    if (lra_has_published_names(r->model, &r->weights)) return 0;
    return lra_weights_check(&r->weights, path, e);
}

void lra_job_close(lra_job *r)
{
    lra_safetensors_free(&r->weights);
    lra_dataset_free(r->data);
    lra_config_free(r->task_config);
    lra_config_free(r->model_config);
    lra_config_free(r->train_config);
    lra_free(r->from);
    *r = (lra_job){0};
}

int64_t lra_job_reach(const lra_job *r)
{
    return r->model->reach(r->model_config);
}

const char *lra_reach_text(int64_t reach, char text[24])
{
    snprintf(text, 24, reach < 0 ? "all" : "%" PRId64, reach);
    return text;
}

/* Adds "PREFIX.key=value" for every value that differs from its default. */
static void add_changes(lra_config *to, const char *prefix, const lra_config *c,
                        const lra_config *defaults)
{
    for (int i = 0; lra_config_key(c, i); i++) {
        const char *key = lra_config_key(c, i), *value = lra_config_value(c, i);
        if (strcmp(lra_config_text_or(defaults, key, ""), value) == 0) continue;
        char *name = lra_format("%s.%s", prefix, key);
        lra_config_set(to, name, value);
        lra_free(name);
    }
}

/* Adds all values of task, model and training that differ from their defaults, with prefixes
 * "task", "model", "train". */
static void add_all_changes(lra_config *to, const lra_job *r)
{
    lra_config *task = lra_keys_config(r->task->keys), *model = lra_keys_config(r->model->keys),
               *train = lra_keys_config(lra_train_keys);
    lra_keys_add(r->schedule->keys, train);
    lra_keys_add(r->objective->keys, train);
    add_changes(to, "task", r->task_config, task);
    add_changes(to, "model", r->model_config, model);
    add_changes(to, "train", r->train_config, train);
    lra_config_free(task);
    lra_config_free(model);
    lra_config_free(train);
}

char *lra_job_config(const lra_job *r, int64_t seed, char hash[17])
{
    if (r->stored) {
        snprintf(hash, 17, "%s", r->stored_hash);
        return lra_copy_text(r->stored);
    }
    lra_config *c = lra_config_new();
    lra_config_set_int(c, "version", CONFIG_VERSION);
    lra_config_set(c, "task", lra_task_id(r->task));
    lra_config_set(c, "model", r->model->name);
    lra_config_set(c, "precision", r->precision);
    lra_config_set(c, "data", r->data->fingerprint);
    lra_config_set_int(c, "seed", seed);
    if (r->weights_path) {
        char weights[17];
        snprintf(weights, sizeof weights, "%016" PRIx64, r->weights.hash);
        lra_config_set(c, "weights", weights);
        if (r->evaluate) lra_config_set_int(c, "evaluate", 1);
    }
    add_all_changes(c, r);
    char *lines = lra_config_lines(c);
    lra_config_hash(c, hash);
    lra_config_free(c);
    return lines;
}

char *lra_job_folder(const lra_job *r, int64_t seed)
{
    char hash[17];
    lra_free(lra_job_config(r, seed, hash));
    const char *in = lra_config_has(r->train_config, "tuning") ? "trials" : "runs";
    return lra_format("%s/%s/%s-%s-%s", r->out, in, lra_task_id(r->task), r->model->name, hash);
}

/* Title of a run: "listops resconv K=5 rate=0.002 [my label] seed 0". The caller frees it. */
static char *title_of(const lra_job *r, int64_t seed)
{
    lra_text t = {0};
    const char *axis = lra_job_reach(r) < 0 ? NULL : r->model->axis;
    lra_text_add(&t, "%s %s", r->task->name, r->model->name);
    if (axis)
        lra_text_add(&t, " %s=%s", strcmp(axis, "kernel") == 0 ? "K" : axis,
                     lra_config_text(r->model_config, axis));
    if (r->objective != &lra_objective_classify) lra_text_add(&t, " %s", r->objective->name);
    if (r->differs) lra_text_add(&t, " %s", r->differs);
    if (r->user_label && *r->user_label) lra_text_add(&t, " [%s]", r->user_label);
    lra_text_add(&t, " seed %" PRId64, seed);
    return t.s;
}

void lra_job_spec(const lra_job *r, int64_t seed, lra_train_spec *s)
{
    char hash[17];
    *s = (lra_train_spec){.folder = lra_job_folder(r, seed),
                          .config = lra_job_config(r, seed, hash),
                          .data = r->data,
                          .model = r->model,
                          .model_config = r->model_config,
                          .type = strcmp(r->precision, "bf16") == 0 ? LRA_BF16 : LRA_F32,
                          .seed = (uint64_t)seed,
                          .weights = r->weights_path ? &r->weights : NULL,
                          .weights_path = r->weights_path,
                          .untrained = r->evaluate,
                          .from = r->from,
                          .debug_nodes = r->debug_nodes,
                          .memory = r->memory,
                          .recompute = r->recompute,
                          .label = r->user_label,
                          .checkpoint_every = r->checkpoint_every};
    lra_train_settings(s, r->train_config);
    s->title = title_of(r, seed);
}

void lra_job_spec_free(lra_train_spec *s)
{
    lra_free((void *)(uintptr_t)s->folder);
    lra_free((void *)(uintptr_t)s->config);
    lra_free((void *)(uintptr_t)s->title);
}
