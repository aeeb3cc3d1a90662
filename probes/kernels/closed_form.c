/* Computes closed-form properties of kernels of state spaces (closed_form.h). */
#include "probes/kernels/closed_form.h"

#include <math.h>

#include "kernels/base/core/mem.h"

/* Kernel value at a lag. modes: computed from the modes; otherwise, if possible, without them
 * (dplr_exact.c). */
static double value_of(const lra_modes *m, bool modes, int64_t row, int64_t lag)
{
    return modes || !m->exact ? lra_modes_value(m, row, lag) : lra_dplr_value(m->exact, row, lag);
}

static double energy_of(const lra_modes *m, int64_t row, int64_t from)
{
    return m->exact ? lra_dplr_energy(m->exact, row, from) : lra_modes_energy(m, row, from);
}

/* True if lags first .. first + n - 1 of the row equal the array from[0], from[step], ..; compares
 * a sample of lags. */
static bool are_kernel(const lra_modes *m, bool modes, int64_t row, int64_t first, int64_t n,
                       const double *from, int64_t step)
{
    double near = 0, off = 0;
    for (int64_t j = 0; j < n; j += 1 + n / 8) {
        double own = value_of(m, modes, row, first + j), k = from[j * step];
        off += (own - k) * (own - k), near += k * k;
    }
    return off <= 1e-6 * near;
}

/* First lag in the array of the anticausal kernel of channel c: 0 if the array includes lag 0, 1 if
 * it begins at the next lag. Returns 2 if the state space does not reproduce that array. */
static int64_t anticausal_start(const lra_extracted_kernels *k, const lra_modes *m, bool modes,
                                int64_t c, const double *zero)
{
    int64_t later = 0;
    while (later < 2 && !are_kernel(m, modes, c + k->channels, later, k->behind, zero - 1, -1))
        later++;
    return later;
}

static const double *zero_of(const lra_extracted_kernels *k, int state, int64_t c)
{
    return k->k[state] + c * (k->behind + k->ahead) + k->behind;
}

/* True if the state space reproduces the kernel of channel c, in all directions. */
static bool has_kernel(const lra_extracted_kernels *k, int state, bool modes, int64_t c)
{
    const lra_modes *m = &k->mode[state];
    const double *zero = zero_of(k, state, c);
    if (m->rows != (k->behind ? 2 : 1) * k->channels) return false;
    return are_kernel(m, modes, c, 0, k->ahead, zero, 1) &&
           (!k->behind || anticausal_start(k, m, modes, c, zero) < 2);
}

/* Share of the kernel's energy beyond the lags of the array; NAN if it is unknown. */
static double cut_of(const lra_extracted_kernels *k, int state, int64_t c)
{
    const lra_modes *m = &k->mode[state];
    if (!has_kernel(k, state, false, c)) return NAN;
    double far = energy_of(m, c, k->ahead), all = energy_of(m, c, 0);
    if (k->behind) {
        int64_t row = c + k->channels,
                later = anticausal_start(k, m, false, c, zero_of(k, state, c));
        far += energy_of(m, row, k->behind + later);
        all += energy_of(m, row, later);
    }
    if (isinf(all) || isinf(far)) return 1;
    return all > 0 ? fmin(fmax(far / all, 0), 1) : (double)NAN;
}

/* Writes the moduli of lags first .. first + n - 1 of a row to to[0], to[step], ... Returns false
 * if all these lags are real. z: scratch for 2 (first + n) values. */
static bool put_moduli(const lra_modes *m, int64_t row, int64_t first, int64_t n, double *z,
                       double *to, int64_t step)
{
    bool turns = false;
    lra_modes_complex(m, row, first + n, z);
    for (int64_t j = 0; j < n; j++) {
        const double *one = z + 2 * (first + j);
        to[j * step] = hypot(one[0], one[1]);
        turns = turns || one[1] != 0;
    }
    return turns;
}

static int fill_moduli(lra_extracted_kernels *k, int state, lra_err *e)
{
    const lra_modes *m = &k->mode[state];
    int64_t lags = k->behind + k->ahead;
    bool turns = false;
    double *mod = lra_try_array(k->channels * lags, sizeof *mod, k->name, e);
    if (!mod) return LRA_FAILED;
    double *z = lra_alloc_array((size_t)(2 * (lags + 1)), sizeof *z);
    for (int64_t c = 0; c < k->channels; c++) {
        double *zero = mod + c * lags + k->behind;
        if (!has_kernel(k, state, false, c)) {
            for (int64_t j = -k->behind; j < k->ahead; j++) zero[j] = NAN;
            continue;
        }
        turns = put_moduli(m, c, 0, k->ahead, z, zero, 1) || turns;
        if (!k->behind) continue;
        int64_t later = anticausal_start(k, m, false, c, zero_of(k, state, c));
        turns = put_moduli(m, c + k->channels, later, k->behind, z, zero - 1, -1) || turns;
    }
    lra_free(z);
    if (turns)
        k->mod[state] = mod;
    else
        lra_free(mod);
    return 0;
}

static void fill_cuts(lra_extracted_kernels *k, int state)
{
    lra_modes *m = &k->mode[state];
    bool all = true;
    k->cut[state] = lra_alloc_array((size_t)k->channels, sizeof(double));
    for (int64_t c = 0; c < k->channels; c++) {
        k->cut[state][c] = cut_of(k, state, c);
        all = all && (!m->exact || has_kernel(k, state, true, c));
    }
    if (!all) m->rows = 0;
}

int lra_closed_form_fill(lra_extracted_kernels *k, int state, lra_err *e)
{
    if (k->mode[state].rows == 0) return 0;
    if (fill_moduli(k, state, e) != 0) return LRA_FAILED;
    fill_cuts(k, state);
    return 0;
}
