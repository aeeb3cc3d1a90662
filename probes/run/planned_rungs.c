/* Checks that the reach grows over the rungs of a ladder, and solves their sizes
 * (planned_rungs.h). */
#include "probes/run/planned_rungs.h"

#include <inttypes.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "probes/run/matched_rungs.h"

/* Fails if the reach does not grow from rung to rung, or if no rung reaches another token. */
static int check_reach(const lra_rungs *l, const lra_job *ladder, lra_err *e)
{
    int64_t before = -1, T = ladder->data->max_length, reach = 0;
    bool kernels = strcmp(l->axis, "kernel") == 0;
    for (int i = 0; i < l->n; i++) {
        lra_job r = lra_rung_job(l, i, ladder);
        reach = lra_job_reach(&r);
        lra_rung_job_free(&r);
        if (reach < 0 || reach > T) reach = T;
        if (reach <= before)
            return lra_fail_usage(
                e,
                "%s %" PRId64 " and %" PRId64 " %s %" PRId64 " of %" PRId64 " tokens; remove one",
                kernels ? "kernels" : l->axis, l->rung[i - 1].value, l->rung[i].value,
                reach == before ? "both have a reach of" : "have a reach of at most", before, T);
        before = reach;
    }
    if (reach == 0)
        return kernels
                   ? lra_fail_usage(
                         e,
                         "no kernel is larger than 1; a ladder needs a rung that reaches another "
                         "token")
                   : lra_fail_usage(e,
                                    "no rung reaches another token; a ladder needs one that does");
    return 0;
}

static void add_names(lra_text *t, const lra_key *keys)
{
    for (; keys && keys->name; keys++)
        lra_text_add(t, "%s%s", t->s[t->n - 1] == '=' ? "" : ",", keys->name);
}

/* Adds "vary=train.rate usual=0.001", the key that differs between ladders and its default. If it
 * is the schedule or the objective, also adds "own=": the settings of all schedules (or
 * objectives), which change with it. */
static void add_vary(lra_text *t, const lra_vary *v)
{
    lra_text_add(t, " vary=%s.%s usual=%s", v->owner, v->key, v->default_value);
    bool schedules = strcmp(v->key, "schedule") == 0, objectives = strcmp(v->key, "objective") == 0;
    if (!schedules && !objectives) return;
    lra_text_add(t, " own=");
    for (int i = 0; schedules && lra_schedule_at(i); i++) add_names(t, lra_schedule_at(i)->keys);
    for (int i = 0; objectives && lra_objective_at(i); i++) add_names(t, lra_objective_at(i)->keys);
}

/* The ladder's attributes that are stored in a result; reports read from them the rungs and what
 * differs between ladders. NULL if only the kernel differs and it bounds the reach of the model. */
static char *ladder_text(const lra_rungs *l, int i, const lra_job *r)
{
    const lra_vary *v = l->vary && l->vary->key ? l->vary : NULL;
    bool kernels = strcmp(l->axis, "kernel") == 0, matched = l->count > 0;
    bool plain = kernels && r->model->axis && strcmp(r->model->axis, "kernel") == 0;
    if (plain && !matched && !v) return NULL;
    lra_text t = {0};
    lra_config *default_value = lra_keys_config(r->model->keys);
    lra_text_add(&t, "axis=%s default=%s", l->axis, lra_config_text(default_value, l->axis));
    if (matched)
        lra_text_add(&t, " match=%s key=%s value=%" PRId64 " reference=%" PRId64 " count=%.17g",
                     l->match, r->model->match, l->rung[i].size, l->rung[l->reference].size,
                     l->count);
    if (v) add_vary(&t, v);
    lra_config_free(default_value);
    return t.s;
}

int lra_rungs_plan(lra_rungs *l, const lra_job *r, lra_err *e)
{
    const char *key = r->model->match;
    for (int i = 0; i < l->n; i++) {
        l->rung[i].size = key ? lra_config_int(r->model_config, key) : 0;
        lra_free(l->rung[i].ladder);
        l->rung[i].ladder = NULL;
    }
    l->count = 0;
    if (check_reach(l, r, e) != 0) return LRA_USAGE;
    if (strcmp(l->match, "none") != 0) {
        int rc = lra_rungs_match(l, r, e);
        if (rc != 0) return rc;
    }
    for (int i = 0; i < l->n; i++) l->rung[i].ladder = ladder_text(l, i, r);
    return 0;
}
