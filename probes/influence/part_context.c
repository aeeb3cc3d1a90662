/* Part context: the context limit of the complete model (context.h). It measures the gain that
 * remains if the features of each position are computed only from the tokens at most R positions
 * away.
 *   context   arrays x (points): the radii R in tokens; gain, value (points, 3): estimate, lower
 *             and upper end; period (1): block length in tokens of an encoder with fixed blocks,
 *             whose crops begin up to period - 1 tokens earlier, else 0.
 *             context.r50 .r90 .r95 .r99: smallest R that keeps this share of the gain; of models
 *             that answer requests also kl, kl.most, kl.r50 .. .r99, without labels
 * A model that answers requests needs the ops features and head; if it adds absolute positions and
 * does not accept position ids, those of a crop begin at 0 (flag fallback).
 * The radii are 0, 1, 2, 4, .., T - 1. Radii between the two points around context.r99 and
 * context.r95 are added until these thresholds are exact to one token, or to 1/16 above 16 tokens.
 * Expected: 10 for a copy task with distance 10, for any depth of the model. */
#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "probes/influence/context.h"
#include "probes/influence/context_of_model.h"
#include "probes/influence/perturbed_answers.h"
#include "probes/influence/part.h"

enum { EXAMPLES = 256, EXAMPLES_BY_REQUESTS = 32 };

/* The outputs of a model with a radius R: by the graphs of the engine, or by requests. */
typedef struct {
    lra_context engine;
    lra_model_context model;
    bool requests; /* true: `model` is used */
    int64_t n;
    const int64_t *index;
    const lra_sums *full;
} source;

static int open_source(source *c, lra_influence *p, int64_t examples, lra_err *e)
{
    *c = (source){.requests = !p->engine};
    if (c->requests) {
        int rc = lra_model_context_open(&c->model, &p->subject, examples, &p->steps, e);
        c->n = c->model.n, c->index = c->model.index, c->full = c->model.full;
        return rc;
    }
    int rc = lra_context_open(&c->engine, &p->engine->spec, &p->engine->device, LRA_BEST_WEIGHTS,
                              examples, &p->steps, e);
    c->n = c->engine.n, c->index = c->engine.index, c->full = c->engine.full;
    return rc;
}

static void close_source(source *c)
{
    if (c->requests)
        lra_model_context_close(&c->model);
    else
        lra_context_close(&c->engine);
}

/* Outputs by ascending radius: n radii x. */
typedef struct {
    int n;
    double x[LRA_GAIN_POINTS];
    lra_sums *row; /* (points, rows) outputs */
    double *kl;    /* (points, rows) KL from the outputs for complete inputs. NULL: no requests */
} answers;

/* Computes the outputs of point k. */
static int evaluate(source *c, answers *a, int k, lra_err *e)
{
    lra_sums *row = a->row + k * c->n;
    int64_t R = (int64_t)a->x[k];
    return c->requests
               ? lra_model_context_evaluate(&c->model, R, row, a->kl ? a->kl + k * c->n : NULL, e)
               : lra_context_evaluate(&c->engine, R, row, e);
}

static const char *undefined(const lra_influence *p)
{
    return p->engine ? lra_context_undefined(&p->engine->spec)
                     : lra_model_context_undefined(&p->subject);
}

static int64_t width_of(const lra_influence *p, int64_t R)
{
    return p->engine ? lra_context_width(&p->engine->spec, R)
                     : lra_model_context_width(&p->subject, R);
}

static double passes(const lra_influence *p, int64_t examples)
{
    double R[LRA_GAIN_POINTS], T = (double)p->subject.data->max_length, sum = 1;
    int n = lra_context_axis(p->subject.data->max_length, R);
    for (int i = 0; i + 1 < n; i++) {
        double whole = p->engine ? 1 : 2; /* requests: features of the input, and the head */
        sum += whole + fmin((double)width_of(p, (int64_t)R[i]), T);
    }
    return sum * (double)lra_influence_rows(p, examples);
}

