/* Part field: the effective receptive field as in computer vision. It is the squared gradient J^2
 * of the features at the middle position (jacobian.h), averaged over examples and random draws and
 * normalised to sum 1. Part jacobian covers all positions.
 *   field     erf.r20 .r30 .r50 .r99: radius in tokens that contains this share of the gradient
 *             mass; erf.area20 ..: share of the input within that radius; null values: uniform
 *             baseline on the same inputs, initial weights; arrays erf and erf.init (2 T - 1) by
 *             offset from the middle; at (1): the middle position
 *   field.px  for images: radius in pixels of a square; arrays erf and erf.init (rows, columns)
 * The middle of an image is the pixel in the middle of its rows and columns.
 * On tasks with a known dependency distance (tests/bench/known_truth.sh), erf.r99 is within a
 * factor of sqrt 2 of that distance in 19 of 40 runs, 13 of which are convolution models, and never
 * below it. It is therefore an upper bound of the used distance, not an estimate. */
#include "probes/shared/jacobian.h"
#include "probes/influence/part.h"

#include <math.h>
#include <stdio.h>

#include "analysis/profile.h"
#include "analysis/radius.h"
#include "kernels/base/core/mem.h"

enum { EXAMPLES = 64, DRAWS = 32 };
static const int shares[] = {20, 30, 50, 99};

typedef struct {
    int64_t T, grid, n, capacity, undefined;
    double *near[2];  /* (n, T) squared gradient by distance: [0] in tokens, [1] in pixels */
    double *equal[2]; /* (n, T) uniform baseline by distance: [0] in tokens, [1] in pixels */
    double *map[2];   /* [0]: (2 T - 1) by offset in tokens; [1]: (T) by position */
    int64_t *length;  /* (n) tokens of each example */
    lra_jacobian_report report;
} field;

static void take_row(void *context, const lra_jacobian_row *row)
{
    field *f = context;
    double all = 0;
    for (int64_t j = 0; j < row->T; j++) all += row->square[j];
    if (!(all > 0) || isinf(all)) {
        f->undefined++;
        return;
    }
    if (f->n == f->capacity) {
        f->capacity = f->capacity ? 2 * f->capacity : 64;
        size_t size = (size_t)(f->capacity * f->T) * sizeof(double);
        for (int k = 0; k < 2; k++) {
            f->near[k] = lra_resize(f->near[k], size);
            f->equal[k] = lra_resize(f->equal[k], size);
        }
        f->length = lra_resize(f->length, (size_t)f->capacity * sizeof *f->length);
    }
    for (int k = 0; k < 2; k++) {
        double *to = f->near[k] + f->n * f->T, *equal = f->equal[k] + f->n * f->T;
        for (int64_t d = 0; d < f->T; d++) to[d] = equal[d] = 0;
        for (int64_t j = 0; j < row->T; j++) {
            int64_t d = lra_profile_distance(k ? f->grid : 0, row->i, j);
            to[d] += row->square[j];
            if (j < row->allowed) equal[d] += all / (double)row->allowed;
        }
    }
    for (int64_t j = 0; j < row->T; j++) {
        f->map[0][j - row->i + f->T - 1] += row->square[j];
        f->map[1][j] += row->square[j];
    }
    f->length[f->n++] = row->T;
}

static void normalise(double *x, int64_t n)
{
    double all = 0;
    for (int64_t i = 0; i < n; i++) all += x[i];
    for (int64_t i = 0; i < n && all > 0; i++) x[i] /= all;
}

/* Share of the input within radius r of the middle, averaged over examples of different lengths.
 * All images of a task have the same size. Returns NAN if r is NAN. */
static double area_of(const field *f, bool pixels, double r)
{
    double side = 2 * r + 1, sum = 0;
    if (isnan(r)) return NAN; /* fmin() would return the other argument */
    for (int64_t i = 0; i < f->n && !pixels; i++) sum += fmin(side / (double)f->length[i], 1);
    if (!pixels) return f->n ? sum / (double)f->n : NAN;
    double rows = (double)f->T / (double)f->grid;
    return fmin(side, (double)f->grid) * fmin(side, rows) / (double)f->T;
}

static double radius_of(const field *f, const double *near, int share, uint64_t seed)
{
    return f->n ? lra_radius(f->n, f->T, near, share / 100.0, seed).value : NAN;
}

