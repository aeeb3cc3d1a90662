/* Computes the measurements of the kernels of one layer (layer_measurements.h). */
#include "probes/kernels/layer_measurements.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/breakdown.h"
#include "analysis/profile.h"
#include "analysis/quantile.h"
#include "analysis/radius.h"
#include "analysis/spectrum.h"
#include "kernels/base/core/mem.h"
#include "probes/kernels/modes.h"
#include "probes/kernels/over_channels.h"
#include "probes/kernels/realised.h"

enum { DRAWN = 16, MEASUREMENTS = 8 * LRA_KERNEL_MEASUREMENTS };

/* ---- over channels --------------------------------------------------------------------------- */

/* The measurements of every channel in one state (initial or trained). */
typedef struct {
    const lra_extracted_kernels *of;
    int state, n_ids;
    /* ids and flags, taken from the first channel with the most measurements */
    lra_measurement id[LRA_KERNEL_MEASUREMENTS];
    double *value;     /* (ids, channels) NAN: undefined */
    double *p, *p_mod; /* (channels) p-values of decay.test and decay.test.mod */
    int64_t undefined;
} channels;

static channels *channels_new(const lra_extracted_kernels *k, int state, int64_t columns)
{
    channels *x = lra_alloc(sizeof *x);
    lra_kernel first = lra_extract_channel(k, state, 0);
    lra_kendall_null *null = lra_kendall_null_new(lra_kernel_blocks(&first));
    lra_measurement one[LRA_KERNEL_MEASUREMENTS];
    x->of = k, x->state = state;
    x->value = lra_alloc_array((size_t)k->channels * LRA_KERNEL_MEASUREMENTS, sizeof *x->value);
    x->p = lra_alloc_array(2 * (size_t)k->channels, sizeof *x->p);
    x->p_mod = x->p + k->channels;
    for (int64_t i = 0; i < k->channels * LRA_KERNEL_MEASUREMENTS; i++) x->value[i] = NAN;
    for (int64_t c = 0; c < k->channels; c++) {
        lra_kernel kernel = lra_extract_channel(k, state, c);
        int n = lra_kernel_measurements(&kernel, columns, null, one, &x->p[c]);
        x->p_mod[c] = NAN;
        if (n == 0) {
            x->undefined++;
            continue;
        }
        if (k->cut[state]) one[n++] = lra_measurement_of("kernel.cut", k->cut[state][c]);
        if (k->mod[state]) { /* measured last, because they can be missing in single channels */
            lra_kernel modulus = lra_extract_modulus(k, state, c);
            n += lra_kernel_modulus_measurements(&modulus, null, one + n, &x->p_mod[c]);
        }
        if (n > x->n_ids) memcpy(x->id, one, (size_t)n * sizeof *one), x->n_ids = n;
        for (int i = 0; i < n; i++) x->value[i * k->channels + c] = one[i].value;
    }
    lra_kendall_null_free(null);
    return x;
}

static void channels_free(channels *x)
{
    lra_free(x->value);
    lra_free(x->p);
    lra_free(x);
}

/* ---- of the layer ---------------------------------------------------------------------------- */

/* Share of the channels with a known kind of decay that have kind `is`. */
static double share_of_kind(const double *kind, int64_t n, double is)
{
    int64_t known = 0, count = 0;
    for (int64_t c = 0; c < n; c++) known += !isnan(kind[c]), count += kind[c] == is;
    return known ? (double)count / (double)known : NAN;
}

/* Share of channels whose decay is significant, after Holm's correction for the n tests of the
 * layer. */
static double share_falling(int64_t n, const double *tests)
{
    int64_t known = 0, count = 0;
    double *p = lra_alloc_array((size_t)n, sizeof *p);
    memcpy(p, tests, (size_t)n * sizeof *p);
    lra_holm((int)n, p);
    for (int64_t c = 0; c < n; c++) known += !isnan(p[c]), count += p[c] < 0.05;
    lra_free(p);
    return known ? (double)count / (double)known : NAN;
}

