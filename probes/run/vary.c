/* Reads --vary: one ladder for each value of a setting (vary.h). */
#include "probes/run/vary.h"

#include <string.h>

#include "kernels/base/core/mem.h"
#include "probes/run/settings.h"
#include "probes/run/values.h"

const lra_option lra_vary_options[] = {
    {.name = "distance",
     .kind = LRA_OPTION_TEXT,
     .arg = "LIST",
     .help = "train a ladder for each distance of the task's dependencies; short for --vary "
             "distance=LIST"},
    {.name = "vary",
     .kind = LRA_OPTION_TEXT,
     .arg = "KEY=LIST",
     .help = "train a ladder for each value of a setting of task, model or training, and print one "
             "table of all; a model that no setting limits in reach is trained once per value"},
    {.name = NULL}};

int lra_vary_open(lra_vary *v, const lra_options *o, lra_err *e)
{
    const char *distance = lra_option_text(o, "distance"), *vary = lra_option_text(o, "vary");
    *v = (lra_vary){.n = 1};
    if (!distance && !vary) return 0;
    if (distance && vary) return lra_fail_usage(e, "--distance and --vary exclude each other");
    if (lra_option_repeat(o, "distance", 1) || lra_option_repeat(o, "vary", 1))
        return lra_fail_usage(e, "the ladders differ in one setting, but --%s is given twice",
                              vary ? "vary" : "distance");
    size_t n = vary ? strcspn(vary, "=") : 0;
    if (vary && (n == 0 || !vary[n]))
        return lra_fail_usage(e, "--vary is '%s'; expected KEY=VALUE,VALUE,...", vary);
    v->key = vary ? lra_format("%.*s", (int)n, vary) : lra_copy_text("distance");
    v->n = lra_values_read(vary ? vary + n + 1 : distance, LRA_SWEEP_MAX_VALUES, v->value, e);
    if (v->n > 0) return 0;
    v->n = 0;
    return LRA_USAGE;
}

void lra_vary_close(lra_vary *v)
{
    for (int i = 0; i < v->n; i++) lra_free(v->value[i]);
    lra_free(v->key);
    *v = (lra_vary){0};
}

char *lra_vary_assignment(const lra_vary *v, int i)
{
    return v->key ? lra_format("%s=%s", v->key, v->value[i]) : NULL;
}

/* Replaces value i by its canonical text, so that 1e-3 and 0.001 are recognised as equal. */
static int settle(lra_vary *v, int i, const lra_key *key, lra_err *e)
{
    char *text = lra_key_text(key, v->value[i], e);
    if (!text) return LRA_USAGE;
    lra_free(v->value[i]);
    v->value[i] = text;
    for (int k = 0; k < i; k++)
        if (strcmp(v->value[k], text) == 0)
            return lra_fail_usage(e, "'%s' contains %s twice", v->key, text);
    return 0;
}

/* Checks that value number i gives valid settings of a run. */
static int try_value(const lra_vary *v, int i, const lra_options *o, const lra_job *r, lra_err *e)
{
    lra_job one = {.task = r->task, .model = r->model};
    char *assignment = lra_vary_assignment(v, i);
    int rc = lra_job_configure(&one, o, assignment, e);
    lra_job_close(&one);
    lra_free(assignment);
    return rc;
}

int lra_vary_check(lra_vary *v, const lra_options *o, const lra_job *r, lra_err *e)
{
    int rc = 0;
    if (!v->key) return 0;
    const lra_key *key = lra_job_key(r, v->key, &v->owner);
    if (!key) LRA_BUG("no key '%s'", v->key);
    v->default_value = key->value;
    for (int i = 0; i < v->n && rc == 0; i++) {
        rc = settle(v, i, key, e);
        if (rc == 0) rc = try_value(v, i, o, r, e);
    }
    return rc;
}
