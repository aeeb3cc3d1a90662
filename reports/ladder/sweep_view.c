/* Combines ladders into sweeps (sweep_view.h). */
#include "reports/ladder/sweep_view.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "kernels/base/core/config.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/cli/options.h"

/* True for a line that begins with "task.", "model." or "train.": a setting in which ladders of a
 * sweep can differ. */
static bool is_setting(const char *line)
{
    static const char *const prefix[] = {"task.", "model.", "train."};
    for (size_t i = 0; i < sizeof prefix / sizeof *prefix; i++)
        if (strncmp(line, prefix[i], strlen(prefix[i])) == 0) return true;
    return false;
}

/* The properties of a ladder that are equal in all ladders of a sweep, as text. The caller frees
 * it. */
static char *shared_of(const lra_ladder_view *v)
{
    lra_text t = {0};
    const lra_result *r = v->first;
    lra_text_add(&t, "%s %s %s %s %s\n", r->task, r->preset, r->precision, v->kind.axis,
                 v->kind.match);
    for (int k = 0; k < v->data.n_rungs; k++)
        lra_text_add(&t, "kernel %" PRId64 "\n", v->data.rung[k].kernel);
    for (const char *line = r->config; *line;) {
        size_t n = strcspn(line, "\n");
        bool own = lra_ladder_is_own_line(&v->kind, line) || is_setting(line) ||
                   strncmp(line, "data=", 5) == 0;
        if (!own) lra_text_add(&t, "%.*s\n", (int)n, line);
        line += n + (line[n] == '\n');
    }
    return t.s;
}

/* Settings of a ladder: all of the task, and those of model and training that differ from their
 * defaults, without those that differ within the ladder. NULL: the file is older and does not
 * record them. The caller frees them. */
static lra_config *settings_of(const lra_ladder_view *v)
{
    lra_err ignored;
    const lra_result *r = v->first;
    lra_config *all = lra_config_new();
    lra_config *task = *r->task_parameters ? lra_config_parse(r->task_parameters, &ignored) : NULL,
               *run = lra_config_parse(r->config, &ignored);
    for (int i = 0; task && lra_config_key(task, i); i++) {
        char *key = lra_format("task.%s", lra_config_key(task, i));
        lra_config_set(all, key, lra_config_value(task, i));
        lra_free(key);
    }
    for (int i = 0; run && lra_config_key(run, i); i++) {
        const char *key = lra_config_key(run, i);
        char *line = lra_format("%s=", key);
        if (is_setting(key) && strncmp(key, "task.", 5) != 0 &&
            !lra_ladder_is_own_line(&v->kind, line))
            lra_config_set(all, key, lra_config_value(run, i));
        lra_free(line);
    }
    bool known = task && run;
    lra_config_free(task);
    lra_config_free(run);
    if (known) return all;
    lra_config_free(all);
    return NULL;
}

static bool differs_in(const lra_config *a, const lra_config *b, const char *key)
{
    const char *x = lra_config_text_or(a, key, NULL), *y = lra_config_text_or(b, key, NULL);
    return x && y ? strcmp(x, y) != 0 : x != y;
}

/* True if the setting is in the list `own` of the settings of a schedule or an objective
 * ("mask,final-rate"). */
static bool is_own(const char *own, const char *setting)
{
    const char *name = strchr(setting, '.') + 1;
    size_t n = strlen(name);
    for (const char *at = own; own && *at; at += strcspn(at, ","), at += *at == ',')
        if (strncmp(at, name, n) == 0 && (at[n] == ',' || !at[n])) return true;
    return false;
}

/* The only setting in which two ladders differ; NULL: none, or several. own: settings that change
 * with the swept one and are ignored. */
static const char *difference(const lra_config *a, const lra_config *b, const char *own)
{
    const char *key = NULL;
    const lra_config *side[] = {a, b};
    bool chosen = differs_in(a, b, "train.schedule") || differs_in(a, b, "train.objective");
    for (int k = 0; k < 2; k++)
        for (int i = 0; lra_config_key(side[k], i); i++) {
            const char *one = lra_config_key(side[k], i);
            if (!differs_in(a, b, one) || (chosen && is_own(own, one))) continue;
            if (key && strcmp(key, one) != 0) return NULL;
            key = one;
        }
    return key;
}

/* A ladder, and the properties that assign it to a sweep. */
typedef struct {
    const lra_ladder_view *view;
    char *shared;
    lra_config *settings; /* NULL: an older file without settings */
    bool used;
} member;

/* Inserts a ladder and its value in ascending order of the value; values that are not numbers come
 * last, in the order of insertion. */
static void insert(lra_sweep *s, const lra_ladder_view *v, const char *value)
{
    int at = s->n;
    double x = NAN;
    if (!lra_parse_real(value, &x)) x = NAN;
    while (at > 0 && x < s->number[at - 1]) at--;
    for (int i = s->n; i > at; i--) {
        s->at[i] = s->at[i - 1];
        s->value[i] = s->value[i - 1];
        s->number[i] = s->number[i - 1];
    }
    s->at[at] = v, s->value[at] = lra_copy_text(value), s->number[at] = x;
    s->n++;
}

