/* Part interaction: the distance between input blocks that have a joint, non-additive effect on the
 * output (analysis/interaction.h), for models with one pooled output. It computes second
 * differences of the margin logit against one rival class, with blocks replaced by those of other
 * rows (occlude.h) in 4 draws: first with the blocks in their original order, then with the full
 * blocks permuted. Blocks are 1/32 of the longest example.
 *   interaction        inter.mean, inter.q95, inter.contrast, inter.peak, inter.rel, inter.p;
 *                      arrays pairs (2, 32): I and N by distance in blocks; rel (3, 32): their
 *                      ratio, estimate, lower and upper end of a simultaneous interval; width:
 *                      tokens per block
 *   interaction.init   for initial weights in the original order only: arrays pairs (1, 32), width
 */
#include <math.h>

#include "analysis/interaction.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"
#include "probes/influence/occlude.h"
#include "probes/influence/part.h"

enum { EXAMPLES = 64, BLOCKS = 32, DRAWS = 4, STREAM = 0x4C41 };

typedef struct {
    int64_t width, n;
    uint64_t seed;
    int layouts; /* 2: original order and permuted blocks; 1: original order only */
    int64_t *count;
    /* (n, BLOCKS, BLOCKS) weights w(a,b), and null weights of permuted blocks */
    double *weight, *null;
} pairs;

/* Scores of all rows of a batch in one layout: blocks in original order, or permuted. */
typedef struct {
    /* (DRAWS, rows): scores without replacement, in the block order of each draw */
    double *whole;
    double *one;     /* (BLOCKS, DRAWS, rows): scores with one block replaced */
    double *both;    /* (rows): scores with both blocks of a pair replaced */
    double *squares; /* (rows): sum over draws of the squared second difference of a pair */
    lra_occluder as[DRAWS];
    lra_layout layout[DRAWS];
    int64_t *content; /* (DRAWS, sequences, BLOCKS) block permutations */
} ordered;

/* Scores of one batch. */
typedef struct {
    int64_t rows;
    lra_token_runs *of;
    int32_t *rival;
    double *draws; /* (rows) number of draws that change a token of the pair */
    ordered in[2];
} evaluation;

static void replace(const evaluation *a, const pairs *p, const lra_occluder *o, int k,
                    int64_t block)
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

/* ---- scores ---------------------------------------------------------------------------------- */

static int evaluate_pair(evaluation *a, const pairs *p, const lra_occluder *o, int64_t x, int64_t y,
                         lra_err *e)
{
    int rc = 0;
    replace(a, p, o, 0, x);
    replace(a, p, o, 1, y);
    for (int64_t i = 0; i < a->rows; i++) a->draws[i] = 0;
    for (int l = 0; l < p->layouts; l++)
        for (int64_t i = 0; i < a->rows; i++) a->in[l].squares[i] = 0;
    for (int r = 0; r < DRAWS && rc == 0; r++)
        for (int l = 0; l < p->layouts && rc == 0; l++) {
            ordered *in = &a->in[l];
            rc = lra_occlude_scores(&in->as[r], a->of, r, in->both, e);
            const double *of_x = in->one + (x * DRAWS + r) * a->rows,
                         *of_y = in->one + (y * DRAWS + r) * a->rows,
                         *whole = in->whole + r * a->rows;
            for (int64_t i = 0; i < a->rows && rc == 0; i++) {
                if (!lra_occlude_counts(o, i) || x >= blocks_of(p, o, i)) continue;
                if (!lra_occlude_changes(o, i, &a->of[i], r)) continue;
                double d = lra_interaction_second(whole[i], of_x[i], of_y[i], in->both[i]);
                in->squares[i] += d * d;
                a->draws[i] += l == 0;
            }
        }
    return rc;
}

