/* Runs: from options to a configuration, a folder and a training specification. */
#include "probes/job.h"

#include <inttypes.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/terminal.h"
#include "probes/option_rows.h"

enum { CONFIG_VERSION = 1 };

const lra_option lra_job_options[] = {
    {.name = "task",
     .letter = 't',
     .kind = LRA_OPTION_TEXT,
     .value = "listops",
     .arg = "TASK",
     .help = "what is learned ('lra-probe list tasks')"},
    LRA_MODEL_OPTION("who learns"),
    LRA_PRESET_OPTION(
        "quick: minutes on two cores; small: a real experiment; paper: the published setting"),
    LRA_SET_OPTION("task, model or training"),
    {.name = "objective",
     .kind = LRA_OPTION_TEXT,
     .value = "classify",
     .arg = "OBJECTIVE",
     .help = "what is trained on: the task's goal, or more ('lra-probe list objectives')"},
    {.name = "schedule",
     .kind = LRA_OPTION_TEXT,
     .arg = "SCHEDULE",
     .help = "how the learning rate goes on after the warm-up ('lra-probe list schedules'); "
             "default: the preset's"},
    LRA_THREADS_OPTION("as many as help"),
    LRA_DEVICE_OPTION("auto",
                      "where it runs: auto, cpu, cuda or cuda:N ('lra-probe list devices')"),
    {.name = "precision",
     .kind = LRA_OPTION_CHOICE,
     .value = "auto",
     .choices = "auto|f32|bf16",
     .help = "auto: bf16 where the device multiplies it, else f32; printed and stored"},
    LRA_OUT_OPTION("everything is written below this folder"),
    LRA_DATA_DIR_OPTION(" to import instead of generating"),
    {.name = "checkpoint-every",
     .kind = LRA_OPTION_REAL,
     .value = "300",
     .min = 0,
     .max = 1e6,
     .arg = "SECONDS",
     .help = "at least this often, and after every epoch"},
    {.name = "memory",
     .kind = LRA_OPTION_INT,
     .min = 1,
     .max = 1 << 30,
     .arg = "MIB",
     .help = "most memory of a run for parameters and workspace; default: what is free"},
    {.name = "recompute",
     .kind = LRA_OPTION_CHOICE,
     .value = "auto",
     .choices = "auto|nothing|cheap|layers",
     .arg = "WHAT",
     .help = "what the backward pass computes again to save memory; auto: what it must"},
    {.name = "debug-nodes",
     .kind = LRA_OPTION_FLAG,
     .help = "check every node of every step for non-finite values"},
    {.name = NULL}};

/* ---- configuration ----------------------------------------------------------------------------------------- */

static bool has_key(const char *parameters, const char *name)
{
    lra_config *c = lra_config_parse(parameters, &(lra_err){{0}});
    bool has = c && lra_config_has(c, name);
    lra_config_free(c);
    return has;
}

bool lra_job_is_key(const char *name)
{
    bool is = has_key(lra_train_defaults, name);
    for (int i = 0; lra_model_at(i) && !is; i++) is = has_key(lra_model_at(i)->defaults, name);
    for (int i = 0; lra_task_at(i) && !is; i++) is = has_key(lra_task_at(i)->defaults, name);
    return is;
}

/* Changes the one configuration that has the key; a key that none has is refused with a suggestion. */
static int assign(lra_job *r, const char *assignment, lra_err *e)
{
    lra_config *all[] = {r->train_config, r->model_config, r->task_config}, *owner = NULL;
    lra_config *known = lra_config_new();
    char *key = lra_format("%.*s", (int)strcspn(assignment, "="), assignment);
    for (int i = 0; i < 3; i++) {
        if (lra_config_has(all[i], key)) owner = all[i];
        for (int k = 0; lra_config_key(all[i], k); k++)
            lra_config_set(known, lra_config_key(all[i], k), lra_config_value(all[i], k));
    }
    int rc = lra_config_override(owner ? owner : known, assignment, "the run", e);
    lra_config_free(known);
    lra_free(key);
    return rc;
}

/* Every change of "key=value key=value". */
static int assign_all(lra_job *r, const char *text, lra_err *e)
{
    lra_config *changes = lra_config_parse(text, e);
    int rc = changes ? 0 : LRA_FAILED;
    for (int i = 0; rc == 0 && lra_config_key(changes, i); i++) {
        char *one = lra_format("%s=%s", lra_config_key(changes, i), lra_config_value(changes, i));
        rc = assign(r, one, e);
        lra_free(one);
    }
    lra_config_free(changes);
    return rc;
}

