/* One ladder for each value of a parameter of the task. */
#include "probes/run/vary.h"

#include <string.h>

#include "kernels/base/mem.h"

const lra_option lra_vary_options[] = {
    {.name = "distance",
     .kind = LRA_OPTION_TEXT,
     .arg = "LIST",
     .help =
         "a ladder for each distance of the task's dependencies; short for --vary distance=LIST"},
    {.name = "vary",
     .kind = LRA_OPTION_TEXT,
     .arg = "KEY=LIST",
     .help = "a ladder for each value of a task parameter, and one table of them all"},
    {.name = NULL}};

static int read_values(lra_vary *v, const char *list, lra_err *e)
{
    for (const char *at = list; *at;) {
        size_t n = strcspn(at, ",");
        if (n == 0 || (at[n] == ',' && !at[n + 1]))
            return lra_fail_usage(e, "'%s' has an empty value, expected values separated by commas",
                                  list);
        if (v->n == LRA_SWEEP_MAX_VALUES)
            return lra_fail_usage(e, "'%s' has more than %d values", list, LRA_SWEEP_MAX_VALUES);
        v->value[v->n++] = lra_format("%.*s", (int)n, at);
        for (int i = 0; i < v->n - 1; i++)
            if (strcmp(v->value[i], v->value[v->n - 1]) == 0)
                return lra_fail_usage(e, "'%s' has %s twice", list, v->value[i]);
        at += n + (at[n] == ',');
    }
    if (v->n == 0) return lra_fail_usage(e, "an empty list, expected values");
    return 0;
}

static int check_values(const lra_vary *v, const lra_task *task, lra_config *c, bool distance,
                        lra_err *e)
{
    if (distance && !lra_config_has(c, "distance"))
        return lra_fail_usage(e,
                              "task '%s' has no distance; --vary KEY=LIST varies another parameter "
                              "('lra-probe data %s' shows them)",
                              task->name, task->name);
    int rc = 0;
    for (int i = 0; i < v->n && rc == 0; i++) rc = lra_vary_set(v, i, task, c, e);
    return rc;
}

int lra_vary_open(lra_vary *v, const lra_options *o, const lra_task *task, lra_err *e)
{
    const char *distance = lra_option_text(o, "distance"), *vary = lra_option_text(o, "vary");
    *v = (lra_vary){.n = 1};
    if (!distance && !vary) return 0;
    if (distance && vary) return lra_fail_usage(e, "--distance and --vary do not go together");
    size_t n = vary ? strcspn(vary, "=") : 0;
    if (vary && (n == 0 || !vary[n]))
        return lra_fail_usage(e, "--vary is '%s', expected KEY=VALUE,VALUE,...", vary);
    v->n = 0;
    v->key = vary ? lra_format("%.*s", (int)n, vary) : lra_copy_text("distance");
    if (read_values(v, vary ? vary + n + 1 : distance, e) != 0) return LRA_USAGE;
    lra_config *c = lra_keys_config(task->keys);
    int rc = check_values(v, task, c, distance, e);
    lra_config_free(c);
    return rc;
}

void lra_vary_close(lra_vary *v)
{
    for (int i = 0; i < v->n; i++) lra_free(v->value[i]);
    lra_free(v->key);
    *v = (lra_vary){0};
}

int lra_vary_set(const lra_vary *v, int i, const lra_task *task, lra_config *c, lra_err *e)
{
    if (!v->key) return 0;
    char *assignment = lra_format("%s=%s", v->key, v->value[i]),
         *what = lra_format("task '%s'", task->name);
    int rc = lra_keys_assign(task->keys, c, assignment, what, e);
    lra_free(assignment);
    lra_free(what);
    return rc;
}
