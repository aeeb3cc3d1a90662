/* Modes of diagonal-plus-low-rank (DPLR) state spaces. A = D - p q^T, with N modes and their
 * conjugates, has the eigenvalues mu for which 1 + sum_k p_k q_k/(mu - a_k) = 0. Aberth's iteration
 * finds all of them together. The eigenvectors are (D - mu)^-1 p and q^T (D - mu)^-1. A kernel c (1
 * - Ab^L)^-1 Ab^l Bb (kernels/ops/ssm/dplr_kernel.c) is therefore a sum of
 *   w_n lambda_n^l,  lambda = (1 + mu dt/2)/(1 - mu dt/2),
 *   w = dt/(1 - mu dt/2)/(1 - lambda^L) (sum c p/(a - mu)) (sum q b/(a - mu))/(sum q p/(a - mu)^2)
 * The HiPPO-LegS matrix is far from normal. Its eigenvalues, near -1, -2, .., lose half a digit of
 * accuracy with each mode, and the weights w cancel: they are 4e3 times the kernel with 4 stored
 * modes and 1e10 times with 8; from 12 modes on, only rounding errors are left, for any root
 * finder. Modes are therefore reported only if they reproduce the kernel (closed_form.c), and
 * quantities that do not need modes are computed without them (dplr_exact.c).
 * Tested against the op and against the recurrence (tests/probes/kernel_modes_test.c). */
#include <complex.h>
#include <math.h>

#include "kernels/base/core/mem.h"
#include "probes/kernels/modes.h"

enum { MOST_ROUNDS = 100 };
typedef long double complex number;

/* Finds the roots of prod_k (s - a_k) (1 + sum_k u_k/(s - a_k)). mu: first guesses on entry, roots
 * on return. Returns false if the iteration does not converge. */
static bool find_roots(int64_t n, const number *a, const number *u, number *mu)
{
    long double moved = 1;
    for (int round = 0; round < MOST_ROUNDS && moved > 1e-15L; round++) {
        moved = 0;
        for (int64_t k = 0; k < n; k++) {
            number f = 1, slope = 0, poles = 0, others = 0;
            for (int64_t j = 0; j < n; j++) {
                number one = 1 / (mu[k] - a[j]);
                f += u[j] * one, slope -= u[j] * one * one, poles += one;
                if (j != k) others += 1 / (mu[k] - mu[j]);
            }
            number newton = f / (slope + f * poles), step = newton / (1 - newton * others);
            if (!isfinite(creall(step)) || !isfinite(cimagl(step))) return false;
            mu[k] -= step;
            moved = fmaxl(moved, cabsl(step) / (cabsl(mu[k]) + 1e-300L));
        }
    }
    /* a loose limit: the remaining error is checked by comparison with the kernel */
    return moved < 1e-3L;
}

/* Parameters of a channel: 2N values each, N modes followed by their conjugates. */
typedef struct {
    int64_t n;
    number *a, *b, *p, *q, *u, *mu, *c;
} channel;

static number number_at(const double *x, int64_t at, int64_t plane)
{
    return x[at] + x[plane + at] * I;
}

/* Separates roots from their poles: p and q of uncoupled modes are set to 1e-5 of the largest
 * value, so that their product is 1e-10 of the largest one. */
static void couple(int64_t n, number *x)
{
    long double most = 0;
    for (int64_t k = 0; k < n; k++) most = fmaxl(most, cabsl(x[k]));
    for (int64_t k = 0; k < n; k++)
        if (cabsl(x[k]) < 1e-5L * most || most == 0) x[k] = 1e-5L * (most > 0 ? most : 1);
}

static void read_row(const double *x, int64_t row, int64_t rows, int64_t N, number *to)
{
    for (int64_t k = 0; k < N; k++) {
        to[k] = number_at(x, row * N + k, rows * N);
        to[N + k] = conjl(to[k]);
    }
}

/* Computes the modes of one row of c from the eigenvalues of its channel: exponents x and weights
 * w. */
static void fill_row(const channel *h, double dt, int64_t L, double *x, double *w)
{
    for (int64_t n = 0; n < h->n; n++) {
        number left = 0, right = 0, size = 0, mu = h->mu[n];
        for (int64_t k = 0; k < h->n; k++) {
            number one = 1 / (h->a[k] - mu);
            right += h->c[k] * h->p[k] * one, left += h->q[k] * h->b[k] * one;
            size += h->q[k] * h->p[k] * one * one;
        }
        number less = 1 - dt / 2 * mu, rate = clogl((1 + dt / 2 * mu) / less);
        number weight = dt / less / (1 - cexpl((long double)L * rate)) * right * left / size;
        x[2 * n] = (double)creall(rate), x[2 * n + 1] = (double)cimagl(rate);
        w[2 * n] = (double)creall(weight), w[2 * n + 1] = (double)cimagl(weight);
    }
}

bool lra_dplr_modes(const lra_dplr_numbers *s, lra_modes *m)
{
    int64_t n = 2 * s->modes, settled = 0;
    number *all = lra_alloc_array((size_t)(7 * n), sizeof *all);
    channel h = {n, all, all + n, all + 2 * n, all + 3 * n, all + 4 * n, all + 5 * n, all + 6 * n};
    m->rows = s->rows, m->n = n, m->scale = 1;
    m->x = lra_alloc_array((size_t)(m->rows * n * 2), sizeof *m->x);
    m->w = lra_alloc_array((size_t)(m->rows * n * 2), sizeof *m->w);
    for (int64_t i = 0; i < s->channels; i++) {
        read_row(s->a, i, s->channels, s->modes, h.a);
        read_row(s->b, i, s->channels, s->modes, h.b);
        read_row(s->p, i, s->channels, s->modes, h.p);
        read_row(s->q, i, s->channels, s->modes, h.q);
        couple(n, h.p);
        couple(n, h.q);
        for (int64_t k = 0; k < n; k++) h.u[k] = h.p[k] * h.q[k], h.mu[k] = h.a[k] - h.u[k];
        if (!find_roots(n, h.a, h.u, h.mu)) break;
        settled++;
        for (int64_t row = i; row < s->rows; row += s->channels) {
            read_row(s->c, row, s->rows, s->modes, h.c);
            fill_row(&h, s->dt[i], s->L, m->x + row * n * 2, m->w + row * n * 2);
        }
    }
    lra_free(all);
    if (settled == s->channels) return true;
    lra_free(m->x);
    lra_free(m->w);
    *m = (lra_modes){0};
    return false;
}