static int apply_preset(lra_job *r, lra_err *e)
{
    const lra_preset *p = lra_preset_find(r->task->name, r->preset);
    if (!p) return lra_fail_usage(e, "task '%s' has no preset '%s'", r->task->name, r->preset);
    return assign_all(r, p->changes, e);
}

/* --objective, or --set objective=NAME, and what it changes. */
static int choose_objective(lra_job *r, const lra_options *o, lra_err *e)
{
    static const char key[] = "objective=";
    const char *name = lra_option_text(o, "objective");
    for (int i = 0; lra_option_repeat(o, "set", i); i++)
        if (strncmp(lra_option_repeat(o, "set", i), key, strlen(key)) == 0)
            name = lra_option_repeat(o, "set", i) + strlen(key);
    r->objective = lra_objective_find(name, e);
    if (!r->objective) return LRA_USAGE;
    lra_config_set(r->train_config, "objective", name);
    char *changes = lra_preset_objective(r->objective, r->task, r->preset);
    int rc = assign_all(r, changes, e);
    lra_free(changes);
    return rc;
}

/* How much is picked fits the objective; other runs are named by options. */
static int check_objective(const lra_job *r, lra_err *e)
{
    const lra_config *c = r->train_config;
    const char *name = r->objective->name;
    bool picks = lra_objective_share(r->objective, r->task) > 0;
    double mask = lra_config_real(c, "mask");
    if (picks && mask <= 0)
        return lra_fail_usage(e, "'mask' is 0, but objective '%s' picks steps", name);
    if (!picks && mask > 0)
        return lra_fail_usage(e, "'mask' is %g, but objective '%s' picks no steps", mask, name);
    static const char *const named[] = {"from", "matched", "related"};
    for (int i = 0; i < 3; i++)
        if (strcmp(lra_config_text(c, named[i]), "none") != 0)
            return lra_fail_usage(e, "'%s' is not set: --from RUN and --matched RUN set it",
                                  named[i]);
    return 0;
}

static int check_train_config(const lra_config *c, lra_err *e)
{
    static const struct {
        const char *key;
        double lo, hi;
    } ranges[] = {{"batch", 1, 1 << 20},   {"epochs", 1, 1e6},
                  {"rate", 1e-12, 10},     {"decay", 0, 10},
                  {"clip", 0, 1e9},        {"beta1", 0, 0.9999999},
                  {"beta2", 0, 0.9999999}, {"eps", 1e-30, 1},
                  {"warmup", 0, 1e9},      {"factor", 1e-6, 1},
                  {"patience", 0, 1e6},    {"threshold", 0, 1},
                  {"min-rate", 0, 10},     {"final-share", 0, 1},
                  {"final-rate", 0, 1},    {"augment", 0, 1},
                  {"mask", 0, 1},          {"fraction", 1e-9, 1},
                  {"same-steps", 0, 1},    {"accumulate", 1, 1 << 16},
                  {"early-stop", 0, 1e6},  {"warmup-power", 1e-3, 100},
                  {"every", 1, 1e6},       {"total-steps", 0, 1e15},
                  {"eval-drop-last", 0, 1}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        double v = lra_config_real(c, ranges[i].key);
        if (v < ranges[i].lo || v > ranges[i].hi)
            return lra_fail_usage(e, "'%s' is %.15g, expected %.15g to %.15g", ranges[i].key, v,
                                  ranges[i].lo, ranges[i].hi);
    }
    if (!lra_schedule_find(lra_config_text(c, "schedule"), e)) return LRA_USAGE;
    const char *pool = lra_config_text(c, "pool");
    if (strcmp(pool, "mean") && strcmp(pool, "last") && strcmp(pool, "max"))
        return lra_fail_usage(e, "'pool' is '%s', expected mean, last or max", pool);
    return 0;
}

/* Settings of which there is no model, or one that cannot learn the task. */
static int check_model(const lra_job *r, lra_err *e)
{
    bool next = r->task->goal == LRA_GOAL_NEXT || r->objective->training == LRA_MASK_NEXT;
    lra_network_spec s = {.head = next ? LRA_HEAD_NEXT : LRA_HEAD_CLASS};
    return lra_network_check(r->model, r->model_config, &s, e);
}