static void add_unit(lra_influence *p, field *f, field *initial, bool pixels)
{
    lra_probe_unit *u = lra_probe_unit_new(p->out, pixels ? "field.px" : "field");
    int64_t line = 2 * f->T - 1, square[] = {f->grid ? f->T / f->grid : 0, f->grid};
    normalise(f->map[pixels], pixels ? f->T : line);
    double at = (double)lra_jacobian_middle(f->T, f->grid);
    lra_probe_unit_array(u, "at", 1, (int64_t[]){1}, &at);
    lra_probe_unit_array(u, "erf", pixels ? 2 : 1, pixels ? square : &line, f->map[pixels]);
    if (initial->map[pixels]) {
        normalise(initial->map[pixels], pixels ? f->T : line);
        lra_probe_unit_array(u, "erf.init", pixels ? 2 : 1, pixels ? square : &line,
                             initial->map[pixels]);
    }
    for (int k = 0; k < 4; k++) {
        char id[LRA_MEASUREMENT_ID];
        lra_estimate r = lra_radius(f->n, f->T, f->near[pixels], shares[k] / 100.0,
                                    p->subject.seed);
        snprintf(id, sizeof id, "erf.r%d%s", shares[k], pixels ? ".px" : "");
        lra_measurement x = lra_measurement_of(id, r.value);
        if (pixels) lra_measurement_in_pixels(&x);
        x.lo = r.lo, x.hi = r.hi;
        snprintf(id, sizeof id, "erf.area%d%s", shares[k], pixels ? ".px" : "");
        lra_measurement y = lra_measurement_of(id, area_of(f, pixels, r.value));
        y.lo = area_of(f, pixels, r.lo), y.hi = area_of(f, pixels, r.hi);
        const double null[] = {
            [LRA_NULL_UNIFORM] = radius_of(f, f->equal[pixels], shares[k], p->subject.seed),
            [LRA_NULL_INIT] = radius_of(initial, initial->near[pixels], shares[k],
                                        p->subject.seed)};
        for (int i = LRA_NULL_UNIFORM; i <= LRA_NULL_INIT; i++)
            x.null[i] = null[i], y.null[i] = area_of(f, pixels, null[i]);
        x.examples = y.examples = f->n;
        x.undefined = y.undefined = f->undefined;
        x.flags |= LRA_APPROX, y.flags |= LRA_APPROX;
        lra_probe_unit_measurements(u, 1, &x);
        lra_probe_unit_measurements(u, 1, &y);
    }
}

static double passes(const lra_influence *p, int64_t examples)
{
    return lra_influence_weights(p) * (double)(lra_influence_rows(p, examples) * (1 + DRAWS));
}

static int run(lra_influence *p, int64_t examples, lra_subject_weights weights, field *f,
               lra_err *e)
{
    *f = (field){.T = p->subject.data->max_length, .grid = p->result->grid};
    const lra_jacobian_spec s = {.examples = examples,
                                 .positions = 1,
                                 .draws = DRAWS,
                                 .middle = true,
                                 .grid = f->grid,
                                 .weights = weights,
                                 .seed = p->subject.seed};
    for (int k = 0; k < 2; k++) f->map[k] = lra_alloc_array((size_t)(2 * f->T), sizeof(double));
    return lra_jacobian_measure(&p->subject, &s, &p->steps, take_row, f, &f->report, e);
}

static void forget(field *f)
{
    for (int k = 0; k < 2; k++) {
        lra_free(f->near[k]);
        lra_free(f->equal[k]);
        lra_free(f->map[k]);
    }
    lra_free(f->length);
}

static int measure(lra_influence *p, int64_t examples, lra_err *e)
{
    field best, initial = {0};
    int rc = run(p, examples, LRA_TRAINED_WEIGHTS, &best, e);
    if (rc == 0 && lra_influence_has_initial(p))
        rc = run(p, examples, LRA_RESET_WEIGHTS, &initial, e);
    if (rc == 0 && best.n == 0)
        rc = lra_fail(e, "no example has a gradient at its middle position");
    if (rc == 0) add_unit(p, &best, &initial, false);
    if (rc == 0 && best.grid) add_unit(p, &best, &initial, true);
    forget(&best);
    forget(&initial);
    return rc;
}

static const lra_part_setting settings[] = {LRA_UNIFORM_SETTING("field"), {.name = NULL}};

const lra_influence_part lra_part_field = {
    .name = "field",
    .summary = "effective receptive field of the middle position",
    .examples = EXAMPLES,
    .least = 1,
    .units = (const char *const[]){"field.px", NULL},
    .nulls = LRA_NULL_BIT(LRA_NULL_UNIFORM) | LRA_NULL_BIT(LRA_NULL_INIT),
    .settings = settings,
    .needs = LRA_ANSWERS_VJP,
    .passes = passes,
    .measure = measure};
