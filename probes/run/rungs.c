/* Reads the rungs of a ladder, and the key in which they differ (rungs.h). */
#include "probes/run/rungs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "probes/run/key_tables.h"

const lra_option lra_rungs_options[] = {
    {.name = "kernels",
     .letter = 'k',
     .kind = LRA_OPTION_INTS,
     .min = 1,
     .max = 65535,
     .arg = "LIST",
     .help = "odd kernel sizes, separated by commas; short for --axis kernel=LIST (default: the "
             "preset's)"},
    {.name = "axis",
     .kind = LRA_OPTION_TEXT,
     .arg = "[KEY=]LIST",
     .help = "rungs of the ladder: values of an integer setting that determines the model's "
             "reach, as in dilation=1,2,4,8 (default KEY: the setting that limits the reach of the "
             "model, as kernel of resconv)"},
    {.name = "match",
     .kind = LRA_OPTION_CHOICE,
     .value = "none",
     .choices = "none|params|flops",
     .help = "make all rungs as large as the widest, in parameters or in FLOPs per training step, "
             "within 2 %"},
    {.name = "match-rung",
     .kind = LRA_OPTION_INT,
     .min = 1,
     .max = 1 << 30,
     .arg = "VALUE",
     .help = "value of the rung whose size the others get by --match (default: the widest)"},
    {.name = NULL}};

static int add(lra_rungs *l, int64_t value, lra_err *e)
{
    if (l->n == LRA_LADDER_MAX_RUNGS)
        return lra_fail_usage(e, "more than %d rungs", LRA_LADDER_MAX_RUNGS);
    l->rung[l->n++].value = value;
    return 0;
}

/* Reads a list of values, "1,3,5", as rungs. */
static int read_list(lra_rungs *l, const char *list, lra_err *e)
{
    int rc = 0;
    for (const char *at = list; rc == 0; at++) {
        char word[24] = {0};
        int64_t value = 0;
        size_t n = strcspn(at, ",");
        memcpy(word, at, n < sizeof word ? n : sizeof word - 1);
        if (!lra_parse_int(word, &value) || value < 1)
            return lra_fail_usage(e, "'%s' in '%s' is not an integer of at least 1", word, list);
        rc = add(l, value, e);
        at += n;
        if (!*at) break;
    }
    return rc;
}

static const char without_axis[] =
    "'lra-probe influence RUN --parts context' measures the reach of a trained run";

/* Uses the key that the model declares as its axis. */
static int use_own_axis(lra_rungs *l, const lra_job *r, lra_err *e)
{
    if (!r->model->axis)
        return lra_fail_usage(
            e, "no key determines the reach of model '%s'; name one with --axis KEY=LIST, and %s",
            r->model->name, without_axis);
    l->axis = lra_copy_text(r->model->axis);
    return 0;
}

/* Reads KEY=LIST, "dilation=1,2", or a list alone, "1,2", for the model's own axis. */
static int read_axis(lra_rungs *l, const char *axis, const lra_job *r, lra_err *e)
{
    size_t n = strcspn(axis, "=");
    if (*axis && strspn(axis, "0123456789,") == strlen(axis))
        return use_own_axis(l, r, e) == 0 ? read_list(l, axis, e) : LRA_USAGE;
    if (n == 0 || !axis[n] || !axis[n + 1])
        return lra_fail_usage(e, "--axis is '%s'; expected KEY=VALUE,VALUE,...", axis);
    l->axis = lra_format("%.*s", (int)n, axis);
    return read_list(l, axis + n + 1, e);
}

/* Creates a ladder of one rung, for settings that vary in a model without an axis. Its axis is
 * `layers`, or another integer key if `layers` varies; its value is the configured one. */
static int one_rung(lra_rungs *l, const lra_job *r, lra_err *e)
{
    const char *axis = NULL;
    for (const lra_key *k = r->model->keys; k->name; k++)
        if (k->kind == LRA_KEY_INT && strcmp(k->name, l->vary->key) != 0 &&
            (!axis || strcmp(k->name, "layers") == 0))
            axis = k->name;
    if (!axis)
        return lra_fail_usage(e, "--vary: model '%s' has no integer setting", r->model->name);
    l->axis = lra_copy_text(axis);
    return add(l, lra_config_int(r->model_config, axis), e);
}

/* Uses the rungs of the preset for this model and task. */
static int preset_rungs(lra_rungs *l, const lra_job *r, lra_err *e)
{
    if (!r->plan.rungs && l->vary && l->vary->key) return one_rung(l, r, e);
    if (!r->plan.rungs)
        return lra_fail_usage(
            e, "preset '%s' has no rungs of model '%s'; --axis KEY=LIST names some%s%s", r->preset,
            r->model->name, r->model->axis ? "" : ", and ", r->model->axis ? "" : without_axis);
    return use_own_axis(l, r, e) == 0 ? read_list(l, r->plan.rungs, e) : LRA_USAGE;
}

