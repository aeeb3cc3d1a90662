/* Part interaction: how far apart are parts of the input that the answer lets work together
 * (analysis/interaction.h), for models whose pooled answer has no position: second differences of
 * the margin logit, blocks being replaced by those of other rows (occlude.h), 4 draws.  Blocks are
 * a 32nd of the longest example.
 *   interaction        inter.mean, inter.q95, inter.peak, inter.contrast, inter.p; arrays intensity
 *                      (3, 32): by distance in blocks, with the band of permuted blocks; width:
 *                      tokens of a block
 *   interaction.init   the same of initial weights: arrays
 * It says at what distance a dependency stands, to a block: of two-token XOR at 8 steps, resconv of
 * 9 taps in 3 layers, inter.peak is 8; inter.mean, 6.3 of 12.7, is not. */
#include <float.h>
#include <math.h>

#include "analysis/interaction.h"
#include "kernels/base/mem.h"
#include "probes/influence/occlude.h"
#include "probes/influence/part.h"

enum { EXAMPLES = 64, BLOCKS = 32, DRAWS = 4 };

typedef struct {
    int64_t width, n;
    int64_t *count;
    double *weight; /* (n, BLOCKS, BLOCKS) */
} pairs;

/* Of a batch: scores of all rows with one block replaced, and as they are. */
typedef struct {
    int64_t rows;
    lra_stretches *of;
    double *whole, *both;    /* (rows) */
    double *one;             /* (BLOCKS, DRAWS, rows) */
    double *squares, *draws; /* (rows): of a pair of blocks */
} asked;

static void replace(const asked *a, const pairs *p, const lra_occluder *o, int k, int64_t block)
{
    for (int64_t i = 0; i < a->rows; i++) {
        int64_t from = block * p->width, n = o->batch->length[i];
        a->of[i].from[k] = block < 0 || from > n ? 0 : from;
        a->of[i].to[k] = block < 0 || from > n ? 0 : from + p->width < n ? from + p->width : n;
    }
}

static int64_t blocks_of(const pairs *p, const lra_occluder *o, int64_t i)
{
    return (o->batch->length[i] + p->width - 1) / p->width;
}

static int ask_pair(asked *a, const pairs *p, const lra_occluder *o, int64_t x, int64_t y,
                    lra_err *e)
{
    int rc = 0;
    replace(a, p, o, 0, x);
    replace(a, p, o, 1, y);
    for (int64_t i = 0; i < a->rows; i++) a->squares[i] = a->draws[i] = 0;
    for (int r = 0; r < DRAWS && rc == 0; r++) {
        rc = lra_occlude_ask(o, a->of, r, a->both, e);
        const double *of_x = a->one + (x * DRAWS + r) * a->rows,
                     *of_y = a->one + (y * DRAWS + r) * a->rows;
        for (int64_t i = 0; i < a->rows && rc == 0; i++) {
            if (!lra_occlude_counts(o, i) || x >= blocks_of(p, o, i)) continue;
            if (!lra_occlude_changes(o, i, &a->of[i], r)) continue;
            double d = a->whole[i] - of_x[i] - of_y[i] + a->both[i], most = fabs(a->whole[i]);
            most = fmax(fmax(most, fabs(of_x[i])), fmax(fabs(of_y[i]), fabs(a->both[i])));
            if (fabs(d) < 8 * (double)FLT_EPSILON * most) d = 0; /* rounding */
            a->squares[i] += d * d, a->draws[i]++;
        }
    }
    return rc;
}

/* y < x */
static void keep_pair(const asked *a, pairs *p, const lra_occluder *o, int64_t first, int64_t x,
                      int64_t y)
{
    for (int64_t i = 0, at = first; i < a->rows; i++) {
        if (!lra_occlude_counts(o, i)) continue;
        double w = a->draws[i] > 0 ? sqrt(a->squares[i] / a->draws[i]) : 0;
        p->weight[(at * BLOCKS + x) * BLOCKS + y] = w;
        p->weight[(at++ * BLOCKS + y) * BLOCKS + x] = w;
    }
}

