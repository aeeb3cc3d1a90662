/* Determines the settings of a run: defaults, then preset, objective and user changes; then checks
 * them (settings.h). */
#include "probes/run/settings.h"

#include <string.h>

#include "datasets/prepare.h"
#include "kernels/base/core/mem.h"
#include "models/training/settings.h"
#include "probes/run/key_tables.h"

const lra_key lra_relation_keys[] = {
    LRA_TEXT_KEY("from", "none", NULL, "run whose inputs and encoder initialise this one"),
    LRA_TEXT_KEY("matched", "none", NULL, "run whose number of steps is added"),
    LRA_TEXT_KEY("related", "none", NULL, "settings of that run except seed and rung"),
    LRA_TEXT_KEY("tuning", "none", NULL,
                 "the run is a trial of --tune: setting, base value, value (KEY:BASE:VALUE)"),
    LRA_KEYS_END};

/* ---- owners of keys -------------------------------------------------------------------------- */

enum { N_OWNERS = 5 };
/* The tables of settings of this run, and the configurations that store their values. */
typedef struct {
    lra_key_table table[N_OWNERS];
    lra_config *values[N_OWNERS];
} owners;

static owners owners_of(const lra_job *r)
{
    return (owners){
        {{"training", "", lra_train_keys},
         {"schedule", r->schedule->name, r->schedule->keys},
         {"objective", r->objective->name, r->objective->keys},
         {"model", r->model->name, r->model->keys},
         {"task", r->task->name, r->task->keys}},
        {r->train_config, r->train_config, r->train_config, r->model_config, r->task_config}};
}

/* Index of the table with the key, or -1. */
static int owner_of(const owners *all, const char *name)
{
    int i = N_OWNERS - 1;
    while (i >= 0 && !lra_key_find(all->table[i].keys, name)) i--;
    return i;
}

const lra_key *lra_job_key(const lra_job *r, const char *name, const char **owner)
{
    static const char *const prefix[N_OWNERS] = {"train", "train", "train", "model", "task"};
    owners all = owners_of(r);
    int i = owner_of(&all, name);
    *owner = i < 0 ? NULL : prefix[i];
    return i < 0 ? NULL : lra_key_find(all.table[i].keys, name);
}

static int assign(lra_job *r, const char *assignment, lra_err *e)
{
    owners all = owners_of(r);
    char *name = lra_format("%.*s", (int)strcspn(assignment, "="), assignment);
    int i = owner_of(&all, name), rc;
    if (i >= 0 || !strchr(assignment, '=') || !*name)
        rc = lra_keys_assign(all.table[i < 0 ? 0 : i].keys, all.values[i < 0 ? 0 : i], assignment,
                             "the run", e);
    else if (lra_key_find(lra_relation_keys, name))
        rc = lra_fail_usage(e, "'%s' cannot be set: %s", name,
                            strcmp(name, "tuning") == 0 ? "--tune of 'lra-probe sweep' sets it"
                                                        : "--from RUN and --matched RUN set it");
    else
        rc = lra_key_fail(name, all.table, N_OWNERS, "the run", e);
    lra_free(name);
    return rc;
}

/* Applies all settings of a preset. Settings that belong to another schedule or objective than the
 * run's are ignored. */
static int assign_preset(lra_job *r, const char *text, lra_err *e)
{
    lra_config *changes = lra_config_parse(text, e);
    int rc = changes ? 0 : LRA_FAILED;
    for (int i = 0; rc == 0 && lra_config_key(changes, i); i++) {
        const char *key = lra_config_key(changes, i);
        owners all = owners_of(r);
        /* schedule and objective were already chosen by the caller */
        if (lra_task_has_key("schedule objective", key)) continue;
        if (owner_of(&all, key) < 0 && lra_key_is_known(key)) continue;
        char *one = lra_format("%s=%s", key, lra_config_value(changes, i));
        rc = assign(r, one, e);
        lra_free(one);
    }
    lra_config_free(changes);
    return rc;
}

/* ---- choices by name ------------------------------------------------------------------------- */

