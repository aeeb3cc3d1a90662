/* Part occlusion: how much the features of a position change if a block of the input is replaced by
 * that of another row (occlude.h). Part jacobian measures infinitesimal changes of the input: where
 * activations saturate, gradients are small although finite changes are not.
 *   w(i,b) = mean over 4 draws of || h_i(x) - h_i(x with block b replaced) ||
 * at the positions i of part jacobian. Blocks are 1/32 of the longest example, at most 16 tokens;
 * for images also squares, an eighth of a row wide. The weight of a block is assigned to the middle
 * of the block, with ties rounded away from the position. It is assigned to the position itself if
 * the block contains that position, so distances shorter than a block are not resolved. Excluded
 * are draws that change no token, blocks without any remaining draw, and for causal models blocks
 * that begin after the position. The two documents of a pair are separate examples, because only
 * the head combines them.
 *   occlusion        all profile statistics, shift.w1, shift.js, shift.peak; array width:
 *                    tokens per block
 *   occlusion.px     for images, with square blocks: distances and width in pixels
 *   occlusion.init   initial weights: only the curves
 * The part finds the distance of a dependency only if the model has an output at every position. In
 * 18 of 18 runs of copy at distance 8 to 64, shift.peak is within a factor of sqrt 2 of the
 * distance. Of 22 runs with one output (recall, select-at, xor), this holds for 5 (part jacobian:
 * 18 of 18 and 6 of 22). For a convolution model, range.q95 is its reach.
 * Tested: if the features are the inputs d positions earlier, all weight is at distance d. */
#include <math.h>

#include "analysis/profile.h"
#include "kernels/base/core/mem.h"
#include "probes/shared/jacobian.h"
#include "probes/influence/occlude.h"
#include "probes/influence/part.h"

enum { EXAMPLES = 64, POSITIONS = 32, BLOCKS = 32, WIDEST = 16, SIDE = 8, DRAWS = 4 };

typedef struct {
    lra_profile *profile;
    int64_t width, blocks, examples;
    int64_t columns; /* columns of the image if blocks are squares; 0 if blocks are token runs */
    bool causal;
    uint64_t seed;
} changes;

/* One batch: features without and with replacement, and sums by sequence, position and block. */
typedef struct {
    float *whole, *changed; /* (n, T, D) features without and with replacement */
    /* (n, POSITIONS, blocks) sum over draws of the change of the features */
    double *sum;
    int *draws;         /* (n, blocks) number of draws that changed a token */
    lra_token_runs *of; /* (n) block that is replaced in each sequence */
} evaluation;

static int64_t width_of(const lra_influence *p, int64_t columns)
{
    int64_t T = p->subject.data->max_length, width = (T + BLOCKS - 1) / BLOCKS;
    if (columns) return (columns + SIDE - 1) / SIDE;
    return width < WIDEST ? width : WIDEST;
}

static int64_t blocks_of(int64_t steps, int64_t width)
{
    return (steps + width - 1) / width;
}

/* Writes the token runs of a block of an example of T tokens; empty if the example is too short. */
static void block_of(const changes *c, int64_t T, int64_t block, lra_token_runs *of)
{
    int64_t from = block * c->width, to = from + c->width < T ? from + c->width : T;
    *of = (lra_token_runs){{from < T ? from : 0, 0}, {from < T ? to : 0, 0}, 0, 0};
    if (c->columns == 0) return;
    int64_t across = blocks_of(c->columns, c->width), rows = T / c->columns;
    int64_t x = block % across * c->width, y = block / across * c->width;
    int64_t right = x + c->width < c->columns ? x + c->width : c->columns;
    int64_t low = y + c->width < rows ? y + c->width : rows;
    *of = (lra_token_runs){{0, 0}, {0, 0}, low - y, c->columns};
    if (y >= rows) return;
    of->from[0] = y * c->columns + x, of->to[0] = y * c->columns + right;
}

/* The position to which the weight of the block [from, to) is assigned, seen from position i: the
 * middle of the block, with ties rounded away from i, or i itself if the block contains it. */
static int64_t place_of(int64_t i, int64_t from, int64_t to)
{
    if (i >= from && i < to) return i;
    int64_t twice = from + to - 1; /* twice the middle */
    return i < from ? (twice + 1) / 2 : twice / 2;
}

/* The position in an example to which the weight of a block is assigned; for images, rows and
 * columns are rounded separately. Returns -1 if the block is empty. */