/* Value of the entry `what` in the ladder attributes ("vary=train.rate usual=0.001") of the first
 * ladder that was trained for a sweep over `key`. NULL: no ladder has it. Nullable: key (any
 * sweep). */
static char *text_of(const member *m, int n, const char *key, const char *what)
{
    lra_err ignored;
    char *message = NULL;
    for (int i = 0; i < n && !message; i++) {
        const char *text = m[i].view->first->ladder;
        lra_config *c = text && *text ? lra_config_parse(text, &ignored) : NULL;
        bool of_key = c && (!key || strcmp(lra_config_text_or(c, "vary", ""), key) == 0);
        if (of_key && lra_config_has(c, what)) message = lra_copy_text(lra_config_text(c, what));
        lra_config_free(c);
    }
    return message;
}

/* Collects all ladders that differ from ladder `first` in the same setting only. */
static int collect(lra_sweep *s, member *m, int n, int first, lra_err *e)
{
    /* path: the key with its owner, such as "train.rate"; default_value: its default */
    char *path = NULL, *default_value = NULL;
    char *own = text_of(m, n, NULL, "own");
    int rc = 0;
    *s = (lra_sweep){0};
    m[first].used = true;
    for (int i = first + 1; i < n && m[first].settings; i++) {
        if (m[i].used || !m[i].settings || strcmp(m[i].shared, m[first].shared) != 0) continue;
        const char *key = difference(m[first].settings, m[i].settings, own);
        if (!key || (path && strcmp(key, path) != 0)) continue;
        if (!s->key) {
            path = lra_copy_text(key);
            default_value = text_of(m, n, key, "usual");
            s->key = lra_copy_text(strchr(key, '.') + 1);
            s->of_task = strncmp(key, "task.", 5) == 0;
            insert(s, m[first].view,
                   lra_config_text_or(m[first].settings, key,
                                      default_value ? default_value : "default"));
        }
        if (s->n == LRA_SWEEP_MAX_VALUES) {
            rc = lra_fail(e, "one sweep has at most %d values of '%s'; name fewer results",
                          LRA_SWEEP_MAX_VALUES, s->key);
            break;
        }
        insert(s, m[i].view,
               lra_config_text_or(m[i].settings, key, default_value ? default_value : "default"));
        m[i].used = true;
    }
    lra_free(path);
    lra_free(default_value);
    lra_free(own);
    return rc;
}

int lra_sweeps_find(const lra_ladder_view *views, int n, lra_sweep **sweeps, lra_err *e)
{
    member *m = lra_alloc_array((size_t)n + 1, sizeof *m);
    int n_sweeps = 0, rc = 0;
    *sweeps = lra_alloc_array((size_t)n + 1, sizeof **sweeps);
    for (int i = 0; i < n; i++) {
        m[i].view = &views[i], m[i].shared = shared_of(&views[i]);
        m[i].settings = settings_of(&views[i]);
    }
    for (int i = 0; i < n && rc == 0; i++) {
        if (m[i].used) continue;
        rc = collect(&(*sweeps)[n_sweeps], m, n, i, e);
        n_sweeps += (*sweeps)[n_sweeps].key != NULL;
    }
    for (int i = 0; i < n; i++) {
        lra_free(m[i].shared);
        lra_config_free(m[i].settings);
    }
    lra_free(m);
    if (rc == 0 && n_sweeps == 0)
        rc = lra_fail(e, "no ladders that differ in exactly one setting; 'lra-probe "
                         "receptive-field --vary KEY=V1,V2' makes them");
    if (rc == 0) return n_sweeps;
    lra_sweeps_free(*sweeps, n_sweeps);
    *sweeps = NULL;
    return LRA_FAILED;
}

void lra_sweeps_free(lra_sweep *sweeps, int n)
{
    for (int k = 0; k < n; k++) {
        lra_free(sweeps[k].key);
        for (int i = 0; i < sweeps[k].n; i++) lra_free(sweeps[k].value[i]);
    }
    lra_free(sweeps);
}

/* ---- fields ---------------------------------------------------------------------------------- */

bool lra_sweep_is_distance(const lra_sweep *s)
{
    return s->of_task && strcmp(s->key, "distance") == 0;
}

bool lra_sweep_is_pooled(const lra_sweep *s)
{
    return s->at[0]->first->n_classes > 0;
}

int64_t lra_sweep_field(const lra_sweep *s, int64_t reach)
{
    return lra_sweep_is_pooled(s) ? 2 * reach + 1 : reach + 1;
}

bool lra_sweep_covers(const lra_sweep *s, int i, int rung)
{
    int64_t reach = s->at[i]->data.rung[rung].reach;
    return !lra_sweep_is_distance(s) || reach < 0 ||
           (double)lra_sweep_field(s, reach) > s->number[i];
}