/* rho of block x of row i (interaction.h): effect of the block's position alone. */
static double place_of(const evaluation *a, int64_t x, int64_t i)
{
    double squares[2] = {0, 0};
    for (int l = 0; l < 2; l++)
        for (int r = 0; r < DRAWS; r++) {
            const ordered *in = &a->in[l];
            double d = lra_interaction_first(in->whole[r * a->rows + i],
                                             in->one[(x * DRAWS + r) * a->rows + i]);
            squares[l] += d * d;
        }
    return lra_interaction_place(squares[0], squares[1]);
}

static void keep(double *weight, int64_t at, int64_t x, int64_t y, double w)
{
    weight[(at * BLOCKS + x) * BLOCKS + y] = w;
    weight[(at * BLOCKS + y) * BLOCKS + x] = w;
}

/* Stores the weights of the block pair (x, y), y < x, of every example of the batch. */
static void keep_pair(const evaluation *a, pairs *p, const lra_occluder *o, int64_t first,
                      int64_t x, int64_t y)
{
    for (int64_t i = 0, at = first; i < a->rows; i++) {
        if (!lra_occlude_counts(o, i)) continue;
        double w[2] = {0, 0};
        for (int l = 0; l < p->layouts && a->draws[i] > 0; l++)
            w[l] = sqrt(a->in[l].squares[i] / a->draws[i]);
        keep(p->weight, at, x, y, w[0]);
        if (p->layouts > 1 && x < blocks_of(p, o, i))
            keep(p->null, at, x, y, w[1] * place_of(a, x, i) * place_of(a, y, i));
        at++;
    }
}

static int evaluate_pairs(evaluation *a, pairs *p, const lra_occluder *o, int64_t first, lra_err *e)
{
    int64_t most = 0;
    int rc = 0;
    for (int64_t i = 0; i < a->rows; i++)
        if (lra_occlude_counts(o, i) && blocks_of(p, o, i) > most) most = blocks_of(p, o, i);
    replace(a, p, o, 0, -1);
    replace(a, p, o, 1, -1);
    for (int k = 0; k < p->layouts * DRAWS && rc == 0; k++) {
        ordered *in = &a->in[k / DRAWS];
        rc = lra_occlude_scores(&in->as[k % DRAWS], a->of, 0, in->whole + k % DRAWS * a->rows, e);
    }
    for (int64_t k = 0; k < most * DRAWS && rc == 0; k++) {
        replace(a, p, o, 0, k / DRAWS);
        for (int l = 0; l < p->layouts && rc == 0; l++)
            rc = lra_occlude_scores(&a->in[l].as[k % DRAWS], a->of, k % DRAWS,
                                    a->in[l].one + k * a->rows, e);
    }
    for (int64_t x = 0; x < most && rc == 0; x++)
        for (int64_t y = 0; y < x && rc == 0; y++) {
            rc = evaluate_pair(a, p, o, x, y, e);
            if (rc == 0) keep_pair(a, p, o, first, x, y);
        }
    return rc;
}

/* ---- batches --------------------------------------------------------------------------------- */

/* Draws a permutation of the full blocks of each sequence, for draw r. */
static void draw_layout(const pairs *p, const lra_occluder *o, int r, ordered *in)
{
    int64_t n = lra_request_sequences(o->request);
    int64_t *content = in->content + r * n * BLOCKS;
    for (int64_t s = 0; s < n; s++) {
        int64_t *own = content + s * BLOCKS, full = o->batch->length[s] / p->width;
        int64_t row = o->batch->row[s % o->request->B];
        lra_rng rng = lra_rng_new(p->seed, STREAM,
                                  (uint64_t)(row < 0 ? 0 : row) << 8 | (uint64_t)r);
        for (int64_t k = 0; k < BLOCKS; k++) own[k] = k;
        for (int64_t k = full - 1; k > 0; k--) {
            int64_t other = lra_rng_below(&rng, (uint32_t)k + 1), kept = own[k];
            own[k] = own[other], own[other] = kept;
        }
    }
    in->layout[r] = (lra_layout){p->width, BLOCKS, content};
    in->as[r].layout = &in->layout[r];
}