static int64_t place_in(const changes *c, int64_t i, const lra_token_runs *of)
{
    if (of->to[0] <= of->from[0]) return -1;
    if (c->columns == 0) return place_of(i, of->from[0], of->to[0]);
    int64_t y = of->from[0] / c->columns, x = of->from[0] % c->columns;
    int64_t line = place_of(i / c->columns, y, y + of->times);
    return line * c->columns + place_of(i % c->columns, x, x + of->to[0] - of->from[0]);
}

static double distance(int64_t D, const float *x, const float *y)
{
    double sum = 0;
    for (int64_t d = 0; d < D; d++)
        sum += ((double)x[d] - (double)y[d]) * ((double)x[d] - (double)y[d]);
    return sqrt(sum);
}

/* Writes the evaluated positions of sequence s to at; returns their number. The two documents of a
 * pair are separate examples. */
static int positions_of(const changes *c, const lra_occluder *o, int64_t s, int64_t *at)
{
    int64_t T = o->batch->length[s], rows = o->request->B;
    int64_t example = o->batch->row[s % rows] * o->request->towers + s / rows;
    int n = T < POSITIONS ? (int)T : POSITIONS;
    for (int p = 0; p < n; p++) at[p] = lra_jacobian_position(c->seed, example, POSITIONS, p, T);
    return n;
}

/* Replaces one block in all sequences, with one draw, and adds the changes of the features. */
static int evaluate_block(const changes *c, evaluation *a, const lra_occluder *o, int64_t block,
                          int draw, lra_err *e)
{
    int64_t D = o->D, T = o->request->T, n_s = lra_request_sequences(o->request), at[POSITIONS];
    for (int64_t s = 0; s < n_s; s++) block_of(c, o->batch->length[s], block, &a->of[s]);
    int rc = lra_occlude_features(o, a->of, draw, a->changed, e);
    for (int64_t s = 0; s < n_s && rc == 0; s++) {
        if (!lra_occlude_counts(o, s) || !lra_occlude_changes(o, s, &a->of[s], draw)) continue;
        int n = positions_of(c, o, s, at);
        a->draws[s * c->blocks + block]++;
        for (int p = 0; p < n; p++) {
            int64_t row = (s * T + at[p]) * D;
            a->sum[(s * POSITIONS + p) * c->blocks + block] += distance(D, a->whole + row,
                                                                        a->changed + row);
        }
    }
    return rc;
}