/* Adds mode.tau, the decay times of all modes in tokens, and mode.tau.mean, their mean weighted by
 * the initial amplitudes. Returns the number of measurements. */
static int add_modes(const lra_modes *m, lra_measurement *out)
{
    int64_t n = m->rows * m->n;
    if (n == 0) return 0;
    double *tau = lra_alloc_array((size_t)n, sizeof *tau), sum = 0, weights = 0;
    for (int64_t i = 0; i < n; i++) {
        double weight = hypot(m->w[2 * i], m->w[2 * i + 1]);
        tau[i] = m->x[2 * i] < 0 ? -1 / m->x[2 * i] : INFINITY;
        sum += weight * tau[i], weights += weight;
    }
    lra_measurement as = lra_measurement_of("mode.tau", 0);
    int added = lra_over_channels(&as, n, tau, out);
    out[added] = lra_measurement_of("mode.tau.mean", sum / weights);
    if (isinf(out[added].value)) out[added].flags |= LRA_CENSORED;
    lra_free(tau);
    return added + 1;
}

/* Adds the shares of channels by kind of decay: of their kernels, or of the moduli (mod). */
static int add_kinds(const channels *x, const double *kind, bool mod, lra_measurement *out)
{
    int64_t C = x->of->channels;
    out[0] = lra_measurement_of(mod ? "decay.exp.mod" : "decay.exp",
                                share_of_kind(kind, C, LRA_DECAY_EXP));
    out[1] = lra_measurement_of(mod ? "decay.power.mod" : "decay.power",
                                share_of_kind(kind, C, LRA_DECAY_POWER));
    out[2] = lra_measurement_of(mod ? "decay.falls.mod" : "decay.falls",
                                share_falling(C, mod ? x->p_mod : x->p));
    out[2].null[LRA_NULL_UNIFORM] = 0;
    return 3;
}

/* Adds the decay of every channel as arrays (channels), NAN for channels without a value. */
static void add_channel_decay(const channels *x, lra_probe_unit *u)
{
    static const char *const id[] = {"decay.kind", "decay.tau", "decay.beta"};
    const lra_extracted_kernels *k = x->of;
    for (int i = 0; i < x->n_ids; i++)
        for (size_t n = 0; n < sizeof id / sizeof *id; n++) {
            if (strcmp(x->id[i].id, id[n]) != 0) continue;
            char *name = lra_format("channel.%s%s", id[n], x->state ? "" : "0");
            lra_probe_unit_array(u, name, 1, &k->channels, x->value + i * k->channels);
            lra_free(name);
        }
}

static int add_layer(const channels *x, lra_measurement *out)
{
    const lra_extracted_kernels *k = x->of;
    int64_t C = k->channels, lags = k->components * (k->behind + k->ahead);
    int n = 0;
    for (int i = 0; i < x->n_ids; i++) {
        const double *value = x->value + i * C;
        bool mod = strcmp(x->id[i].id, "decay.kind.mod") == 0;
        if (mod || strcmp(x->id[i].id, "decay.kind") == 0)
            n += add_kinds(x, value, mod, out + n);
        else
            n += lra_over_channels(&x->id[i], C, value, out + n);
    }
    out[n++] = lra_measurement_of("kernel.erank", lra_effective_rank(C, lags, k->k[x->state]));
    return n + add_modes(&k->mode[x->state], out + n);
}

/* Adds the shift of each channel's mass by distance between initialisation and the end of
 * training. */