/* Value of the assignment or of the user's last --set KEY=VALUE; else of the option --KEY. NULL:
 * none of them is given. */
static const char *named(const lra_options *o, const char *key, const char *assignment)
{
    const char *value = lra_option_text(o, key), *one;
    size_t n = strlen(key);
    for (int i = 0; (one = lra_option_repeat(o, "set", i)) != NULL; i++)
        if (strncmp(one, key, n) == 0 && one[n] == '=') value = one + n + 1;
    if (assignment && strncmp(assignment, key, n) == 0 && assignment[n] == '=')
        value = assignment + n + 1;
    return value;
}

/* Returns the value of a key in the last of the preset's n texts that has it; `otherwise` if none
 * has it. Texts may be NULL. The caller frees the value. */
static char *preset_value(const char *key, const char *otherwise, int n, const char *const *texts)
{
    char *own = lra_copy_text(otherwise);
    for (int i = 0; i < n; i++) {
        lra_err e;
        lra_config *c = lra_config_parse(texts[i] ? texts[i] : "", &e);
        if (!c) LRA_BUG("%s", e.msg);
        char *next = lra_copy_text(lra_config_text_or(c, key, own));
        lra_free(own);
        lra_config_free(c);
        own = next;
    }
    return own;
}

/* Sets the schedule: the user's choice `name`, or else the preset's. */
static int choose_schedule(lra_job *r, const char *name, int n, const char *const *texts,
                           lra_err *e)
{
    char *own = preset_value("schedule", "plateau", n, texts);
    r->schedule = lra_schedule_find(name ? name : own, e);
    lra_free(own);
    return r->schedule ? 0 : LRA_USAGE;
}