static void add_example(changes *c, const evaluation *a, const lra_occluder *o, int64_t s)
{
    int64_t T = o->batch->length[s], at[POSITIONS];
    int n = positions_of(c, o, s, at);
    double *w = lra_alloc_array((size_t)T + 1, sizeof *w);
    lra_profile_begin(c->profile, T);
    for (int p = 0; p < n; p++) {
        for (int64_t j = 0; j < T; j++) w[j] = -1;
        for (int64_t b = 0; b < c->blocks; b++) {
            lra_token_runs of;
            block_of(c, T, b, &of);
            int64_t place = place_in(c, at[p], &of);
            int draws = a->draws[s * c->blocks + b];
            if (c->causal && of.from[0] > at[p]) continue;
            if (draws && place >= 0) w[place] = a->sum[(s * POSITIONS + p) * c->blocks + b] / draws;
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
    int64_t n_s = lra_request_sequences(o->request);
    size_t n = (size_t)n_s, all = (size_t)(n_s * o->request->T * o->D);
    evaluation a = {.whole = lra_alloc_array(2 * all, sizeof *a.whole),
                    .sum = lra_alloc_array(n * POSITIONS * (size_t)c->blocks, sizeof *a.sum),
                    .draws = lra_alloc_array(n * (size_t)c->blocks, sizeof *a.draws),
                    .of = lra_alloc_array(n, sizeof *a.of)};
    a.changed = a.whole + all;
    int rc = lra_occlude_features(o, a.of, 0, a.whole, e); /* no block is replaced */
    for (int64_t b = 0; b < c->blocks * DRAWS && rc == 0; b++)
        if (c->columns || b / DRAWS * c->width < o->request->T)
            rc = evaluate_block(c, &a, o, b / DRAWS, (int)(b % DRAWS), e);
    for (int64_t s = 0; s < n_s && rc == 0; s++)
        if (lra_occlude_counts(o, s)) add_example(c, &a, o, s);
    lra_free(a.whole);
    lra_free(a.sum);
    lra_free(a.draws);
    lra_free(a.of);
    return rc;
}

/* ---- the part -------------------------------------------------------------------------------- */

/* Number of blocks of the longest example. */
static int64_t all_blocks(const lra_influence *p, int64_t columns)
{
    int64_t T = p->subject.data->max_length, width = width_of(p, columns);
    if (columns == 0) return blocks_of(T, width);
    return blocks_of(columns, width) * blocks_of(T / columns, width);
}

static double passes(const lra_influence *p, int64_t examples)
{
    int64_t grid = p->result->grid, runs = 1 + all_blocks(p, 0) * DRAWS;
    if (grid) runs += 1 + all_blocks(p, grid) * DRAWS;
    return lra_influence_weights(p) * (double)(lra_influence_rows(p, examples) * runs);
}

static int run(lra_influence *p, int64_t examples, lra_subject_weights weights, int64_t columns,
               changes *c, lra_err *e)
{
    int64_t T = p->subject.data->max_length;
    *c = (changes){.profile = lra_profile_new(T, columns),
                   .width = width_of(p, columns),
                   .blocks = all_blocks(p, columns),
                   .columns = columns,
                   .causal = p->subject.model->facts.causal,
                   .seed = p->subject.seed};
    int rc = lra_occlude(&p->subject, weights, LRA_ANSWERS_FEATURES, examples, &p->steps,
                         take_batch, c, e);
    return rc == 0 && c->examples == 0
               ? lra_fail(e, "no batch has two rows, and replaced tokens come from another row")
               : rc;
}

static void add_unit(lra_influence *p, const changes *best, const changes *initial)
{
    lra_measurement own[LRA_PROFILE_MEASUREMENTS + 4], init[LRA_PROFILE_MEASUREMENTS];
    bool pixels = best->columns, reaches = best->width == 1 && !pixels;
    int64_t reach = reaches && p->result->reach > 0 ? p->result->reach : 0;
    const lra_profile_options s = {
        .suffix = pixels ? ".px" : NULL, .reach = reach, .key = p->subject.seed};
    double width = (double)best->width;
    int n = lra_profile_measurements(best->profile, &s, own);
    if (initial->profile) {
        int n_init = lra_profile_measurements(initial->profile, &s, init);
        lra_measurements_null(n, own, n_init, init, LRA_NULL_INIT);
        n += lra_profile_shift(initial->profile, best->profile, &s, own + n);
    }
    if (initial->profile && !pixels)
        own[n++] = lra_profile_peak(initial->profile, best->profile, true, &s);
    for (int i = 0; i < n; i++) own[i].flags |= LRA_APPROX;
    lra_probe_unit *u = lra_probe_unit_new(p->out, pixels ? "occlusion.px" : "occlusion");
    lra_influence_add_curves(u, best->profile);
    lra_probe_unit_array(u, "width", 1, (int64_t[]){1}, &width);
    lra_probe_unit_measurements(u, n, own);
    if (initial->profile && !pixels)
        lra_influence_add_curves(lra_probe_unit_new(p->out, "occlusion.init"), initial->profile);
}

/* columns: of an image with square blocks; 0: blocks are token runs. */
static int measure_blocks(lra_influence *p, int64_t examples, int64_t columns, lra_err *e)
{
    changes best = {0}, initial = {0};
    int rc = run(p, examples, LRA_TRAINED_WEIGHTS, columns, &best, e);
    if (rc == 0 && lra_influence_has_initial(p))
        rc = run(p, examples, LRA_RESET_WEIGHTS, columns, &initial, e);
    if (rc == 0) add_unit(p, &best, &initial);
    lra_profile_free(best.profile);
    lra_profile_free(initial.profile);
    return rc;
}

static int measure(lra_influence *p, int64_t examples, lra_err *e)
{
    int64_t grid = p->result->grid;
    int rc = measure_blocks(p, examples, 0, e);
    return rc == 0 && grid ? measure_blocks(p, examples, grid, e) : rc;
}

static const char *undefined(const lra_influence *p)
{
    return lra_occlude_no_partner(&p->subject);
}

static const lra_part_setting settings[] = {
    LRA_UNIFORM_SETTING("occlusion"), LRA_DONORS_SETTING("occlusion"), {.name = NULL}};

const lra_influence_part lra_part_occlusion = {
    .name = "occlusion",
    .summary = "distance of the blocks whose replacement changes the features of a position",
    .examples = EXAMPLES,
    .least = 2,
    .units = (const char *const[]){"occlusion.px", "occlusion.init", NULL},
    .nulls = LRA_NULL_BIT(LRA_NULL_UNIFORM) | LRA_NULL_BIT(LRA_NULL_INIT),
    .settings = settings,
    .needs = LRA_ANSWERS_FEATURES,
    .undefined = undefined,
    .passes = passes,
    .measure = measure};
