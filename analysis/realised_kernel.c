/* Realises convolution kernels by attention heads (realised_kernel.h). */
#include "analysis/realised_kernel.h"

#include <assert.h>
#include <math.h>

#include "kernels/base/core/mem.h"

static const float lowest = -87;  /* score of a zero, relative to the largest */
static const double least = 1e-6; /* errors of smaller values are relative to this value */

/* The kernel k(i-j) at lags -(T-1) to T-1; sign 1: its positive part, -1: minus its negative
 * part. */
static void part_of(const lra_kernel *k, int64_t T, int sign, double *part)
{
    for (int64_t lag = -(T - 1); lag < T; lag++) {
        bool known = lag >= -k->behind && lag < k->ahead;
        double x = known ? sign * k->k[lag + k->behind] : 0;
        part[lag + T - 1] = x > 0 ? x : 0;
    }
}

static float score_of(double x, double most)
{
    return x > 0 ? fmaxf((float)log(x), (float)log(most) + lowest) : (float)log(most) + lowest;
}

/* Fills the keys (T+1, T) of a head that realises `part`; returns c, the factor of its values. */
static double build_keys(int64_t T, const double *part, float *key)
{
    double sum = 0, most = 0;
    for (int64_t i = 0; i < 2 * T - 1; i++) sum += part[i], most = fmax(most, part[i]);
    for (int64_t i = 0; i < T; i++) {
        double left = sum;
        for (int64_t j = 0; j < T; j++) {
            double x = part[i - j + T - 1];
            key[j * T + i] = score_of(x, most);
            left -= x;
        }
        key[T * T + i] = score_of(left, most);
    }
    return sum;
}

/* Row i of c times the attention weights (T) on all tokens except the last. The product of the
 * query e_i with key j is element i of the key. */
static void attend(int64_t T, const float *key, double c, int64_t i, float *row)
{
    float most = key[T * T + i], sum = 0;
    for (int64_t j = 0; j < T; j++) most = fmaxf(most, key[j * T + i]);
    for (int64_t j = 0; j <= T; j++) sum += row[j] = expf(key[j * T + i] - most);
    for (int64_t j = 0; j < T; j++) row[j] = row[j] / sum * (float)c;
}

static double error_of(double realised, double x, double most)
{
    return fabs(realised - x) / fmax(fabs(x), least * most);
}

static double largest(int64_t n, const double *x)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++) most = fmax(most, x[i]);
    return most;
}

static double energy(int64_t n, const double *x)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i] * x[i];
    return sum;
}

/* Compares the heads with the parts: positive part[0], negative part[1]. */
static void compare(int64_t T, double *const part[2], lra_realised *out)
{
    int64_t lags = 2 * T - 1;
    double most[2] = {largest(lags, part[0]), largest(lags, part[1])}, c[2] = {0};
    double all = fmax(most[0], most[1]);
    float *key[2], *row[2];
    for (int s = 0; s < 2; s++) {
        key[s] = lra_alloc_array((size_t)((T + 1) * T), sizeof **key);
        row[s] = lra_alloc_array((size_t)T + 1, sizeof **row);
        if (most[s] > 0) c[s] = build_keys(T, part[s], key[s]);
    }
    for (int64_t i = 0; i < T; i++) {
        for (int s = 0; s < 2; s++)
            if (most[s] > 0) attend(T, key[s], c[s], i, row[s]);
        for (int64_t j = 0; j < T; j++) {
            double x = part[0][i - j + T - 1], y = part[1][i - j + T - 1];
            double two = error_of((double)row[0][j] - (double)row[1][j], x - y, all);
            out->two = fmax(out->two, two);
            if (most[0] <= 0) continue;
            double one = error_of((double)row[0][j], x, most[0]);
            double *at = &out->by_distance[i < j ? j - i : i - j];
            *at = fmax(*at, one);
            out->one = fmax(out->one, one);
        }
    }
    for (int s = 0; s < 2; s++) lra_free(key[s]), lra_free(row[s]);
}

bool lra_realise(const lra_kernel *k, lra_realised *out)
{
    assert(k->components == 1);
    int64_t T = lra_kernel_distances(k);
    if (T > LRA_REALISED_TOKENS) T = LRA_REALISED_TOKENS;
    *out = (lra_realised){.T = T};
    double *part[2];
    for (int s = 0; s < 2; s++) {
        part[s] = lra_alloc_array((size_t)(2 * T), sizeof **part);
        part_of(k, T, s ? -1 : 1, part[s]);
    }
    bool finite = true;
    for (int64_t i = 0; i < k->behind + k->ahead; i++) finite = finite && isfinite(k->k[i]);
    double positive = energy(2 * T - 1, part[0]), negative = energy(2 * T - 1, part[1]);
    bool known = finite && positive + negative > 0;
    if (known) {
        out->negative = negative / (positive + negative);
        compare(T, part, out);
        if (positive == 0) {
            out->one = NAN;
            for (int64_t d = 0; d < T; d++) out->by_distance[d] = NAN;
        }
    }
    for (int s = 0; s < 2; s++) lra_free(part[s]);
    return known;
}
