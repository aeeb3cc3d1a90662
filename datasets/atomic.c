/* Atomic tasks: a model computes one operation on L random numbers. Rows are drawn anew in every
 * epoch. Targets are at every position or at the last positions.
 * x_0 .. x_(L-1): numbers of N(0,1), divided by the largest magnitude of the row. A row has n
 * tokens, i counts them from 0.
 *   cumsum  y_i = (x_0 + .. + x_i) / sqrt(i + 1)   (targets: all L positions)
 *   cummax  y_i = max(x_0, .., x_i)   (targets: all L positions)
 *   select  L + M numbers (scaled together), then M zeros; M of the numbers are marked;
 *           y = the marked numbers in order of position   (targets: the last M positions)
 *   copy    y_i = x_(i-d), d = `distance`: the delay line   (targets: from position d on)
 * The input of a model at position i: x, the mark (select only), cos(2 pi i / n), sin(2 pi i / n).
 * Metric: R2.
 * `copy` is defined by this suite: its distance is a parameter, and its numbers are independent. A
 * model whose reach R is below d has an R2 of at most 0; with R >= d an R2 of 1 is possible.
 * Source: Gupta et al. 2022, "Simplifying and Understanding State Space Models with Diagonal Linear
 * RNNs"; used by the LaS paper, which does not state L: 512 here. An epoch has 14,400 rows and
 * validation 1,600, as published; the test split, which is not published, has the size of the
 * validation split.
 * Known: a constant prediction has R2 = 0. For cumsum, a model that sees only the last R + 1 tokens
 * explains at most the share of the variance of y_i that these tokens contribute. */
#include <math.h>
#include <string.h>

#include "datasets/loader/dataset.h"
#include "kernels/base/core/mem.h"

enum { CUMSUM, CUMMAX, SELECT, COPY, STREAM = 0x4154, MAX_LENGTH = 1 << 16, MAX_ROWS = 1 << 22 };

typedef struct {
    int kind;
    int64_t length, marks; /* L, and M of select (0 for the other kinds) */
    int64_t distance;      /* d of copy; 0 for the other kinds */
} shape;

static const char *const names[] = {"cumsum", "cummax", "select", "copy"};

static shape shape_of(const lra_config *c, int kind)
{
    return (shape){kind, lra_config_int(c, "length"),
                   kind == SELECT ? lra_config_int(c, "marks") : 0,
                   kind == COPY ? lra_config_int(c, "distance") : 0};
}

