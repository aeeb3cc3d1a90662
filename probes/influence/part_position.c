/* Part position: which relative positions of the input matter, measured by replacing 1/20 of the
 * input at a time (occlude.h).
 *   position   arrays effect (20, 3): mean over examples and 4 draws of |change of the margin
 *              logit| by relative position, with lower and upper end; drop (20): mean of the signed
 *              change, positive where the margin decreases.
 *              position.edge: mean effect of the outer fifth over that of the middle fifth; below 1
 *              if the middle matters more; null value: initial weights
 * It is not a receptive field: pooled features have no position. */
#include <math.h>

#include "analysis/distributions.h"
#include "analysis/interval.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"
#include "probes/influence/occlude.h"
#include "probes/influence/part.h"

enum { EXAMPLES = 500, BINS = 20, DRAWS = 4, EDGE = 2, REDRAWS = 1000, STREAM = 0x5045 };

/* Effects of n examples, averaged over draws, by example and bin. */
typedef struct {
    int64_t n, capacity;
    double *effect, *drop; /* (n, BINS) mean |change| and mean signed change */
} effects;

static int take_batch(const lra_occluder *o, void *context, lra_err *e)
{
    effects *f = context;
    int64_t rows = o->request->B, first = f->n, at = first;
    lra_token_runs *of = lra_alloc_array((size_t)rows, sizeof *of);
    double *whole = lra_alloc_array(2 * (size_t)rows, sizeof *whole), *score = whole + rows;
    for (int64_t i = 0; i < rows; i++) f->n += lra_occlude_counts(o, i);
    f->effect = lra_resize(f->effect, (size_t)(f->n * BINS + 1) * sizeof *f->effect);
    f->drop = lra_resize(f->drop, (size_t)(f->n * BINS + 1) * sizeof *f->drop);
    for (int64_t i = first * BINS; i < f->n * BINS; i++) f->effect[i] = f->drop[i] = 0;
    int rc = lra_occlude_scores(o, of, 0, whole, e);
    for (int k = 0; k < BINS * DRAWS && rc == 0; k++) {
        int bin = k / DRAWS;
        for (int64_t i = 0; i < rows; i++) {
            of[i].from[0] = o->batch->length[i] * (int64_t)bin / BINS;
            of[i].to[0] = o->batch->length[i] * (int64_t)(bin + 1) / BINS;
        }
        rc = lra_occlude_scores(o, of, k % DRAWS, score, e);
        at = first;
        for (int64_t i = 0; i < rows && rc == 0; i++) {
            if (!lra_occlude_counts(o, i)) continue;
            double change = whole[i] - score[i];
            f->effect[at * BINS + bin] += fabs(change) / DRAWS;
            f->drop[at++ * BINS + bin] += change / DRAWS;
        }
    }
    lra_free(of);
    lra_free(whole);
    return rc;
}

/* position.edge over examples, where count (n) is the bootstrap multiplicity of each example. */
static double edge_of(const effects *f, const double *count)
{
    double edge = 0, middle = 0;
    for (int64_t b = 0; b < f->n; b++)
        for (int k = 0; k < EDGE; k++) {
            const double *own = f->effect + b * BINS;
            edge += count[b] * (own[k] + own[BINS - 1 - k]);
            middle += count[b] * (own[BINS / 2 + k] + own[BINS / 2 - 1 - k]);
        }
    return middle > 0 ? edge / middle : NAN;
}