static int add_shift(const lra_extracted_kernels *k, lra_measurement *out)
{
    lra_kernel one = lra_extract_channel(k, 0, 0);
    int64_t n = lra_kernel_distances(&one), C = k->channels;
    double *value = lra_alloc_array(2 * (size_t)(C + n), sizeof *value);
    double *a = value + 2 * C, *b = a + n;
    for (int64_t c = 0; c < C; c++) {
        lra_kernel before = lra_extract_channel(k, LRA_FOUND_INITIAL, c);
        lra_kernel after = lra_extract_channel(k, LRA_FOUND_TRAINED, c);
        lra_kernel_mass(&before, a);
        lra_kernel_mass(&after, b);
        value[c] = lra_shift_w1(n, a, b),
        value[C + c] = isnan(value[c]) ? NAN : lra_shift_js(n, a, b);
    }
    lra_measurement w1 = lra_measurement_of("shift.w1", 0), js = lra_measurement_of("shift.js", 0);
    w1.null[LRA_NULL_INIT] = js.null[LRA_NULL_INIT] = 0;
    int added = lra_over_channels(&w1, C, value, out);
    added += lra_over_channels(&js, C, value + C, out + added);
    lra_free(value);
    return added;
}

/* ---- curves ---------------------------------------------------------------------------------- */

/* Adds the kernels of evenly spaced channels as curves for figures. If a lag has several
 * components, the curve is their norm. */
static void add_drawn(const lra_extracted_kernels *k, int state, lra_probe_unit *u)
{
    int64_t n = k->channels < DRAWN ? k->channels : DRAWN, lags = k->behind + k->ahead;
    double *drawn = lra_alloc_array((size_t)(n * (lags + 1)), sizeof *drawn),
           *channel = drawn + n * lags;
    for (int64_t i = 0; i < n; i++) {
        int64_t c = n > 1 ? i * (k->channels - 1) / (n - 1) : 0;
        const double *from = k->k[state] + c * k->components * lags;
        channel[i] = (double)c;
        for (int64_t j = 0; j < lags; j++) {
            double squares = 0;
            for (int64_t v = 0; v < k->components; v++)
                squares += from[v * lags + j] * from[v * lags + j];
            drawn[i * lags + j] = k->components == 1 ? from[j] : sqrt(squares);
        }
    }
    lra_probe_unit_array(u, state ? "kernel" : "kernel0", 2, (int64_t[]){n, lags}, drawn);
    for (int64_t i = 0; i < n && k->skip[state]; i++)
        drawn[i] = k->skip[state][(int64_t)channel[i]];
    if (k->skip[state]) lra_probe_unit_array(u, state ? "skip" : "skip0", 1, &n, drawn);
    if (state) {
        lra_probe_unit_array(u, "channels", 1, &n, channel);
        lra_probe_unit_array(u, "behind", 1, (int64_t[]){1}, (double[]){(double)k->behind});
    }
    lra_free(drawn);
}

/* Adds the mean mass by distance, and the quartiles over channels of the envelope, (3, n). Returns
 * the masses (n) in double precision; the caller frees them. */
static double *add_curves(const lra_extracted_kernels *k, int state, lra_probe_unit *u)
{
    static const double share[] = {0.25, 0.5, 0.75};
    lra_kernel first = lra_extract_channel(k, state, 0);
    int64_t n = lra_kernel_distances(&first), C = k->channels, known = 0;
    double *all = lra_alloc_array((size_t)(n * (C + 4) + C), sizeof *all);
    double *one = all + n * C, *quartile = one + n, *column = quartile + 3 * n;
    double *mass = lra_alloc_array((size_t)n + 1, sizeof *mass);
    for (int64_t c = 0; c < C; c++) {
        lra_kernel kernel = lra_extract_channel(k, state, c);
        lra_kernel_mass(&kernel, one);
        if (isnan(one[0])) continue;
        for (int64_t d = 0; d < n; d++) mass[d] += one[d];
        lra_kernel_envelope(&kernel, all + n * known++);
    }
    for (int64_t d = 0; d < n; d++) {
        for (int64_t c = 0; c < known; c++) column[c] = all[c * n + d];
        lra_sort(known, column);
        for (int q = 0; q < 3; q++)
            quartile[q * n + d] = known ? lra_quantile(known, column, share[q]) : NAN;
        mass[d] = known ? mass[d] / (double)known : NAN;
    }
    lra_probe_unit_array(u, state ? "mass" : "mass0", 1, &n, mass);
    lra_probe_unit_array(u, state ? "envelope" : "envelope0", 2, (int64_t[]){3, n}, quartile);
    lra_free(all);
    return mass;
}