static int64_t steps_of(const shape *s)
{
    return s->length + 2 * s->marks;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Draws n numbers of N(0,1), divided by their largest magnitude, into x[0], x[width], x[2 width],
 * .. */
static void draw_numbers(lra_rng *rng, int64_t n, int width, float *x)
{
    double most = 0;
    for (int64_t i = 0; i < n; i += 2) {
        double a, b;
        uint32_t u = lra_rng_u32(rng), v = lra_rng_u32(rng);
        lra_normal2(u, v, &a, &b);
        x[i * width] = (float)a;
        if (i + 1 < n) x[(i + 1) * width] = (float)b;
    }
    for (int64_t i = 0; i < n; i++) {
        double size = fabs((double)x[i * width]);
        if (size > most) most = size;
    }
    for (int64_t i = 0; i < n && most > 0; i++) x[i * width] = (float)((double)x[i * width] / most);
}

static void draw_select(const shape *s, lra_rng *rng, float *value, float *target)
{
    int64_t n = s->length + s->marks, left = s->marks, at = n;
    memset(value, 0, (size_t)(2 * steps_of(s)) * sizeof *value);
    for (int64_t i = 0; i < steps_of(s); i++) target[i] = NAN;
    draw_numbers(rng, n, 2, value);
    /* number i is marked with probability left / (n - i), so that all subsets are equally likely */
    for (int64_t i = 0; i < n; i++) {
        if ((int64_t)lra_rng_below(rng, (uint32_t)(n - i)) >= left) continue;
        value[2 * i + 1] = 1;
        target[at++] = value[2 * i];
        left--;
    }
}

static void draw(const shape *s, lra_rng *rng, float *value, float *target)
{
    if (s->kind == SELECT) {
        draw_select(s, rng, value, target);
        return;
    }
    double sum = 0, most = -INFINITY;
    draw_numbers(rng, s->length, 1, value);
    for (int64_t i = 0; i < s->length; i++) {
        sum += (double)value[i];
        if ((double)value[i] > most) most = (double)value[i];
        if (s->kind == CUMSUM) target[i] = (float)(sum / sqrt((double)i + 1));
        if (s->kind == CUMMAX) target[i] = (float)most;
        if (s->kind == COPY) target[i] = i < s->distance ? NAN : value[i - s->distance];
    }
}

/* ---- the tasks ------------------------------------------------------------------------------- */

static int check_most(const lra_config *c, const char *key, int64_t most, lra_err *e)
{
    int64_t x = lra_config_int(c, key);
    if (x <= most) return 0;
    return lra_fail_usage(e, "%s is %lld, expected 1 to %lld", key, (long long)x, (long long)most);
}

static int check(const lra_config *c, int kind, lra_err *e)
{
    if (kind == SELECT && check_most(c, "marks", lra_config_int(c, "length"), e) != 0)
        return LRA_USAGE;
    if (kind == COPY && check_most(c, "distance", lra_config_int(c, "length") - 1, e) != 0)
        return LRA_USAGE;
    return 0;
}

static int make_all(const lra_config *c, int kind, lra_sequences split[LRA_N_SPLITS], lra_err *e)
{
    if (check(c, kind, e) != 0) return LRA_USAGE;
    shape s = shape_of(c, kind);
    lra_row row = {
        .n = steps_of(&s), .width = kind == SELECT ? 2 : 1, .n_targets = 1, .step_targets = true};
    row.value = lra_alloc_array((size_t)(row.n * row.width), sizeof *row.value);
    row.target = lra_alloc_array((size_t)row.n, sizeof *row.target);
    uint64_t seed = (uint64_t)lra_config_int(c, "data-seed"), index = 0;
    for (int k = 0; k < LRA_N_SPLITS; k++)
        for (int64_t i = lra_config_int(c, lra_split_names[k]); i > 0; i--) {
            lra_rng rng = lra_rng_new(seed, STREAM + (uint32_t)kind, index++);
            draw(&s, &rng, row.value, row.target);
            lra_sequences_add(&split[k], &row);
        }
    lra_free(row.value);
    lra_free(row.target);
    return 0;
}

/* Returns the kind of a task from its name. */
static int kind_of(const lra_dataset *d)
{
    int kind = 0;
    while (strcmp(names[kind], d->task->name) != 0) kind++;
    return kind;
}

static void redraw(const lra_dataset *d, lra_rng *rng, lra_row *row)
{
    shape s = shape_of(d->config, kind_of(d));
    draw(&s, rng, row->value, row->target);
}

/* Position features (n, 2) of a row of n tokens: cos and sin of 2 pi i / n. */
static void positions(int64_t n, float *out)
{
    for (int64_t i = 0; i < n; i++) {
        double angle = 6.283185307179586 * (double)i / (double)n;
        out[2 * i] = (float)cos(angle), out[2 * i + 1] = (float)sin(angle);
    }
}

/* Model inputs (n, width + 2): the numbers of each token, then its position features. All rows of a
 * data set have the same length. */
static void values(const lra_dataset *d, const lra_row *row, float *out)
{
    int channels = row->width + 2;
    bool known = d->positions && row->n == d->max_length;
    float *own = known ? NULL : lra_alloc_array((size_t)(2 * row->n) + 1, sizeof *own);
    const float *position = known ? d->positions : own;
    if (own) positions(row->n, own);
    for (int64_t i = 0; i < row->n; i++) {
        float *to = out + i * channels;
        for (int k = 0; k < row->width; k++) to[k] = row->value[i * row->width + k];
        to[row->width] = position[2 * i], to[row->width + 1] = position[2 * i + 1];
    }
    lra_free(own);
}

static void show(const lra_row *row, FILE *out)
{
    fprintf(out, "pos.  x%s  target\n", row->width > 1 ? "        mark" : "     ");
    for (int64_t i = 0; i < row->n; i++) {
        fprintf(out, "%4lld  %8.5f", (long long)i, (double)row->value[i * row->width]);
        if (row->width > 1) fprintf(out, "  %g", (double)row->value[i * row->width + 1]);
        if (isnan(row->target[i]))
            fprintf(out, "\n");
        else
            fprintf(out, "  %8.5f\n", (double)row->target[i]);
    }
}

#define ATOMIC_ROWS                                                                                \
    LRA_INT_KEY("length", "512", 2, MAX_LENGTH, "length of a row, in numbers"),                    \
        LRA_COUNT_KEYS("14400", "1600", "1600", MAX_ROWS), LRA_DATA_SEED_KEY

#define ATOMIC(id, kind, what, width, trained, ...)                                                \
    static int make_##id(const lra_config *c, lra_sequences split[LRA_N_SPLITS], lra_err *e)       \
    {                                                                                              \
        return make_all(c, kind, split, e);                                                        \
    }                                                                                              \
    static int64_t longest_##id(const lra_config *c)                                               \
    {                                                                                              \
        const shape s = shape_of(c, kind);                                                         \
        return steps_of(&s);                                                                       \
    }                                                                                              \
    static int validate_##id(const lra_config *c, lra_err *e)                                      \
    {                                                                                              \
        return check(c, kind, e);                                                                  \
    }                                                                                              \
    const lra_task lra_task_##id = {                                                               \
        .name = #id,                                                                               \
        .summary = what,                                                                           \
        .goal = LRA_GOAL_TOKENS,                                                                   \
        .n_targets = 1,                                                                            \
        .data.longest = longest_##id,                                                              \
        .input.channels = width + 2,                                                               \
        .keys = (const lra_key[]){ATOMIC_ROWS, __VA_ARGS__},                                       \
        trained,                                                                                   \
        .validate = validate_##id,                                                                 \
        .data.make = make_##id,                                                                    \
        .data.augment = redraw,                                                                    \
        .data.fresh = true,                                                                        \
        .input.values = values,                                                                    \
        .input.positions = positions,                                                              \
        .input.n_positions = 2,                                                                    \
        .text.show = show,                                                                         \
    }