static int choose_objective(lra_job *r, const char *name, lra_err *e)
{
    const char *technique = r->plan.technique;
    char *own = preset_value("objective", "classify", 1, &technique);
    r->objective = lra_objective_find(name ? name : own, e);
    lra_free(own);
    return r->objective ? 0 : LRA_USAGE;
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* Fails if the settings define no valid model, or one that cannot learn the task. */
static int check_model(const lra_job *r, lra_err *e)
{
    bool next = r->task->goal == LRA_GOAL_NEXT || r->objective->training == LRA_MASK_NEXT;
    lra_train_spec train = {0};
    lra_train_settings(&train, r->train_config);
    lra_network_spec s = {.head = next ? LRA_HEAD_NEXT : LRA_HEAD_CLASS, .pool = train.pool};
    return lra_network_check(r->model, r->model_config, &s, e);
}

/* ---- all settings ---------------------------------------------------------------------------- */

void lra_job_defaults(lra_job *r)
{
    if (!r->task_config) r->task_config = lra_keys_config(r->task->keys);
    r->model_config = lra_keys_config(r->model->keys);
    r->train_config = lra_keys_config(lra_train_keys);
    lra_keys_add(r->schedule->keys, r->train_config);
    lra_keys_add(r->objective->keys, r->train_config);
    lra_config_set(r->train_config, "schedule", r->schedule->name);
    lra_config_set(r->train_config, "objective", r->objective->name);
}

/* Applies all changes to the defaults: the n texts of the preset, --set options, and the
 * assignment. */
static int apply(lra_job *r, const lra_options *o, const char *assignment, int n,
                 const char *const *texts, lra_err *e)
{
    int rc = 0;
    /* A model that predicts the next token must not have it as input. */
    if (r->task->goal == LRA_GOAL_NEXT && lra_key_find(r->model->keys, "causal"))
        rc = assign(r, "causal=1", e);
    for (int i = 0; rc == 0 && i < n; i++)
        if (texts[i]) rc = assign_preset(r, texts[i], e);
    if (rc == 0 && r->label_column) {
        char *label = lra_format("label=%s", r->label_column);
        rc = assign(r, label, e);
        lra_free(label);
    }
    for (int i = 0; rc == 0 && lra_option_repeat(o, "set", i); i++)
        rc = assign(r, lra_option_repeat(o, "set", i), e);
    if (rc == 0 && assignment) rc = assign(r, assignment, e);
    if (rc == 0 && r->task->validate) rc = r->task->validate(r->task_config, e);
    return rc == 0 ? check_model(r, e) : rc;
}

static int configure(lra_job *r, const lra_options *o, const char *assignment,
                     const char *objective, lra_err *e)
{
    const char *const texts[] = {r->plan.training, r->plan.technique, r->plan.size, objective};
    enum { N = sizeof texts / sizeof *texts };
    int rc = choose_schedule(r, named(o, "schedule", assignment), N, texts, e);
    r->task_config = rc == 0 ? lra_task_config(r->task, r->preset, e) : NULL;
    if (!r->task_config) return LRA_USAGE;
    lra_job_defaults(r);
    return apply(r, o, assignment, N, texts, e);
}

/* Applies "key=value" if the key is a parameter of the task; other keys are checked later. */
static int assign_task(lra_job *r, lra_config *c, const char *assignment, lra_err *e)
{
    char *name = lra_format("%.*s", (int)strcspn(assignment, "="), assignment);
    bool own = lra_key_find(r->task->keys, name) && strchr(assignment, '=');
    lra_free(name);
    return own ? lra_keys_assign(r->task->keys, c, assignment, "the run", e) : 0;
}

/* Own data: loads them first, because the goal, the classes and the presets of the task follow from
 * the data. */
static int resolve(lra_job *r, const lra_options *o, const char *assignment, lra_err *e)
{
    if (!r->task->resolve || r->task->record) return 0;
    lra_config *c = lra_task_config(r->task, r->preset, e);
    int rc = c ? 0 : LRA_USAGE;
    char *label = r->label_column ? lra_format("label=%s", r->label_column) : NULL;
    if (rc == 0 && label) rc = assign_task(r, c, label, e);
    for (int i = 0; rc == 0 && lra_option_repeat(o, "set", i); i++)
        rc = assign_task(r, c, lra_option_repeat(o, "set", i), e);
    if (rc == 0 && assignment) rc = assign_task(r, c, assignment, e);
    if (rc == 0) {
        r->data = (r->dry ? lra_dataset_open_readonly : lra_dataset_open)(r->task, c, r->out,
                                                                          r->data_dir, e);
        rc = r->data ? 0 : LRA_FAILED;
    }
    if (rc == 0) r->task = r->data->task;
    lra_free(label);
    lra_config_free(c);
    return rc;
}

/* Finds the preset and the techniques of the options. */
static int choose_preset(lra_job *r, const lra_options *o, lra_err *e)
{
    int rc = lra_preset_find(r->task, r->model, lra_option_text(o, "preset"), &r->plan, e);
    if (rc == 0)
        rc = lra_preset_use_techniques(&r->plan, r->task, lra_option_text(o, "techniques"), e);
    return rc == 0 ? 0 : LRA_USAGE;
}

int lra_job_configure(lra_job *r, const lra_options *o, const char *assignment, lra_err *e)
{
    if (choose_preset(r, o, e) != 0) return LRA_USAGE;
    r->preset = r->plan.name;
    int rc = resolve(r, o, assignment, e);
    if (rc != 0) return rc;
    if (choose_preset(r, o, e) != 0) return LRA_USAGE;
    if (choose_objective(r, named(o, "objective", assignment), e) != 0) return LRA_USAGE;
    char *objective = lra_preset_objective(r->objective, r->task, r->preset);
    rc = configure(r, o, assignment, objective, e);
    lra_free(objective);
    return rc;
}

int lra_job_configure_again(lra_job *r, const lra_options *o, const char *assignment, lra_err *e)
{
    r->task = lra_task_record(r->task); /* the instance is freed together with the data */
    lra_dataset_free(r->data);
    lra_config_free(r->task_config);
    lra_config_free(r->model_config);
    lra_config_free(r->train_config);
    r->data = NULL, r->task_config = r->model_config = r->train_config = NULL;
    return lra_job_configure(r, o, assignment, e);
}