static void open_order(const pairs *p, const lra_occluder *o, const evaluation *a, bool moved,
                       ordered *in)
{
    size_t rows = (size_t)a->rows;
    in->whole = lra_alloc_array(rows * (2 + DRAWS + BLOCKS * DRAWS), sizeof *in->whole);
    in->one = in->whole + DRAWS * rows;
    in->both = in->one + BLOCKS * DRAWS * rows, in->squares = in->both + rows;
    in->content = lra_alloc_array((size_t)(DRAWS * lra_request_sequences(o->request) * BLOCKS),
                                  sizeof(int64_t));
    for (int r = 0; r < DRAWS; r++) {
        in->as[r] = *o;
        in->as[r].rival = a->rival;
        if (moved) draw_layout(p, o, r, in);
    }
}

static int open_evaluation(evaluation *a, const pairs *p, const lra_occluder *o, lra_err *e)
{
    size_t rows = (size_t)a->rows;
    a->of = lra_alloc_array(rows, sizeof *a->of);
    a->rival = lra_alloc_array(rows, sizeof *a->rival);
    a->draws = lra_alloc_array(rows, sizeof *a->draws);
    for (int l = 0; l < p->layouts; l++) open_order(p, o, a, l == 1, &a->in[l]);
    replace(a, p, o, 0, -1);
    replace(a, p, o, 1, -1);
    int rc = lra_occlude_scores(o, a->of, 0, a->draws, e);
    if (rc == 0) lra_occlude_rivals(o, a->rival);
    return rc;
}

static void close_evaluation(evaluation *a)
{
    lra_free(a->of);
    lra_free(a->rival);
    lra_free(a->draws);
    for (int l = 0; l < 2; l++) {
        lra_free(a->in[l].whole);
        lra_free(a->in[l].content);
    }
}

static double *more_pairs(double *weight, int64_t first, int64_t n)
{
    weight = lra_resize(weight, (size_t)(n * BLOCKS * BLOCKS + 1) * sizeof *weight);
    for (int64_t k = first * BLOCKS * BLOCKS; k < n * BLOCKS * BLOCKS; k++) weight[k] = 0;
    return weight;
}

static int take_batch(const lra_occluder *o, void *context, lra_err *e)
{
    pairs *p = context;
    evaluation a = {.rows = o->request->B};
    int64_t first = p->n;
    for (int64_t i = 0; i < a.rows; i++) p->n += lra_occlude_counts(o, i);
    p->count = lra_resize(p->count, (size_t)(p->n + 1) * sizeof *p->count);
    p->weight = more_pairs(p->weight, first, p->n);
    if (p->layouts > 1) p->null = more_pairs(p->null, first, p->n);
    for (int64_t i = 0, at = first; i < a.rows; i++)
        if (lra_occlude_counts(o, i)) p->count[at++] = blocks_of(p, o, i);
    int rc = open_evaluation(&a, p, o, e);
    if (rc == 0) rc = evaluate_pairs(&a, p, o, first, e);
    close_evaluation(&a);
    return rc;
}

/* ---- the part -------------------------------------------------------------------------------- */

static const char *undefined(const lra_influence *p)
{
    return lra_occlude_undefined(&p->subject);
}

/* Three evaluations: best weights in original and in permuted order, initial weights in original
 * order. */
static double passes(const lra_influence *p, int64_t examples)
{
    int64_t T = p->subject.data->max_length, width = (T + BLOCKS - 1) / BLOCKS;
    double n = (double)lra_influence_rows(p, examples), k = (double)((T + width - 1) / width);
    double sets = lra_influence_weights(p); /* the trained weights have two layouts */
    return n * (sets + (sets + 1) * DRAWS * (1 + k + k * (k - 1) / 2));
}

