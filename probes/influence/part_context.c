/* Part context: the context limit of the complete model (context.h). It measures the gain that
 * remains if the features of each position are computed only from the tokens at most R positions
 * away.
 *   context   arrays x (points): the radii R in tokens; gain, value (points, 3): estimate, lower
 *             and upper end; period (1): block length in tokens of an encoder with fixed blocks,
 *             whose crops begin up to period - 1 tokens earlier, else 0.
 *             context.r50 .r90 .r95 .r99: smallest R that keeps this share of the gain
 * The radii are 0, 1, 2, 4, .., T - 1. Radii between the two points around context.r99 and
 * context.r95 are added until these thresholds are exact to one token, or to 1/16 above 16 tokens.
 * Expected: 10 for a copy task with distance 10, for any depth of the model. */
#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "probes/influence/context.h"
#include "probes/influence/part.h"

enum { EXAMPLES = 256 };

/* Outputs by ascending radius: n radii x. */
typedef struct {
    int n;
    double x[LRA_GAIN_POINTS];
    lra_sums *row; /* (points, rows) outputs */
} answers;

static const char *undefined(const lra_influence *p)
{
    return lra_context_undefined(&p->engine->spec);
}

static double passes(const lra_influence *p, int64_t examples)
{
    double R[LRA_GAIN_POINTS], T = (double)p->subject.data->max_length, sum = 1;
    int n = lra_context_axis(p->subject.data->max_length, R);
    for (int i = 0; i + 1 < n; i++) {
        double width = (double)lra_context_width(&p->engine->spec, (int64_t)R[i]);
        sum += 1 + fmin(width, T);
    }
    return sum * (double)lra_influence_rows(p, examples);
}

/* Inserts radius R before point k and computes its outputs. */
static int insert(lra_context *c, answers *a, int k, double R, lra_err *e)
{
    lra_sums *at = a->row + k * c->n;
    size_t after = (size_t)(a->n - k);
    memmove(at + c->n, at, after * (size_t)c->n * sizeof *at);
    memmove(a->x + k + 1, a->x + k, after * sizeof *a->x);
    a->x[k] = R, a->n++;
    return lra_context_evaluate(c, (int64_t)R, at, e);
}

static int refine(lra_influence *p, lra_context *c, answers *a, lra_gain *g, lra_err *e)
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

static int measure(lra_influence *p, int64_t examples, lra_err *e)
{
    lra_context c;
    answers a = {0};
    int rc = lra_context_open(&c, &p->engine->spec, &p->engine->device, LRA_BEST_WEIGHTS, examples,
                              &p->steps, e);
    a.n = lra_context_axis(p->subject.data->max_length, a.x);
    a.row = lra_alloc_array((size_t)(c.n * LRA_GAIN_POINTS) + 1, sizeof *a.row);
    for (int k = 0; k + 1 < a.n && rc == 0; k++)
        rc = lra_context_evaluate(&c, (int64_t)a.x[k], a.row + k * c.n, e);
    if (rc == 0) { /* the last radius is the complete input, so its outputs are known */
        lra_gain g;
        memcpy(a.row + (a.n - 1) * c.n, c.full, (size_t)c.n * sizeof *a.row);
        lra_influence_gain(p, c.n, c.index, a.n, a.x, a.row, c.full, &g);
        c.steps = NULL; /* the refinement is not in the announced number of passes */
        rc = refine(p, &c, &a, &g, e);
        if (rc == 0) {
            lra_probe_unit *u = lra_probe_unit_new(p->out, "context");
            double period = (double)c.period;
            lra_probe_unit_array(u, "period", 1, (int64_t[]){1}, &period);
            lra_influence_add_gain(p, u, "context.r", NULL, &g, c.n);
        }
    }
    lra_free(a.row);
    lra_context_close(&c);
    return rc;
}

const lra_influence_part lra_part_context = {
    .name = "context",
    .summary = "gain when each position is computed from the tokens within R of it",
    .examples = EXAMPLES,
    .least = 1,
    .nulls = LRA_NULL_BIT(LRA_NULL_UNIFORM),
    .engine = true,
    .undefined = undefined,
    .passes = passes,
    .measure = measure};