int lra_job_recompute(const lra_options *o)
{
    static const char *const name[] = {"nothing", "cheap", "layers"}; /* lra_keep */
    int keep = 2;
    while (keep >= 0 && strcmp(name[keep], lra_option_text(o, "recompute")) != 0) keep--;
    return keep < 0 ? LRA_RECOMPUTE_AUTO : keep;
}

int lra_job_open(lra_job *r, const lra_options *o, lra_err *e)
{
    return lra_job_open_with(r, o, NULL, e);
}

int lra_job_open_with(lra_job *r, const lra_options *o, const char *assignment, lra_err *e)
{
    *r = (lra_job){.preset = lra_option_text(o, "preset"), .out = lra_option_text(o, "out")};
    r->data_dir = lra_option_text(o, "data-dir");
    r->precision = lra_option_text(o, "precision");
    r->debug_nodes = lra_option_flag(o, "debug-nodes");
    r->checkpoint_every = lra_option_real(o, "checkpoint-every");
    r->memory = 1048576.0 * (double)lra_option_int(o, "memory");
    r->recompute = lra_job_recompute(o);
    r->task = lra_task_find(lra_option_text(o, "task"), e);
    if (!r->task) return LRA_USAGE;
    r->model = lra_model_find(lra_option_text(o, "model"), e);
    if (!r->model) return LRA_USAGE;
    r->task_config = lra_task_config(r->task, r->preset, e);
    if (!r->task_config) return LRA_USAGE;
    r->model_config = lra_config_parse(r->model->defaults, e);
    r->train_config = lra_config_parse(lra_train_defaults, e);
    int rc = apply_preset(r, e);
    if (rc == 0) rc = choose_objective(r, o, e);
    if (rc == 0 && lra_option_given(o, "schedule"))
        lra_config_set(r->train_config, "schedule", lra_option_text(o, "schedule"));
    for (int i = 0; rc == 0 && lra_option_repeat(o, "set", i); i++)
        rc = assign(r, lra_option_repeat(o, "set", i), e);
    if (rc == 0 && assignment) rc = assign(r, assignment, e);
    if (rc == 0 && r->task->validate) rc = r->task->validate(r->task_config, e);
    if (rc == 0) rc = check_train_config(r->train_config, e);
    if (rc == 0) rc = check_objective(r, e);
    if (rc == 0) rc = check_model(r, e);
    if (rc == 0)
        rc = lra_job_device(lra_option_text(o, "device"), (int)lra_option_int(o, "threads"),
                            &r->device, &r->no_gpu, e);
    if (rc == 0) r->precision = lra_job_precision(r->precision, &r->device);
    return rc;
}

/* As the S4 pipeline scores: validation and test without their last rows where these fill no batch. */
static int drop_last_rows(lra_job *r, lra_err *e)
{
    int64_t batch = lra_config_int(r->train_config, "batch");
    if (r->task->goal == LRA_GOAL_NEXT)
        return lra_fail_usage(e, "'eval-drop-last' is for rows, task '%s' is a stream",
                              r->task->name);
    for (int s = LRA_VAL_SPLIT; s < LRA_N_SPLITS; s++) {
        int64_t *n = &r->data->split[s].n;
        if (*n < batch)
            return lra_fail_usage(e,
                                  "'eval-drop-last' leaves none of the %lld %s rows, expected a "
                                  "batch of %lld at least",
                                  (long long)*n, lra_split_names[s], (long long)batch);
        *n -= *n % batch;
    }
    return 0;
}

int lra_job_load_data(lra_job *r, lra_err *e)
{
    r->data = lra_dataset_open(r->task, r->task_config, r->out, r->data_dir, e);
    if (!r->data) return LRA_FAILED;
    return lra_config_int(r->train_config, "eval-drop-last") ? drop_last_rows(r, e) : 0;
}