/* shift.peak: the distance with the largest ratio of mean shares (formula in
 * layer_measurements.h). */
static lra_measurement peak_of(int64_t n, double *const mass[LRA_FOUND_STATES])
{
    lra_measurement f = lra_measurement_of(
        "shift.peak", lra_peak(n, mass[LRA_FOUND_TRAINED], mass[LRA_FOUND_INITIAL]));
    f.null[LRA_NULL_UNIFORM] = lra_peak_middle(n);
    return f;
}

void lra_layer_measure(const lra_extracted_kernels *k, int64_t columns, lra_probe_result *to)
{
    lra_probe_unit *u = lra_probe_unit_new(to, k->name);
    lra_measurement *list[LRA_FOUND_STATES] = {NULL};
    double *mass[LRA_FOUND_STATES] = {NULL};
    int n[LRA_FOUND_STATES] = {0};
    lra_kernel first = lra_extract_channel(k, LRA_FOUND_TRAINED, 0);
    for (int s = k->k[LRA_FOUND_INITIAL] ? LRA_FOUND_INITIAL : LRA_FOUND_TRAINED;
         s < LRA_FOUND_STATES; s++) {
        channels *x = channels_new(k, s, columns);
        list[s] = lra_alloc_array(MEASUREMENTS, sizeof **list);
        n[s] = add_layer(x, list[s]);
        n[s] += lra_realised_measure(k, s, list[s] + n[s]);
        add_channel_decay(x, u);
        channels_free(x);
        add_drawn(k, s, u);
        mass[s] = add_curves(k, s, u);
    }
    lra_measurement *trained = list[LRA_FOUND_TRAINED];
    int *n_trained = &n[LRA_FOUND_TRAINED];
    if (k->k[LRA_FOUND_INITIAL]) {
        lra_measurements_null(*n_trained, trained, n[LRA_FOUND_INITIAL], list[LRA_FOUND_INITIAL],
                              LRA_NULL_INIT);
        *n_trained += add_shift(k, trained + *n_trained);
        trained[(*n_trained)++] = peak_of(lra_kernel_distances(&first), mass);
    }
    lra_probe_unit_measurements(u, *n_trained, trained);
    for (int s = 0; s < LRA_FOUND_STATES; s++) lra_free(list[s]), lra_free(mass[s]);
}

void lra_layers_add_model(lra_probe_result *r)
{
    if (r->n_units == 0) return;
    const lra_probe_unit *first = r->unit[0]; /* the unit with the most measurements */
    int n = 0;
    for (int u = 1; u < r->n_units; u++)
        if (r->unit[u]->n_measurements > first->n_measurements) first = r->unit[u];
    lra_measurement *list = lra_alloc_array((size_t)first->n_measurements + 1, sizeof *list);
    for (int i = 0; i < first->n_measurements; i++) {
        lra_measurement f = first->measurement[i];
        double sum = 0, init = 0, equal = 0;
        int known = 0;
        /* skip quantiles, and shift.peak, whose mean over layers has no meaning */
        if (strchr(f.id, ':') || strcmp(f.id, "shift.peak") == 0) continue;
        for (int u = 0; u < r->n_units; u++) {
            const lra_measurement *x = lra_probe_measurement(r->unit[u], f.id);
            if (!x || isnan(x->value)) continue;
            sum += x->value, init += x->null[LRA_NULL_INIT], equal += x->null[LRA_NULL_UNIFORM];
            known++;
        }
        if (known == 0) continue;
        f.value = sum / known, f.null[LRA_NULL_INIT] = init / known,
        f.null[LRA_NULL_UNIFORM] = equal / known;
        f.undefined = r->n_units - known;
        f.flags &= ~(uint32_t)LRA_CENSORED;
        if (isinf(f.value)) f.flags |= LRA_CENSORED;
        list[n++] = f;
    }
    lra_probe_unit_measurements(lra_probe_unit_new(r, "model"), n, list);
    lra_free(list);
}