static lra_measurement edge_measurement(const effects *f, uint64_t seed)
{
    double *count = lra_alloc_array((size_t)f->n + 1, sizeof *count);
    double *drawn = lra_alloc_array(REDRAWS, sizeof *drawn);
    for (int64_t b = 0; b < f->n; b++) count[b] = 1;
    lra_measurement x = lra_measurement_of("position.edge", edge_of(f, count));
    for (int k = 0; k < REDRAWS && f->n > 1; k++) {
        lra_rng r = lra_rng_new(seed, STREAM, (uint64_t)k);
        for (int64_t b = 0; b < f->n; b++) count[b] = 0;
        for (int64_t b = 0; b < f->n; b++) count[lra_rng_below(&r, (uint32_t)f->n)]++;
        drawn[k] = edge_of(f, count);
    }
    if (f->n > 1) {
        lra_estimate i = lra_holding(lra_percentile(x.value, REDRAWS, drawn, 0.95));
        x.lo = i.lo, x.hi = i.hi;
    }
    x.examples = f->n;
    lra_free(count);
    lra_free(drawn);
    return x;
}

static void add_arrays(lra_probe_unit *u, const effects *f)
{
    double effect[3 * BINS], drop[BINS], n = (double)f->n;
    for (int k = 0; k < BINS; k++) {
        double mean = 0, squares = 0;
        drop[k] = 0;
        for (int64_t b = 0; b < f->n; b++)
            mean += f->effect[b * BINS + k] / n, drop[k] += f->drop[b * BINS + k] / n;
        for (int64_t b = 0; b < f->n; b++) {
            double off = f->effect[b * BINS + k] - mean;
            squares += off * off;
        }
        double half = f->n > 1 ? lra_normal_quantile(0.975) * sqrt(squares / (n - 1) / n) : NAN;
        effect[3 * k] = mean, effect[3 * k + 1] = mean - half, effect[3 * k + 2] = mean + half;
    }
    lra_probe_unit_array(u, "effect", 2, (int64_t[]){BINS, 3}, effect);
    lra_probe_unit_array(u, "drop", 1, (int64_t[]){BINS}, drop);
}

static void free_effects(effects *f)
{
    lra_free(f->effect);
    lra_free(f->drop);
}

static const char *undefined(const lra_influence *p)
{
    return lra_occlude_undefined(&p->subject);
}

static double passes(const lra_influence *p, int64_t examples)
{
    return lra_influence_weights(p) * (double)lra_influence_rows(p, examples) * (1 + BINS * DRAWS);
}

static int measure(lra_influence *p, int64_t examples, lra_err *e)
{
    effects best = {0}, initial = {0};
    int rc = lra_occlude(&p->subject, LRA_TRAINED_WEIGHTS, LRA_ANSWERS_FORWARD, examples, &p->steps,
                         take_batch, &best, e);
    if (rc == 0 && lra_influence_has_initial(p))
        rc = lra_occlude(&p->subject, LRA_RESET_WEIGHTS, LRA_ANSWERS_FORWARD, examples, &p->steps,
                         take_batch, &initial, e);
    if (rc == 0 && best.n == 0)
        rc = lra_fail(e, "no batch has two rows, and replaced tokens come from another row");
    if (rc == 0) {
        lra_probe_unit *u = lra_probe_unit_new(p->out, "position");
        lra_measurement x = edge_measurement(&best, p->subject.seed);
        if (lra_influence_has_initial(p))
            x.null[LRA_NULL_INIT] = edge_measurement(&initial, p->subject.seed).value;
        x.null[LRA_NULL_UNIFORM] = 1;
        add_arrays(u, &best);
        lra_probe_unit_measurements(u, 1, &x);
    }
    free_effects(&best);
    free_effects(&initial);
    return rc;
}

static const lra_part_setting settings[] = {LRA_DONORS_SETTING("position"), {.name = NULL}};

const lra_influence_part lra_part_position = {
    .name = "position",
    .summary = "effect of the tokens by relative position in the input",
    .examples = EXAMPLES,
    .least = 2,
    .nulls = LRA_NULL_BIT(LRA_NULL_UNIFORM) | LRA_NULL_BIT(LRA_NULL_INIT),
    .settings = settings,
    .needs = LRA_ANSWERS_FORWARD,
    .undefined = undefined,
    .passes = passes,
    .measure = measure};