static int read_rungs(lra_rungs *l, const lra_options *o, const lra_job *r, lra_err *e)
{
    const char *axis = lra_option_text(o, "axis");
    if (axis && lra_option_given(o, "kernels"))
        return lra_fail_usage(e, "--kernels is short for --axis kernel=LIST; remove one of them");
    if (lra_option_repeat(o, "axis", 1))
        return lra_fail_usage(e, "the rungs differ in one setting, but --axis is given twice");
    if (axis) return read_axis(l, axis, r, e);
    if (!lra_option_given(o, "kernels")) return preset_rungs(l, r, e);
    l->axis = lra_copy_text("kernel");
    int64_t kernel[LRA_LADDER_MAX_RUNGS];
    int n = lra_option_ints(o, "kernels", kernel, LRA_LADDER_MAX_RUNGS), rc = 0;
    for (int i = 0; i < n && rc == 0; i++) rc = add(l, kernel[i], e);
    return rc;
}

static int fail_axis(const lra_rungs *l, const lra_model *m, lra_err *e)
{
    char *what = lra_format("model '%s'", m->name);
    const lra_key_table own = {"model", m->name, m->keys};
    int rc = lra_key_fail(l->axis, &own, 1, what, e);
    lra_free(what);
    return rc;
}

/* Checks that the model has the axis key and accepts each value, and that values increase. */
static int check_rungs(const lra_rungs *l, const lra_job *r, lra_err *e)
{
    const lra_network_spec any = {.head = LRA_HEAD_CLASS};
    bool kernels = strcmp(l->axis, "kernel") == 0;
    int rc = 0;
    if (!lra_config_has(r->model_config, l->axis)) return fail_axis(l, r->model, e);
    for (int i = 0; i < l->n && rc == 0; i++) {
        int64_t value = l->rung[i].value;
        if (kernels && value % 2 == 0)
            return lra_fail_usage(e, "kernel %" PRId64 " is even; expected odd numbers", value);
        if (i && value <= l->rung[i - 1].value)
            return lra_fail_usage(e, "%s must increase: %" PRId64 " follows %" PRId64,
                                  kernels ? "kernels" : l->axis, value, l->rung[i - 1].value);
        char *one = lra_format("%s=%" PRId64, l->axis, value);
        lra_config *c = lra_config_copy(r->model_config);
        rc = lra_keys_assign(r->model->keys, c, one, "the model", e);
        if (rc == 0) rc = lra_network_check(r->model, c, &any, e);
        lra_config_free(c);
        lra_free(one);
    }
    return rc == 0 ? 0 : LRA_USAGE;
}

static int read_reference(lra_rungs *l, const lra_options *o, lra_err *e)
{
    l->reference = l->n - 1;
    if (!lra_option_given(o, "match-rung")) return 0;
    int64_t wanted = lra_option_int(o, "match-rung");
    if (strcmp(l->match, "none") == 0)
        return lra_fail_usage(e, "--match-rung needs --match params or flops");
    for (l->reference = 0; l->reference < l->n; l->reference++)
        if (l->rung[l->reference].value == wanted) return 0;
    return lra_fail_usage(e, "--match-rung is %" PRId64 ", which is not one of the rungs", wanted);
}

/* Checks that the key that differs between ladders is neither the axis nor determined by
 * --match. */
static int check_vary(const lra_rungs *l, const lra_job *r, lra_err *e)
{
    const char *key = l->vary ? l->vary->key : NULL;
    if (!key) return 0;
    if (strcmp(key, l->axis) == 0)
        return lra_fail_usage(
            e, "--vary %s: the rungs of every ladder differ in it; vary another setting", key);
    if (strcmp(l->match, "none") == 0 || !r->model->match || strcmp(key, r->model->match) != 0)
        return 0;
    return lra_fail_usage(e, "--vary %s: --match determines it; vary another setting", key);
}

int lra_rungs_open(lra_rungs *l, const lra_options *o, const lra_job *r, const lra_vary *vary,
                   lra_err *e)
{
    *l = (lra_rungs){.match = lra_option_text(o, "match"), .vary = vary};
    if (read_rungs(l, o, r, e) != 0 || check_vary(l, r, e) != 0) return LRA_USAGE;
    if (check_rungs(l, r, e) != 0 || read_reference(l, o, e) != 0) return LRA_USAGE;
    if (strcmp(l->match, "none") != 0 && !r->model->match)
        return lra_fail_usage(e, "--match: model '%s' has no key that changes only its size",
                              r->model->name);
    return 0;
}

void lra_rungs_close(lra_rungs *l)
{
    for (int i = 0; i < l->n; i++) lra_free(l->rung[i].ladder);
    lra_free(l->axis);
    *l = (lra_rungs){0};
}

lra_job lra_rung_job(const lra_rungs *l, int i, const lra_job *ladder)
{
    const lra_planned_rung *rung = &l->rung[i];
    lra_job r = *ladder;
    r.model_config = lra_config_copy(ladder->model_config);
    lra_config_set_int(r.model_config, l->axis, rung->value);
    if (r.model->match && rung->size)
        lra_config_set_int(r.model_config, r.model->match, rung->size);
    r.ladder = rung->ladder;
    return r;
}

void lra_rung_job_free(lra_job *r)
{
    lra_config_free(r->model_config);
    *r = (lra_job){0};
}

const char *lra_rungs_name(const lra_rungs *l, int i, char text[48])
{
    bool kernels = strcmp(l->axis, "kernel") == 0;
    snprintf(text, 48, "%.24s = %" PRId64, kernels ? "K" : l->axis, l->rung[i].value);
    return text;
}
