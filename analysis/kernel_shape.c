/* Measures the shape of convolution kernels. */
#include "analysis/kernel_shape.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/decay.h"
#include "analysis/profile.h"
#include "analysis/spectrum.h"
#include "kernels/base/core/mem.h"

enum { BLOCK = 16, BLOCKS = 8, LEAST_BLOCKS = 5 };

static int64_t lags_of(const lra_kernel *k)
{
    return k->behind + k->ahead;
}

int64_t lra_kernel_distances(const lra_kernel *k)
{
    return k->behind + 1 > k->ahead ? k->behind + 1 : k->ahead;
}

/* Computes |k|^2 by lag. */
static void squares(const lra_kernel *k, double *w)
{
    int64_t n = lags_of(k);
    memset(w, 0, (size_t)n * sizeof *w);
    for (int64_t c = 0; c < k->components; c++)
        for (int64_t i = 0; i < n; i++) w[i] += k->k[c * n + i] * k->k[c * n + i];
}

/* Combines both directions by distance: their sum, or if `most` the larger value. */
static void fold(const lra_kernel *k, const double *w, bool most, double *out)
{
    memset(out, 0, (size_t)lra_kernel_distances(k) * sizeof *out);
    for (int64_t i = 0; i < lags_of(k); i++) {
        int64_t d = i < k->behind ? k->behind - i : i - k->behind;
        out[d] = most ? fmax(out[d], w[i]) : out[d] + w[i];
    }
}

void lra_kernel_mass(const lra_kernel *k, double *mass)
{
    double *w = lra_alloc_array((size_t)lags_of(k), sizeof *w), sum = 0;
    squares(k, w);
    fold(k, w, false, mass);
    for (int64_t i = 0; i < lags_of(k); i++) sum += w[i];
    for (int64_t d = 0; d < lra_kernel_distances(k); d++) mass[d] /= sum;
    lra_free(w);
}

void lra_kernel_envelope(const lra_kernel *k, double *envelope)
{
    int64_t n = lra_kernel_distances(k);
    double *w = lra_alloc_array((size_t)lags_of(k), sizeof *w);
    squares(k, w);
    fold(k, w, true, envelope);
    for (int64_t d = n - 2; d >= 0; d--) envelope[d] = fmax(envelope[d], envelope[d + 1]);
    double most = envelope[0];
    for (int64_t d = 0; d < n; d++) envelope[d] = sqrt(envelope[d] / most);
    lra_free(w);
}

/* ---- one kernel ------------------------------------------------------------------------------ */

typedef struct {
    lra_measurement *out;
    int n;
    const char *suffix; /* suffix of every id: "" or ".mod" */
} list;

static void add(list *l, const char *id, double value, double null)
{
    lra_measurement f = lra_measurement_of(id, value);
    snprintf(f.id, sizeof f.id, "%s%s", id, l->suffix);
    f.null[LRA_NULL_UNIFORM] = null;
    l->out[l->n++] = f;
}

/* Adds dist.* and range.* of weights by lag; without a suffix also the shape measurements. */
static void add_ranges(list *l, const lra_kernel *k, const double *weight, const char *suffix)
{
    lra_measurement all[LRA_PROFILE_MEASUREMENTS];
    const lra_profile_options o = {
        .suffix = suffix, .groups = LRA_PROFILE_DISTANCES | (*suffix ? 0 : LRA_PROFILE_SHAPE)};
    int64_t n = lags_of(k);
    double *w = lra_alloc_array((size_t)n, sizeof *w);
    lra_profile *p = lra_profile_new(n, 0);
    /* weights of the inputs of the output at position ahead - 1 */
    for (int64_t i = 0; i < n; i++) w[n - 1 - i] = weight[i];
    lra_profile_begin(p, n);
    lra_profile_row(p, k->ahead - 1, 0, n, w);
    lra_profile_end(p);
    int found = lra_profile_measurements(p, &o, all);
    for (int i = 0; i < found; i++) {
        all[i].examples = 0;
        l->out[l->n++] = all[i];
    }
    lra_profile_free(p);
    lra_free(w);
}

/* Finds the largest |k| of each block and its lag, from lag 1 on; returns the number of blocks. */
static int block_maxima(const lra_kernel *k, const double *size, double *d, double *most)
{
    int64_t n = lra_kernel_distances(k), block = n >= BLOCK * BLOCKS ? BLOCK : n / BLOCKS;
    int blocks = 0;
    if (block < 1) block = 1;
    for (int64_t from = 1; from + block <= n; from += block, blocks++) {
        int64_t at = from;
        for (int64_t i = from; i < from + block; i++)
            if (size[i] > size[at]) at = i;
        d[blocks] = (double)at, most[blocks] = size[at];
    }
    return blocks;
}

