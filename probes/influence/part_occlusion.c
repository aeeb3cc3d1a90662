/* Part occlusion: how much the features of a position change when a block of the input is replaced
 * by that of another row (occlude.h), beside part jacobian, which asks the same of an input that
 * moves by next to nothing: where activations saturate, gradients are small and changes are not.
 *   w(i,b) = mean over 4 draws of || h_i(x) - h_i(x with block b replaced) ||
 * at the positions i of part jacobian.  Blocks are a 32nd of the longest example, at most 16
 * tokens; a weight stands at the middle of its block.  Draws that change no token are left out, and
 * blocks of which none does.
 *   occlusion        everything that a profile has, shift.w1, shift.js, shift.peak; array width:
 *                    tokens of a block
 *   occlusion.init   initial weights: curves
 * At what distance a dependency stands it says where answers are asked at every step: of 14 runs of
 * copy at 8 to 64 steps shift.peak is within a factor of sqrt 2 of it in all, of 19 others with one
 * answer (recall, select-at, xor) in 7, as good as gradients (14 and 6); of a convolution range.q95
 * is its reach.
 * Known: of features that are their own inputs d steps before, all weight stands at d. */
#include <math.h>

#include "analysis/profile.h"
#include "kernels/base/mem.h"
#include "kernels/graph/op.h"
#include "probes/influence/jacobian.h"
#include "probes/influence/occlude.h"
#include "probes/influence/part.h"

enum { EXAMPLES = 64, POSITIONS = 32, BLOCKS = 32, WIDEST = 16, DRAWS = 4 };

typedef struct {
    lra_profile *profile;
    int64_t width, blocks, examples;
    uint64_t seed;
} changes;

/* Of a batch: features as they are and changed, and by row, position and block what was added
 * up. */
typedef struct {
    float *whole, *changed; /* (rows, T, D) */
    double *sum;            /* (rows, POSITIONS, blocks) */
    int *draws;             /* (rows, blocks) */
    lra_stretches *of;      /* (rows) */
} asked;

static int64_t width_of(const lra_influence *p)
{
    int64_t width = (p->spec.data->max_length + BLOCKS - 1) / BLOCKS;
    return width < WIDEST ? width : WIDEST;
}

static double distance(int64_t D, const float *x, const float *y)
{
    double sum = 0;
    for (int64_t d = 0; d < D; d++)
        sum += ((double)x[d] - (double)y[d]) * ((double)x[d] - (double)y[d]);
    return sqrt(sum);
}

/* Positions of row i that are asked; returns how many. */
static int positions_of(const changes *c, const lra_occluder *o, int64_t i, int64_t *at)
{
    int64_t T = o->batch->length[i];
    int n = T < POSITIONS ? (int)T : POSITIONS;
    for (int p = 0; p < n; p++)
        at[p] = lra_jacobian_position(c->seed, o->batch->row[i], POSITIONS, p, T);
    return n;
}

/* One draw of one block, of all rows. */
static int ask_block(const changes *c, asked *a, const lra_occluder *o, int64_t block, int draw,
                     lra_err *e)
{
    const lra_network *k = &o->view->network;
    int64_t D = lra_width(k->features), from = block * c->width, at[POSITIONS];
    for (int64_t i = 0; i < o->view->rows; i++) {
        int64_t n = o->batch->length[i], to = from + c->width < n ? from + c->width : n;
        a->of[i] = (lra_stretches){{from < n ? from : 0, 0}, {from < n ? to : 0, 0}};
    }
    int rc = lra_occlude_run(o, a->of, draw, e);
    if (rc == 0) rc = lra_get(o->view->plan, k->features, a->changed, e);
    for (int64_t i = 0; i < o->view->rows && rc == 0; i++) {
        if (!lra_occlude_counts(o, i) || !lra_occlude_changes(o, i, &a->of[i], draw)) continue;
        int n = positions_of(c, o, i, at);
        a->draws[i * c->blocks + block]++;
        for (int p = 0; p < n; p++) {
            int64_t row = (i * k->T + at[p]) * D;
            a->sum[(i * POSITIONS + p) * c->blocks + block] += distance(D, a->whole + row,
                                                                        a->changed + row);
        }
    }
    return rc;
}

