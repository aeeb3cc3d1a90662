/* Sweeps from ladders. */
#include "reports/sweep_view.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "kernels/base/config.h"
#include "kernels/base/mem.h"

/* Everything that ladders of a sweep share, as text; caller frees. */
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
        bool own = lra_ladder_is_own_line(&v->kind, line) || strncmp(line, "task.", 5) == 0 ||
                   strncmp(line, "data=", 5) == 0;
        if (!own) lra_text_add(&t, "%.*s\n", (int)n, line);
        line += n + (line[n] == '\n');
    }
    return t.s;
}

/* The only parameter in which two tasks differ; NULL: none, or several. */
static const char *difference(const lra_config *a, const lra_config *b)
{
    const char *key = NULL;
    for (int i = 0; lra_config_key(a, i); i++) {
        const char *k = lra_config_key(a, i);
        if (!lra_config_has(b, k)) return NULL;
        if (strcmp(lra_config_value(a, i), lra_config_text(b, k)) == 0) continue;
        if (key) return NULL;
        key = k;
    }
    for (int i = 0; lra_config_key(b, i); i++)
        if (!lra_config_has(a, lra_config_key(b, i))) return NULL;
    return key;
}

/* A ladder and what decides where it belongs. */
typedef struct {
    const lra_ladder_view *view;
    char *shared;
    lra_config *parameters; /* NULL: an older file */
    bool used;
} member;

/* In ascending order; words behind, as they come. */
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

/* All that differ from the first in the same parameter. */
static int collect(lra_sweep *s, member *m, int n, int first, lra_err *e)
{
    *s = (lra_sweep){0};
    m[first].used = true;
    for (int i = first + 1; i < n && m[first].parameters; i++) {
        if (m[i].used || !m[i].parameters || strcmp(m[i].shared, m[first].shared) != 0) continue;
        const char *key = difference(m[first].parameters, m[i].parameters);
        if (!key || (s->key && strcmp(key, s->key) != 0)) continue;
        if (!s->key) {
            s->key = lra_copy_text(key);
            insert(s, m[first].view, lra_config_text(m[first].parameters, key));
        }
        if (s->n == LRA_SWEEP_MAX_VALUES)
            return lra_fail(e, "more than %d values of '%s'; name fewer results",
                            LRA_SWEEP_MAX_VALUES, key);
        insert(s, m[i].view, lra_config_text(m[i].parameters, key));
        m[i].used = true;
    }
    return 0;
}

int lra_sweeps_find(const lra_ladder_view *views, int n, lra_sweep **sweeps, lra_err *e)
{
    member *m = lra_alloc_array((size_t)n + 1, sizeof *m);
    int n_sweeps = 0, rc = 0;
    *sweeps = lra_alloc_array((size_t)n + 1, sizeof **sweeps);
    for (int i = 0; i < n; i++) {
        m[i].view = &views[i], m[i].shared = shared_of(&views[i]);
        lra_err ignored;
        if (*views[i].first->task_parameters)
            m[i].parameters = lra_config_parse(views[i].first->task_parameters, &ignored);
    }
    for (int i = 0; i < n && rc == 0; i++) {
        if (m[i].used) continue;
        rc = collect(&(*sweeps)[n_sweeps], m, n, i, e);
        n_sweeps += (*sweeps)[n_sweeps].key != NULL;
    }
    for (int i = 0; i < n; i++) {
        lra_free(m[i].shared);
        lra_config_free(m[i].parameters);
    }
    lra_free(m);
    if (rc == 0 && n_sweeps == 0)
        rc = lra_fail(e, "no ladders that differ in one parameter of a task; 'lra-probe "
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

/* ---- fields ------------------------------------------------------------------------------------------- */

bool lra_sweep_is_distance(const lra_sweep *s)
{
    return strcmp(s->key, "distance") == 0;
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
