/* Where diagonal state-space models start that come from HiPPO-LegS. */
#include "models/legs.h"

#include <complex.h>
#include <math.h>

#include "kernels/base/eigen.h"
#include "kernels/base/mem.h"

/* -mu and V* B of the eigenvalues below 0, ascending by mu. */
static void find_legs(int64_t modes, double *w, double complex *B)
{
    int64_t N = 2 * modes;
    lra_err e;
    double complex *a = lra_alloc_array((size_t)(N * N), sizeof *a);
    double complex *v = lra_alloc_array((size_t)(N * N), sizeof *v);
    double *mu = lra_alloc_array((size_t)N, sizeof *mu);
    for (int64_t n = 0; n < N; n++)
        for (int64_t k = n + 1; k < N; k++)
            a[n * N + k] = -0.5 * I * sqrt((double)((2 * n + 1) * (2 * k + 1)));
    if (lra_eigen_hermitian(N, a, mu, v, &e) != 0) LRA_BUG("%s", e.msg);
    for (int64_t k = 0; k < modes; k++) {
        double complex sum = 0;
        for (int64_t n = 0; n < N; n++) sum += conj(v[n * N + k]) * sqrt((double)(2 * n + 1));
        w[k] = -mu[k];
        B[k] = creal(sum) + I * fmin(2, fmax(-2, cimag(sum)));
    }
    lra_free(a);
    lra_free(v);
    lra_free(mu);
}

typedef enum { TURN, B_RE, B_IM } part;

/* One part of legs, for every copy. */
static void fill_legs(const lra_fill *f, part which, double *v)
{
    int64_t modes = f->shape.d[f->shape.n - 1];
    double *w = lra_alloc_array((size_t)modes, sizeof *w);
    double complex *B = lra_alloc_array((size_t)modes, sizeof *B);
    find_legs(modes, w, B);
    for (int64_t i = 0; i < lra_shape_elements(f->shape); i++) {
        int64_t n = i % modes;
        v[i] = which == TURN ? w[n] : which == B_RE ? creal(B[n]) : cimag(B[n]);
    }
    lra_free(w);
    lra_free(B);
}

void lra_legs_turn(const lra_fill *f, double *v)
{
    fill_legs(f, TURN, v);
}

void lra_legs_re(const lra_fill *f, double *v)
{
    fill_legs(f, B_RE, v);
}

void lra_legs_im(const lra_fill *f, double *v)
{
    fill_legs(f, B_IM, v);
}