static int ask_all(asked *a, pairs *p, const lra_occluder *o, int64_t first, lra_err *e)
{
    int64_t most = 0;
    for (int64_t i = 0; i < a->rows; i++)
        if (lra_occlude_counts(o, i) && blocks_of(p, o, i) > most) most = blocks_of(p, o, i);
    replace(a, p, o, 0, -1);
    replace(a, p, o, 1, -1);
    int rc = lra_occlude_ask(o, a->of, 0, a->whole, e);
    for (int64_t k = 0; k < most * DRAWS && rc == 0; k++) {
        replace(a, p, o, 0, k / DRAWS);
        rc = lra_occlude_ask(o, a->of, k % DRAWS, a->one + k * a->rows, e);
    }
    for (int64_t x = 0; x < most && rc == 0; x++)
        for (int64_t y = 0; y < x && rc == 0; y++) {
            rc = ask_pair(a, p, o, x, y, e);
            if (rc == 0) keep_pair(a, p, o, first, x, y);
        }
    return rc;
}

static int take_batch(const lra_occluder *o, void *context, lra_err *e)
{
    pairs *p = context;
    asked a = {.rows = o->view->rows};
    int64_t first = p->n;
    size_t rows = (size_t)a.rows;
    for (int64_t i = 0; i < a.rows; i++) p->n += lra_occlude_counts(o, i);
    p->count = lra_resize(p->count, (size_t)(p->n + 1) * sizeof *p->count);
    p->weight = lra_resize(p->weight, (size_t)(p->n * BLOCKS * BLOCKS + 1) * sizeof *p->weight);
    for (int64_t k = first * BLOCKS * BLOCKS; k < p->n * BLOCKS * BLOCKS; k++) p->weight[k] = 0;
    for (int64_t i = 0, at = first; i < a.rows; i++)
        if (lra_occlude_counts(o, i)) p->count[at++] = blocks_of(p, o, i);
    a.of = lra_alloc_array(rows, sizeof *a.of);
    a.whole = lra_alloc_array(rows * (4 + BLOCKS * DRAWS), sizeof *a.whole);
    a.both = a.whole + rows, a.squares = a.both + rows, a.draws = a.squares + rows;
    a.one = a.draws + rows;
    int rc = ask_all(&a, p, o, first, e);
    lra_free(a.of);
    lra_free(a.whole);
    return rc;
}

static const char *undefined(const lra_influence *p)
{
    return lra_occlude_undefined(&p->spec);
}

static double passes(const lra_influence *p, int64_t examples)
{
    int64_t T = p->spec.data->max_length, width = (T + BLOCKS - 1) / BLOCKS;
    double n = (double)lra_influence_rows(p, examples), k = (double)((T + width - 1) / width);
    return 2 * n * (1 + DRAWS * (k + k * (k - 1) / 2));
}

static int measure_weights(lra_influence *p, int64_t examples, lra_open_weights weights,
                           const char *unit, lra_finding *found, lra_err *e)
{
    pairs all = {.width = (p->spec.data->max_length + BLOCKS - 1) / BLOCKS};
    int rc = lra_occlude(&p->spec, &p->device, weights, examples, &p->steps, take_batch, &all, e);
    if (rc == 0 && all.n == 0) rc = lra_fail(e, "there is no other row to take tokens from");
    if (rc == 0) {
        const lra_interactions x = {BLOCKS, all.width, all.n, all.count, all.weight};
        double curve[3 * BLOCKS], width = (double)all.width;
        lra_probe_unit *u = lra_probe_unit_new(p->out, unit);
        lra_interaction_findings(&x, p->spec.seed, found, curve);
        lra_probe_unit_array(u, "intensity", 2, (int64_t[]){3, BLOCKS}, curve);
        lra_probe_unit_array(u, "width", 1, (int64_t[]){1}, &width);
    }
    lra_free(all.count);
    lra_free(all.weight);
    return rc;
}

static int measure(lra_influence *p, int64_t examples, lra_err *e)
{
    lra_finding best[LRA_INTERACTION_FINDINGS], initial[LRA_INTERACTION_FINDINGS];
    int rc = measure_weights(p, examples, LRA_BEST_WEIGHTS, "interaction", best, e);
    lra_probe_unit *u = rc == 0 ? p->out->unit[p->out->n_units - 1] : NULL;
    if (rc == 0)
        rc = measure_weights(p, examples, LRA_INITIAL_WEIGHTS, "interaction.init", initial, e);
    if (rc != 0) return rc;
    lra_findings_null(LRA_INTERACTION_FINDINGS, best, LRA_INTERACTION_FINDINGS, initial,
                      LRA_NULL_INIT);
    for (int k = 0; k < LRA_INTERACTION_FINDINGS; k++) best[k].flags |= LRA_APPROX;
    lra_probe_unit_findings(u, LRA_INTERACTION_FINDINGS, best);
    return 0;
}

const lra_influence_part lra_part_interaction = {
    "interaction", "how far apart are parts that work together",
    EXAMPLES,      undefined,
    passes,        measure,
    .least = 2};