int lra_job_load_weights(lra_job *r, const char *path, lra_err *e)
{
    if (lra_safetensors_read(path, &r->weights, e) != 0) return LRA_FAILED;
    r->weights_path = path;
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

/* Adds "PREFIX.key" for every value that differs from the defaults. */
static void add_changes(lra_config *to, const char *prefix, const lra_config *c,
                        const char *defaults)
{
    lra_err e;
    lra_config *usual = lra_config_parse(defaults, &e);
    for (int i = 0; lra_config_key(c, i); i++) {
        const char *key = lra_config_key(c, i), *value = lra_config_value(c, i);
        if (strcmp(lra_config_text_or(usual, key, ""), value) == 0) continue;
        char *name = lra_format("%s.%s", prefix, key);
        lra_config_set(to, name, value);
        lra_free(name);
    }
    lra_config_free(usual);
}

char *lra_job_config(const lra_job *r, int64_t seed, char hash[17])
{
    lra_config *c = lra_config_new();
    lra_config_set_int(c, "version", CONFIG_VERSION);
    lra_config_set(c, "task", r->task->name);
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
    add_changes(c, "task", r->task_config, r->task->defaults);
    add_changes(c, "model", r->model_config, r->model->defaults);
    add_changes(c, "train", r->train_config, lra_train_defaults);
    char *lines = lra_config_lines(c);
    lra_config_hash(c, hash);
    lra_config_free(c);
    return lines;
}

char *lra_job_folder(const lra_job *r, int64_t seed)
{
    char hash[17];
    lra_free(lra_job_config(r, seed, hash));
    return lra_format("%s/runs/%s-%s-%s", r->out, r->task->name, r->model->name, hash);
}

static lra_pool_kind pool_of(const lra_config *c)
{
    const char *pool = lra_config_text(c, "pool");
    return strcmp(pool, "mean") == 0   ? LRA_POOL_MEAN
           : strcmp(pool, "last") == 0 ? LRA_POOL_LAST
                                       : LRA_POOL_MAX;
}

void lra_job_spec(const lra_job *r, int64_t seed, lra_train_spec *s)
{
    const lra_config *c = r->train_config;
    double fraction = lra_config_real(c, "fraction");
    char hash[17];
    *s = (lra_train_spec){
        .folder = lra_job_folder(r, seed),
        .config = lra_job_config(r, seed, hash),
        .data = r->data,
        .model = r->model,
        .model_config = r->model_config,
        .objective = r->objective,
        .mask = lra_config_real(c, "mask"),
        .pool = pool_of(c),
        .type = strcmp(r->precision, "bf16") == 0 ? LRA_BF16 : LRA_F32,
        .batch = lra_config_int(c, "batch"),
        .seed = (uint64_t)seed,
        .weights = r->weights_path ? &r->weights : NULL,
        .weights_path = r->weights_path,
        .untrained = r->evaluate,
        .from = r->from,
        .augment = lra_config_int(c, "augment") != 0,
        .fraction = fraction < 1 ? fraction : 0,
        .same_steps = lra_config_int(c, "same-steps") != 0,
        .accumulate = lra_config_int(c, "accumulate"),
        .early_stop = lra_config_int(c, "early-stop"),
        .debug_nodes = r->debug_nodes,
        .memory = r->memory,
        .recompute = r->recompute,
        .checkpoint_every = r->checkpoint_every,
        .schedule = {.kind = lra_schedule_find(lra_config_text(c, "schedule"), &(lra_err){{0}}),
                     .rate = lra_config_real(c, "rate"),
                     .warmup = lra_config_real(c, "warmup"),
                     .power = lra_config_real(c, "warmup-power"),
                     .factor = lra_config_real(c, "factor"),
                     .every = lra_config_int(c, "every"),
                     .total = lra_config_int(c, "total-steps"),
                     .patience = lra_config_int(c, "patience"),
                     .threshold = lra_config_real(c, "threshold"),
                     .min_rate = lra_config_real(c, "min-rate"),
                     .final_share = lra_config_real(c, "final-share"),
                     .final_rate = lra_config_real(c, "final-rate"),
                     .epochs = lra_config_int(c, "epochs")},
        .optimizer = {.beta1 = lra_config_real(c, "beta1"),
                      .beta2 = lra_config_real(c, "beta2"),
                      .eps = lra_config_real(c, "eps"),
                      .decay = lra_config_real(c, "decay"),
                      .clip = lra_config_real(c, "clip"),
                      .rate = lra_config_real(c, "rate")}};
    const char *kernel = lra_config_text_or(r->model_config, "kernel", NULL);
    bool plain = r->objective == &lra_objective_classify;
    s->title = lra_format("%s %s%s%s%s%s seed %lld", r->task->name, r->model->name,
                          kernel ? " K=" : "", kernel ? kernel : "", plain ? "" : " ",
                          plain ? "" : r->objective->name, (long long)seed);
}

void lra_job_spec_free(lra_train_spec *s)
{
    lra_free((void *)(uintptr_t)s->folder);
    lra_free((void *)(uintptr_t)s->config);
    lra_free((void *)(uintptr_t)s->title);
}