static void add_example(changes *c, const asked *a, const lra_occluder *o, int64_t i)
{
    int64_t T = o->batch->length[i], at[POSITIONS];
    int n = positions_of(c, o, i, at);
    double *w = lra_alloc_array((size_t)T + 1, sizeof *w);
    lra_profile_begin(c->profile, T);
    for (int p = 0; p < n; p++) {
        for (int64_t j = 0; j < T; j++) w[j] = -1;
        for (int64_t b = 0; b * c->width < T; b++) {
            int64_t from = b * c->width, to = from + c->width < T ? from + c->width : T;
            int draws = a->draws[i * c->blocks + b];
            if (draws) w[(from + to - 1) / 2] = a->sum[(i * POSITIONS + p) * c->blocks + b] / draws;
        }
        lra_profile_row(c->profile, at[p], 0, T, w);
    }
    lra_profile_end(c->profile);
    c->examples++;
    lra_free(w);
}

static int take_batch(const lra_occluder *o, void *context, lra_err *e)
{
    changes *c = context;
    size_t rows = (size_t)o->view->rows, all = (size_t)lra_elements(o->view->network.features);
    asked a = {.whole = lra_alloc_array(2 * all, sizeof *a.whole),
               .sum = lra_alloc_array(rows * POSITIONS * (size_t)c->blocks, sizeof *a.sum),
               .draws = lra_alloc_array(rows * (size_t)c->blocks, sizeof *a.draws),
               .of = lra_alloc_array(rows, sizeof *a.of)};
    a.changed = a.whole + all;
    int rc = lra_get(o->view->plan, o->view->network.features, a.whole, e);
    for (int64_t k = 0; k < c->blocks * DRAWS && rc == 0; k++)
        if (k / DRAWS * c->width < o->view->T)
            rc = ask_block(c, &a, o, k / DRAWS, (int)(k % DRAWS), e);
    for (int64_t i = 0; i < o->view->rows && rc == 0; i++)
        if (lra_occlude_counts(o, i)) add_example(c, &a, o, i);
    lra_free(a.whole);
    lra_free(a.sum);
    lra_free(a.draws);
    lra_free(a.of);
    return rc;
}

/* ---- the part -------------------------------------------------------------------------------- */

static const char *undefined(const lra_influence *p)
{
    bool pair = p->spec.data->task->goal == LRA_GOAL_PAIR;
    return pair ? "documents of a pair meet in the head alone" : NULL;
}

static double passes(const lra_influence *p, int64_t examples)
{
    int64_t width = width_of(p), blocks = (p->spec.data->max_length + width - 1) / width;
    return 2.0 * (double)lra_influence_rows(p, examples) * (double)(1 + blocks * DRAWS);
}

static int run(lra_influence *p, int64_t examples, lra_open_weights weights, changes *c, lra_err *e)
{
    int64_t T = p->spec.data->max_length;
    *c = (changes){.profile = lra_profile_new(T, 0), .width = width_of(p), .seed = p->spec.seed};
    c->blocks = (T + c->width - 1) / c->width;
    int rc = lra_occlude(&p->spec, &p->device, weights, examples, &p->steps, take_batch, c, e);
    return rc == 0 && c->examples == 0 ? lra_fail(e, "there is no other row to take tokens from")
                                       : rc;
}

static int measure(lra_influence *p, int64_t examples, lra_err *e)
{
    changes best = {0}, initial = {0};
    lra_finding own[LRA_PROFILE_FINDINGS + 4], init[LRA_PROFILE_FINDINGS];
    int rc = run(p, examples, LRA_BEST_WEIGHTS, &best, e);
    if (rc == 0) rc = run(p, examples, LRA_INITIAL_WEIGHTS, &initial, e);
    if (rc == 0) {
        int64_t reach = best.width == 1 && p->run->result->reach > 0 ? p->run->result->reach : 0;
        const lra_profile_options s = {.reach = reach, .key = p->spec.seed};
        double width = (double)best.width;
        int n = lra_profile_findings(best.profile, &s, own);
        int n_init = lra_profile_findings(initial.profile, &s, init);
        lra_findings_null(n, own, n_init, init, LRA_NULL_INIT);
        n += lra_profile_shift(initial.profile, best.profile, &s, own + n);
        own[n++] = lra_influence_peak(best.profile, initial.profile);
        for (int i = 0; i < n; i++) own[i].flags |= LRA_APPROX;
        lra_probe_unit *u = lra_probe_unit_new(p->out, "occlusion");
        lra_influence_add_curves(u, best.profile);
        lra_probe_unit_array(u, "width", 1, (int64_t[]){1}, &width);
        lra_probe_unit_findings(u, n, own);
        lra_influence_add_curves(lra_probe_unit_new(p->out, "occlusion.init"), initial.profile);
    }
    lra_profile_free(best.profile);
    lra_profile_free(initial.profile);
    return rc;
}

const lra_influence_part lra_part_occlusion = {
    "occlusion",
    "the same when blocks are replaced by those of another row",
    EXAMPLES,
    undefined,
    passes,
    measure,
    2};
