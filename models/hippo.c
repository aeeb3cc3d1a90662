/* Computes the HiPPO-LegS initialisation of diagonal state-space models. */
#include "models/hippo.h"

#include <complex.h>
#include <math.h>

#include "kernels/base/core/eigen.h"
#include "kernels/base/core/mem.h"

void lra_hippo_legs(int64_t modes, double *w, double complex *v)
{
    int64_t N = 2 * modes;
    lra_err e;
    double complex *a = lra_alloc_array((size_t)(N * N), sizeof *a);
    double complex *all = lra_alloc_array((size_t)(N * N), sizeof *all);
    double *mu = lra_alloc_array((size_t)N, sizeof *mu);
    for (int64_t n = 0; n < N; n++)
        for (int64_t k = n + 1; k < N; k++)
            a[n * N + k] = -0.5 * I * sqrt((double)((2 * n + 1) * (2 * k + 1)));
    if (lra_eigen_hermitian(N, a, mu, all, &e) != 0) LRA_BUG("%s", e.msg);
    for (int64_t k = 0; k < modes; k++) {
        w[k] = -mu[k];
        for (int64_t n = 0; n < N; n++) v[n * modes + k] = all[n * N + k];
    }
    lra_free(a);
    lra_free(all);
    lra_free(mu);
}

typedef enum { TURN, B_RE, B_IM, P_RE, P_IM } part;

/* Returns component k of V* B. (V* P is V* B divided by sqrt 2, because P_n = B_n/sqrt 2.) */
static double complex turned(int64_t modes, const double complex *v, int64_t k)
{
    double complex sum = 0;
    for (int64_t n = 0; n < 2 * modes; n++)
        sum += conj(v[n * modes + k]) * sqrt((double)(2 * n + 1));
    return sum;
}

/* Writes one part of the initialisation: `count` values in rows of `modes`, all rows equal. cut:
 * bound on |Im B|. */
static void fill_legs(int64_t modes, part which, double cut, int64_t count, double *to)
{
    double *w = lra_alloc_array((size_t)modes, sizeof *w);
    double complex *v = lra_alloc_array((size_t)(2 * modes * modes), sizeof *v);
    lra_hippo_legs(modes, w, v);
    for (int64_t n = 0; n < modes; n++) {
        double complex B = turned(modes, v, n);
        double one = w[n];
        if (which == B_RE) one = creal(B);
        if (which == B_IM) one = fmin(cut, fmax(-cut, cimag(B)));
        if (which == P_RE) one = creal(B) / sqrt(2);
        if (which == P_IM) one = cimag(B) / sqrt(2);
        for (int64_t i = n; i < count; i += modes) to[i] = one;
    }
    lra_free(w);
    lra_free(v);
}

static void fill_part(const lra_fill *f, part which, double *to)
{
    int64_t modes = f->shape.d[f->shape.n - 1];
    fill_legs(modes, which, LRA_LEGS_CUT, lra_shape_elements(f->shape), to);
}

void lra_hippo_turn(const lra_fill *f, double *v)
{
    fill_part(f, TURN, v);
}

void lra_hippo_re(const lra_fill *f, double *v)
{
    fill_part(f, B_RE, v);
}

void lra_hippo_im(const lra_fill *f, double *v)
{
    fill_part(f, B_IM, v);
}

void lra_hippo_b(const lra_fill *f, double *v)
{
    int64_t modes = f->shape.d[f->shape.n - 1], half = lra_shape_elements(f->shape) / 2;
    fill_legs(modes, B_RE, 0, half, v);
    fill_legs(modes, B_IM, *(const double *)f->data, half, v + half);
}

void lra_hippo_p(const lra_fill *f, double *v)
{
    int64_t modes = f->shape.d[f->shape.n - 1], half = lra_shape_elements(f->shape) / 2;
    fill_legs(modes, P_RE, 0, half, v);
    fill_legs(modes, P_IM, 0, half, v + half);
}
