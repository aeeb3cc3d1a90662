/* Part field: the effective receptive field as vision uses the word: the mean over examples and
 * draws of the squared gradient of the features at the middle position, J^2 at one position
 * (jacobian.h), normalised to sum 1.  What holds for all positions is part jacobian.
 *   field     erf.r20 .r30 .r50 .r99: radius in tokens; erf.area20 ..: its share of the input;
 *             array erf (2 T - 1) by offset from the middle
 *   field.px  of images: radius in pixels, a square; array erf (rows, columns)
 * The middle of an image is the pixel in the middle of its rows and columns; array at (1): the
 * middle position. */
#include "probes/influence/jacobian.h"
#include "probes/influence/part.h"

#include <math.h>
#include <stdio.h>

#include "analysis/profile.h"
#include "analysis/radius.h"
#include "kernels/base/mem.h"

enum { EXAMPLES = 64, DRAWS = 32 };
static const int shares[] = {20, 30, 50, 99};

typedef struct {
    int64_t T, grid, n, capacity, undefined;
    double *near[2]; /* (n, T) mass by distance: tokens; pixels */
    double *map[2];  /* (2 T - 1) by offset; (T) by position */
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
        for (int k = 0; k < 2; k++)
            f->near[k] = lra_resize(f->near[k], (size_t)(f->capacity * f->T) * sizeof(double));
    }
    for (int k = 0; k < 2; k++) {
        double *to = f->near[k] + f->n * f->T;
        for (int64_t d = 0; d < f->T; d++) to[d] = 0;
        for (int64_t j = 0; j < row->T; j++)
            to[lra_profile_distance(k ? f->grid : 0, row->i, j)] += row->square[j];
    }
    for (int64_t j = 0; j < row->T; j++) {
        f->map[0][j - row->i + f->T - 1] += row->square[j];
        f->map[1][j] += row->square[j];
    }
    f->n++;
}

static void normalise(double *x, int64_t n)
{
    double all = 0;
    for (int64_t i = 0; i < n; i++) all += x[i];
    for (int64_t i = 0; i < n && all > 0; i++) x[i] /= all;
}

/* Share of the input that a radius around the middle covers. */
static double area_of(const field *f, bool pixels, double r)
{
    double side = 2 * r + 1;
    if (!pixels) return fmin(side / (double)f->T, 1);
    double rows = (double)f->T / (double)f->grid;
    return fmin(side, (double)f->grid) * fmin(side, rows) / (double)f->T;
}

static void add_unit(lra_influence *p, field *f, bool pixels)
{
    lra_probe_unit *u = lra_probe_unit_new(p->out, pixels ? "field.px" : "field");
    int64_t line = 2 * f->T - 1, square[] = {f->grid ? f->T / f->grid : 0, f->grid};
    normalise(f->map[pixels], pixels ? f->T : line);
    double at = (double)lra_jacobian_middle(f->T, f->grid);
    lra_probe_unit_array(u, "at", 1, (int64_t[]){1}, &at);
    lra_probe_unit_array(u, "erf", pixels ? 2 : 1, pixels ? square : &line, f->map[pixels]);
    for (int k = 0; k < 4; k++) {
        char id[LRA_FINDING_ID];
        lra_estimate r = lra_radius(f->n, f->T, f->near[pixels], shares[k] / 100.0, p->spec.seed);
        snprintf(id, sizeof id, "erf.r%d%s", shares[k], pixels ? ".px" : "");
        lra_finding x = lra_finding_of(id, pixels ? "pixels" : "tokens", r.value);
        x.lo = r.lo, x.hi = r.hi;
        snprintf(id, sizeof id, "erf.area%d%s", shares[k], pixels ? ".px" : "");
        lra_finding y = lra_finding_of(id, "1", area_of(f, pixels, r.value));
        y.lo = area_of(f, pixels, r.lo), y.hi = area_of(f, pixels, r.hi);
        x.examples = y.examples = f->n;
        x.undefined = y.undefined = f->undefined;
        x.flags |= LRA_APPROX, y.flags |= LRA_APPROX;
        lra_probe_unit_findings(u, 1, &x);
        lra_probe_unit_findings(u, 1, &y);
    }
}

static double passes(const lra_influence *p, int64_t examples)
{
    return (double)(lra_influence_rows(p, examples) * (1 + DRAWS));
}

static int measure(lra_influence *p, int64_t examples, lra_err *e)
{
    field f = {.T = p->spec.data->max_length, .grid = p->run->result->grid};
    const lra_jacobian_spec s = {.examples = examples,
                                 .positions = 1,
                                 .draws = DRAWS,
                                 .middle = true,
                                 .grid = f.grid,
                                 .weights = LRA_BEST_WEIGHTS,
                                 .seed = p->spec.seed};
    for (int k = 0; k < 2; k++) f.map[k] = lra_alloc_array((size_t)(2 * f.T), sizeof(double));
    int rc = lra_jacobian_measure(&p->spec, &p->device, &s, &p->steps, take_row, &f, &f.report, e);
    if (rc == 0 && f.n == 0) rc = lra_fail(e, "no example has a gradient at its middle position");
    if (rc == 0) add_unit(p, &f, false);
    if (rc == 0 && f.grid) add_unit(p, &f, true);
    for (int k = 0; k < 2; k++) {
        lra_free(f.near[k]);
        lra_free(f.map[k]);
    }
    return rc;
}

const lra_influence_part lra_part_field = {
    "field",  "the effective receptive field of the middle position",
    EXAMPLES, NULL,
    passes,   measure,
    1};
