/* The settings of a run: defaults, preset, objective, what the user changes; checked in this order. */
#include <string.h>

#include "kernels/base/mem.h"
#include "probes/run/job.h"

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

/* ---- all of it ------------------------------------------------------------------------------------------- */

int lra_job_configure(lra_job *r, const lra_options *o, const char *assignment, lra_err *e)
{
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
    return rc;
}