static void add_decay(list *l, const lra_kernel *k, const double *w, const lra_kendall_null *null,
                      double *p)
{
    int64_t n = lra_kernel_distances(k);
    double *size = lra_alloc_array(4 * (size_t)n, sizeof *size), *d = size + n, *most = d + n,
           *one = most + n;
    fold(k, w, true, size);
    for (int64_t i = 0; i < n; i++) size[i] = sqrt(size[i]), one[i] = 1;
    int blocks = block_maxima(k, size, d, most), fit = 0;
    while (fit < blocks && most[fit] > 0) fit++;
    lra_decay f = lra_decay_fit(fit, d, most, one);
    add(l, "decay.tau", f.tau < 0 ? INFINITY : f.tau, NAN);
    add(l, "decay.beta", f.beta, 0);
    add(l, "decay.kind", fit >= LEAST_BLOCKS ? (double)f.kind : NAN, LRA_DECAY_NONE);
    add(l, "decay.r2.exp", f.r2_exp, NAN);
    add(l, "decay.r2.power", f.r2_power, NAN);
    lra_kendall t = {NAN, NAN};
    if (blocks >= LEAST_BLOCKS) {
        lra_kendall_null *own = null ? NULL : lra_kendall_null_new(blocks);
        t = lra_kendall_falling(null ? null : own, most);
        lra_kendall_null_free(own);
    }
    add(l, "decay.test", t.tau, 0);
    if (p) *p = t.p;
    lra_free(size);
}

static void add_tail(list *l, const lra_kernel *k, const double *w)
{
    int64_t half = (lra_kernel_distances(k) + 1) / 2;
    double energy = 0, far = 0;
    for (int64_t i = 0; i < lags_of(k); i++) {
        int64_t d = i < k->behind ? k->behind - i : i - k->behind;
        energy += w[i];
        if (d >= half) far += w[i];
    }
    add(l, "kernel.tail", far / energy, NAN);
}

static void add_roughness(list *l, const lra_kernel *k, const double *w)
{
    int64_t n = lags_of(k);
    double energy = 0, sum = 0, steps = 0, lengths = 0;
    for (int64_t i = 0; i < n; i++) {
        energy += w[i], sum += sqrt(w[i]);
        double step = 0;
        for (int64_t c = 0; c < k->components && i + 1 < n; c++) {
            double change = k->k[c * n + i + 1] - k->k[c * n + i];
            step += change * change;
        }
        steps += step, lengths += sqrt(step);
    }
    add(l, "kernel.tv", lengths / sum, NAN);
    add(l, "kernel.smooth", steps / energy, 2);
    double centroid, band;
    lra_spectrum(k->components, n, k->k, &centroid, &band);
    add(l, "kernel.centroid", centroid, 0.25);
    add(l, "kernel.bw95", band, 0.475);
}

/* Adds local.R.px, the share of energy within R pixels. */
static void add_pixels(list *l, const lra_kernel *k, const double *w, int64_t columns)
{
    static const int64_t radius[] = {1, 2, 3, 5};
    double inside[4] = {0}, equal[4] = {0}, energy = 0, n = (double)lags_of(k);
    for (int64_t i = 0; i < lags_of(k); i++) {
        int64_t d = i < k->behind ? k->behind - i : i - k->behind;
        int64_t dy = (2 * d + columns) / (2 * columns), dx = d - dy * columns;
        int64_t far = dx < 0 ? -dx : dx;
        if (dy > far) far = dy;
        energy += w[i];
        for (int r = 0; r < 4; r++)
            if (far <= radius[r]) inside[r] += w[i], equal[r] += 1 / n;
    }
    for (int r = 0; r < 4; r++) {
        char id[LRA_MEASUREMENT_ID];
        snprintf(id, sizeof id, "local.%d.px", (int)radius[r]);
        add(l, id, inside[r] / energy, equal[r]);
    }
}

/* Returns |k|^2 and then |k| by lag, which the caller frees; NULL if the kernel is zero or not
 * finite. */
static double *new_weights(const lra_kernel *k)
{
    int64_t n = lags_of(k);
    double *w = lra_alloc_array(2 * (size_t)n, sizeof *w), sum = 0;
    squares(k, w);
    for (int64_t i = 0; i < n; i++) sum += w[i], w[n + i] = sqrt(w[i]);
    if (sum > 0 && isfinite(sum)) return w;
    lra_free(w);
    return NULL;
}

int lra_kernel_modulus_measurements(const lra_kernel *k, const lra_kendall_null *null,
                                    lra_measurement *out, double *p)
{
    list l = {out, 0, ".mod"};
    double *w = new_weights(k);
    *p = NAN;
    if (w) {
        add_ranges(&l, k, w, l.suffix);
        add_decay(&l, k, w, null, p);
        add_tail(&l, k, w);
    }
    lra_free(w);
    return l.n;
}

int lra_kernel_measurements(const lra_kernel *k, int64_t columns, const lra_kendall_null *null,
                            lra_measurement *out, double *p)
{
    list l = {out, 0, ""};
    double *w = new_weights(k);
    if (p) *p = NAN;
    if (w) {
        add_ranges(&l, k, w, "");
        add_ranges(&l, k, w + lags_of(k), ".p1");
        add_decay(&l, k, w, null, p);
        add_tail(&l, k, w);
        add_roughness(&l, k, w);
        if (columns > 0) add_pixels(&l, k, w, columns);
    }
    lra_free(w);
    return l.n;
}

int lra_kernel_blocks(const lra_kernel *k)
{
    int64_t n = lra_kernel_distances(k), block = n >= BLOCK * BLOCKS ? BLOCK : n / BLOCKS;
    return (int)((n - 1) / (block < 1 ? 1 : block));
}