/* "paper" has a constant learning rate without warmup, as in the source paper. */
#define ATOMIC_TRAINED(quick_rows)                                                                 \
    .quick = {quick_rows " train=3200 val=400 test=800", "batch=32 epochs=6 warmup=0.05", 2},      \
    .small = {NULL, "batch=64 epochs=8 warmup=0.02", 3},                                           \
    .paper = {NULL, "batch=64 epochs=12 schedule=constant warmup=0", 5}
/* Settings of copy; it has no preset "paper", because no paper defines the task. */
#define COPY_TRAINED                                                                               \
    .quick = {"length=128 train=3200 val=400 test=800", "batch=32 epochs=4 warmup=0.05", 3},       \
    .small = {NULL, "batch=32 epochs=8 warmup=0.02", 5}

ATOMIC(cumsum, CUMSUM, "running sum divided by sqrt(position), at every position", 1,
       ATOMIC_TRAINED("length=128"), LRA_KEYS_END);
ATOMIC(cummax, CUMMAX, "running maximum, at every position", 1, ATOMIC_TRAINED("length=128"),
       LRA_KEYS_END);
ATOMIC(select, SELECT, "the marked numbers in order, at the last positions", 2,
       ATOMIC_TRAINED("length=112 marks=8"),
       LRA_INT_KEY("marks", "32", 1, MAX_LENGTH, "number of marked numbers"), LRA_KEYS_END);
ATOMIC(copy, COPY, "the number `distance` positions back, at every position", 1, COPY_TRAINED,
       LRA_INT_KEY("distance", "16", 1, MAX_LENGTH,
                   "distance from a number to its copy, in positions"),
       LRA_KEYS_END);