/* Inserts radius R before point k and computes its outputs. */
static int insert(source *c, answers *a, int k, double R, lra_err *e)
{
    lra_sums *at = a->row + k * c->n;
    size_t after = (size_t)(a->n - k);
    memmove(at + c->n, at, after * (size_t)c->n * sizeof *at);
    memmove(a->x + k + 1, a->x + k, after * sizeof *a->x);
    a->x[k] = R, a->n++;
    if (a->kl) {
        double *kl = a->kl + k * c->n;
        memmove(kl + c->n, kl, after * (size_t)c->n * sizeof *kl);
    }
    return evaluate(c, a, k, e);
}

static int refine(lra_influence *p, source *c, answers *a, lra_gain *g, lra_err *e)
{
    static const double share[] = {0.99, 0.95};
    for (int i = 0; i < 2;) {
        int k = lra_influence_coarse(g, share[i]);
        if (k == 0 || a->n == LRA_GAIN_POINTS) {
            i++;
            continue;
        }
        if (insert(c, a, k, floor((a->x[k - 1] + a->x[k]) / 2), e) != 0) return LRA_FAILED;
        lra_influence_gain(p, c->n, c->index, a->n, a->x, a->row, c->full, g);
    }
    return 0;
}

/* Adds the divergences from the outputs for complete inputs, which need no labels. */
static void add_kl(lra_influence *p, lra_probe_unit *u, const source *c, const answers *a)
{
    lra_restricted r = {.n = c->n,
                        .answers = 1,
                        .index = (int64_t *)(uintptr_t)c->index,
                        .n_points = a->n,
                        .row = a->row,
                        .full = (lra_sums *)(uintptr_t)c->full,
                        .kl = a->kl,
                        .entropy = c->model.entropy,
                        .mean_entropy = c->model.mean_entropy};
    lra_gain kl;
    memcpy(r.w, a->x, (size_t)a->n * sizeof *r.w);
    lra_restricted_add_kl(p, u, &r, &kl);
    lra_influence_add_least(u, "kl.r", NULL, &kl, c->n);
}

static void add_unit(lra_influence *p, const source *c, const answers *a, const lra_gain *g)
{
    lra_probe_unit *u = lra_probe_unit_new(p->out, "context");
    double period = (double)(c->requests ? p->subject.model->facts.period : c->engine.period);
    lra_probe_unit_array(u, "period", 1, (int64_t[]){1}, &period);
    lra_influence_add_gain(p, u, "context.r", NULL, g, c->n);
    if (a->kl) add_kl(p, u, c, a);
    for (int i = 0; i < u->n_measurements && c->requests; i++)
        if (lra_model_context_moves(&p->subject.model->facts))
            u->measurement[i].flags |= LRA_FALLBACK;
}

static int measure(lra_influence *p, int64_t examples, lra_err *e)
{
    source c;
    answers a = {0};
    int rc = open_source(&c, p, examples, e);
    a.n = lra_context_axis(p->subject.data->max_length, a.x);
    a.row = lra_alloc_array((size_t)(c.n * LRA_GAIN_POINTS) + 1, sizeof *a.row);
    if (c.requests && c.model.whole)
        a.kl = lra_alloc_array((size_t)(c.n * LRA_GAIN_POINTS) + 1, sizeof *a.kl);
    for (int k = 0; k + 1 < a.n && rc == 0; k++) rc = evaluate(&c, &a, k, e);
    if (rc == 0) { /* the last radius is the complete input, so its outputs are known */
        lra_gain g;
        memcpy(a.row + (a.n - 1) * c.n, c.full, (size_t)c.n * sizeof *a.row);
        lra_influence_gain(p, c.n, c.index, a.n, a.x, a.row, c.full, &g);
        c.engine.steps = c.model.steps = NULL; /* refinement: not in the announced passes */
        rc = refine(p, &c, &a, &g, e);
        if (rc == 0) add_unit(p, &c, &a, &g);
    }
    lra_free(a.row);
    lra_free(a.kl);
    close_source(&c);
    return rc;
}

const lra_influence_part lra_part_context = {
    .name = "context",
    .summary = "gain when each position is computed from the tokens within R of it",
    .examples = EXAMPLES,
    .examples_by_requests = EXAMPLES_BY_REQUESTS,
    .least = 1,
    .nulls = LRA_NULL_BIT(LRA_NULL_UNIFORM),
    .undefined = undefined,
    .passes = passes,
    .measure = measure};
