/* Derives properties of a task from its record: presets, metric and longest row. */
#include "datasets/loader/task.h"

#include <string.h>

const lra_task *lra_task_record(const lra_task *t)
{
    return t->record ? t->record : t;
}

const char *lra_task_id(const lra_task *t)
{
    return lra_task_record(t)->name;
}

const lra_budget *lra_task_budget(const lra_task *t, const char *preset)
{
    const lra_budget *b = strcmp(preset, "quick") == 0   ? &t->quick
                          : strcmp(preset, "small") == 0 ? &t->small
                          : strcmp(preset, "paper") == 0 ? &t->paper
                                                         : NULL;
    return b && b->seeds ? b : NULL;
}

lra_config *lra_task_config(const lra_task *t, const char *preset, lra_err *e)
{
    const lra_budget *b = lra_task_budget(t, preset);
    if (!b && strcmp(preset, "paper") != 0) {
        lra_fail_usage(e, "task '%s' has no preset '%s'", t->name, preset);
        return NULL;
    }
    lra_config *c = lra_keys_config(t->keys);
    if (b && b->rows) lra_keys_apply(t->keys, c, b->rows);
    return c;
}

const lra_metric *lra_task_metric(const lra_task *t)
{
    static const char *const defaults[] = {[LRA_GOAL_CLASS] = "accuracy",
                                           [LRA_GOAL_PAIR] = "accuracy",
                                           [LRA_GOAL_VALUE] = "rmse",
                                           [LRA_GOAL_TOKENS] = "r2",
                                           [LRA_GOAL_NEXT] = "bits-per-token"};
    lra_err e;
    const lra_metric *m = lra_metric_find(t->metric ? t->metric : defaults[t->goal], &e);
    if (!m) LRA_BUG("task '%s': %s", t->name, e.msg);
    return m;
}

int64_t lra_task_longest(const lra_task *t, const lra_config *c)
{
    if (t->data.steps) return t->data.steps;
    if (!t->data.longest) LRA_BUG("task '%s' does not declare the length of its rows", t->name);
    return t->data.longest(c);
}

int64_t lra_longest_length(const lra_config *c)
{
    return lra_config_int(c, "length");
}
int64_t lra_longest_context(const lra_config *c)
{
    return lra_config_int(c, "context");
}

bool lra_task_has_key(const char *words, const char *key)
{
    size_t n = strlen(key);
    for (const char *at = words ? words : ""; *at; at += *at == ' ') {
        size_t length = strcspn(at, " ");
        if (length == n && strncmp(at, key, n) == 0) return true;
        at += length;
    }
    return false;
}
