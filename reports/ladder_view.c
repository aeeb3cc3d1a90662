/* Ladders from result files. */
#include "reports/ladder_view.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/philox.h"
#include "reports/published.h"

enum { REPLICATES = 1000, BOOTSTRAP_STREAM = 0x424F };

static void words(uint64_t key, uint64_t replicate, int64_t n, uint32_t *out)
{
    lra_rng r = lra_rng_new(key, BOOTSTRAP_STREAM, replicate);
    for (int64_t i = 0; i < n; i++) out[i] = lra_rng_u32(&r);
}

/* The configuration without the lines that differ inside a ladder; caller frees. */
static char *identity(const lra_result *r)
{
    lra_text t = {0};
    lra_text_add(&t, "%s %s %s %s\n", r->task, r->preset, r->precision, r->fingerprint);
    for (const char *line = r->config; *line;) {
        size_t n = strcspn(line, "\n");
        bool own = strncmp(line, "model.kernel=", 13) == 0 || strncmp(line, "seed=", 5) == 0;
        if (!own) lra_text_add(&t, "%.*s\n", (int)n, line);
        line += n + (line[n] == '\n');
    }
    return t.s;
}

/* A result and the ladder it belongs to. */
typedef struct {
    char *identity;
    const lra_result *result;
} member;

static int by_ladder(const void *a, const void *b)
{
    const member *x = a, *y = b;
    int order = strcmp(x->identity, y->identity);
    if (order) return order;
    if (x->result->kernel != y->result->kernel)
        return x->result->kernel < y->result->kernel ? -1 : 1;
    return (x->result->seed > y->result->seed) - (x->result->seed < y->result->seed);
}

static bool has_seed(const member *m, int n, int64_t kernel, int64_t seed, const lra_result **found)
{
    for (int i = 0; i < n; i++)
        if (m[i].result->kernel == kernel && m[i].result->seed == seed) {
            *found = m[i].result;
            return true;
        }
    return false;
}

static int collect(lra_ladder_view *v, const member *m, int n, lra_err *e)
{
    int64_t kernel[LRA_LADDER_MAX_RUNGS];
    lra_ladder_data *d = &v->data;
    for (int i = 0; i < n; i++) {
        if (i && m[i].result->kernel == m[i - 1].result->kernel) continue;
        if (d->n_rungs == LRA_LADDER_MAX_RUNGS)
            return lra_fail(e, "a ladder of more than %d kernels", LRA_LADDER_MAX_RUNGS);
        kernel[d->n_rungs++] = m[i].result->kernel;
    }
    for (int i = 0; i < n && m[i].result->kernel == kernel[0]; i++) {
        const lra_result *found[LRA_LADDER_MAX_RUNGS];
        bool complete = d->n_seeds < LRA_LADDER_MAX_SEEDS;
        for (int r = 0; r < d->n_rungs && complete; r++)
            complete = has_seed(m, n, kernel[r], m[i].result->seed, &found[r]);
        if (!complete) continue;
        for (int r = 0; r < d->n_rungs; r++) v->run[r][d->n_seeds] = found[r];
        d->n_seeds++;
    }
    v->n_left_out = n - d->n_rungs * d->n_seeds;
    if (d->n_seeds == 0)
        return lra_fail(e, "task '%s': no seed has all %d kernels", m[0].result->task, d->n_rungs);
    return 0;
}

static int compute(lra_ladder_view *v, lra_err *e)
{
    lra_ladder_data *d = &v->data;
    const lra_result *first = v->first = v->run[0][0];
    d->n = first->n, d->T = first->max_length;
    d->chance = lra_result_chance(first);
    d->reference =
        NAN; /* the widest rung, but for the published setting: MEGA's printed accuracy */
    double mega = lra_published("locality", "1", "mega", NULL, first->task, "accuracy") / 100;
    v->published_reference = strcmp(first->preset, "paper") == 0 && !isnan(mega);
    if (v->published_reference) d->reference = mega;
    d->n_replicates = REPLICATES;
    d->words = words;
    for (int r = 0; r < d->n_rungs; r++) {
        d->rung[r].kernel = v->run[r][0]->kernel;
        d->rung[r].reach = v->run[r][0]->reach;
        for (int s = 0; s < d->n_seeds; s++) {
            if (v->run[r][s]->n != d->n) return lra_fail(e, "results of different test sets");
            d->rung[r].correct[s] = v->correct[r][s] = lra_result_correct(v->run[r][s]);
        }
    }
    switch (lra_ladder_compute(d, &v->ladder)) {
    case LRA_LADDER_OK: return 0;
    case LRA_LADDER_EQUAL_REACH:
        return lra_fail(e,
                        "kernels %" PRId64 " and %" PRId64 " both reach all %" PRId64
                        " tokens; leave one out",
                        v->ladder.row[0].kernel, v->ladder.row[1].kernel, d->T);
    case LRA_LADDER_EMPTY: return lra_fail(e, "only kernel 1: there is no ladder");
    default: return lra_fail(e, "no memory for the bootstrap");
    }
}

int lra_ladder_views(lra_result *const *list, int n, lra_ladder_view **views, lra_err *e)
{
    member *m = lra_alloc_array((size_t)n + 1, sizeof *m);
    int n_members = 0, n_views = 0, rc = 0;
    for (int i = 0; i < n; i++)
        if (list[i]->kernel > 0) m[n_members++] = (member){identity(list[i]), list[i]};
    qsort(m, (size_t)n_members, sizeof *m, by_ladder);
    *views = NULL;
    for (int from = 0; from < n_members && rc == 0;) {
        int to = from + 1;
        while (to < n_members && strcmp(m[to].identity, m[from].identity) == 0) to++;
        *views = lra_resize(*views, (size_t)(n_views + 1) * sizeof **views);
        lra_ladder_view *v = &(*views)[n_views++];
        memset(v, 0, sizeof *v);
        rc = collect(v, m + from, to - from, e);
        if (rc == 0) rc = compute(v, e);
        from = to;
    }
    for (int i = 0; i < n_members; i++) lra_free(m[i].identity);
    lra_free(m);
    if (rc == 0 && n_views > 0) return n_views;
    if (rc == 0) lra_fail(e, "no results of a ladder; 'lra-probe receptive-field' makes them");
    lra_ladder_views_free(*views, n_views);
    *views = NULL;
    return LRA_FAILED;
}

void lra_ladder_views_free(lra_ladder_view *views, int n)
{
    for (int i = 0; i < n; i++)
        for (int r = 0; r < views[i].data.n_rungs; r++)
            for (int s = 0; s < views[i].data.n_seeds; s++) lra_free(views[i].correct[r][s]);
    lra_free(views);
}