static void add_arrays(const lra_influence *p, const pairs *all, const char *unit, double *curve)
{
    double width = (double)all->width;
    lra_probe_unit *u = lra_probe_unit_new(p->out, unit);
    lra_probe_unit_array(u, "pairs", 2, (int64_t[]){all->layouts, BLOCKS}, curve);
    if (all->layouts > 1)
        lra_probe_unit_array(u, "rel", 2, (int64_t[]){3, BLOCKS}, curve + 2 * (ptrdiff_t)BLOCKS);
    lra_probe_unit_array(u, "width", 1, (int64_t[]){1}, &width);
}

static int measure_weights(lra_influence *p, int64_t examples, lra_subject_weights weights,
                           const char *unit, lra_measurement *found, lra_err *e)
{
    pairs all = {.width = (p->subject.data->max_length + BLOCKS - 1) / BLOCKS,
                 .seed = p->subject.seed,
                 .layouts = weights == LRA_TRAINED_WEIGHTS ? 2 : 1};
    int rc = lra_occlude(&p->subject, weights, LRA_ANSWERS_FORWARD, examples, &p->steps, take_batch,
                         &all, e);
    if (rc == 0 && all.n == 0)
        rc = lra_fail(e, "no batch has two rows, and replaced tokens come from another row");
    if (rc == 0) {
        const lra_interactions x = {BLOCKS, all.width, all.n, all.count, all.weight, all.null};
        double curve[LRA_INTERACTION_CURVES * BLOCKS];
        lra_interaction_measurements(&x, p->subject.seed, found, curve);
        add_arrays(p, &all, unit, curve);
    }
    lra_free(all.count);
    lra_free(all.weight);
    lra_free(all.null);
    return rc;
}

static int measure(lra_influence *p, int64_t examples, lra_err *e)
{
    lra_measurement best[LRA_INTERACTION_MEASUREMENTS], initial[LRA_INTERACTION_MEASUREMENTS];
    int rc = measure_weights(p, examples, LRA_TRAINED_WEIGHTS, "interaction", best, e);
    lra_probe_unit *u = rc == 0 ? p->out->unit[p->out->n_units - 1] : NULL;
    bool has_initial = lra_influence_has_initial(p);
    if (rc == 0 && has_initial)
        rc = measure_weights(p, examples, LRA_RESET_WEIGHTS, "interaction.init", initial, e);
    if (rc != 0) return rc;
    if (has_initial)
        lra_measurements_null(LRA_INTERACTION_MEASUREMENTS, best, LRA_INTERACTION_MEASUREMENTS,
                              initial, LRA_NULL_INIT);
    for (int k = 0; k < LRA_INTERACTION_MEASUREMENTS; k++) best[k].flags |= LRA_APPROX;
    lra_probe_unit_measurements(u, LRA_INTERACTION_MEASUREMENTS, best);
    return 0;
}

/* Files without array "rel" are outdated: their test permuted the labels of blocks, which is
 * significant even without structure. */
static bool outdated(const lra_influence *p, const lra_probe_result *old)
{
    (void)p;
    const lra_probe_unit *u = lra_probe_unit_find(old, "interaction");
    return u && !lra_probe_array_find(u, "rel");
}

static const lra_part_setting settings[] = {LRA_DONORS_SETTING("interaction"), {.name = NULL}};

const lra_influence_part lra_part_interaction = {
    .name = "interaction",
    .summary =
        "distance between input blocks that have a joint (non-additive) effect on the output",
    .examples = EXAMPLES,
    .least = 2,
    .units = (const char *const[]){"interaction.init", NULL},
    .nulls = LRA_NULL_BIT(LRA_NULL_UNIFORM) | LRA_NULL_BIT(LRA_NULL_INIT) |
             LRA_NULL_BIT(LRA_NULL_PERM),
    .settings = settings,
    .needs = LRA_ANSWERS_FORWARD,
    .undefined = undefined,
    .outdated = outdated,
    .passes = passes,
    .measure = measure};
