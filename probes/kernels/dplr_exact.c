/* Values and energies of diagonal-plus-low-rank (DPLR) kernels, computed without eigenvalues. With
 * Ab, Bb from the discretisation of A = D - p q^T (2N modes: N modes, then their conjugates; step
 * dt), the kernel is y Ab^l Bb with y (1 - Ab^L) = c, and
 *   sum_(l >= m) (y Ab^l Bb)^2 = v G v^*,  v = y Ab^m,  G = sum_l Ab^l Bb Bb^* Ab^*l
 * G solves a Stein equation, which the bilinear rule turns into A G + G A^* = -dt b b^*. Because A
 * is diagonal plus rank 1, this reduces to a linear system for g = G conj(q):
 *   (a_i + conj a_j) G_ij = -dt b_i conj(b_j) + p_i conj(g_j) + g_i conj(p_j)
 * where conj(g_j) is g of the conjugate mode. In the trained basis Ab is close to a contraction, so
 * powers and sums lose no accuracy. The weights of the eigenmodes of HiPPO-LegS, in contrast,
 * cancel almost completely.
 * A kernel that does not decay has infinite energy; the equation then gives a negative value.
 * Tested (tests/probes/kernel_modes_test.c): against the op, and sums of its output, with up to 64
 * stored modes. */
#include <complex.h>
#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "probes/kernels/modes.h"

typedef double complex number;

struct lra_dplr_exact {
    int64_t n, rows, channels; /* n: number of modes, including conjugates */
    number *y;                 /* (rows, n) vectors y of the kernels y Ab^l Bb */
    number *G;                 /* (channels, n, n) matrices G of the energies */
    /* (channels, n): (1 - dt/2 A)^-1 = diag(r) - (r p) (r q)^T / down, stored as r, rp = r p /
     * down, and rq = r q; Bb: discretised input vector. */
    number *r, *rp, *rq, *Bb;
};

static number number_at(const double *x, int64_t at, int64_t plane)
{
    return x[at] + x[plane + at] * I;
}

/* Reads row h of x (2, rows, N), real and imaginary parts, to N values followed by their
 * conjugates. */
static void read_row(const double *x, int64_t h, int64_t rows, int64_t N, number *to)
{
    for (int64_t k = 0; k < N; k++) {
        to[k] = number_at(x, h * N + k, rows * N);
        to[N + k] = conj(to[k]);
    }
}

/* Solves x M = b (rows: true) or M x = b by Gaussian elimination; b is replaced by x, M is
 * overwritten. Returns false if M is singular. */
static bool solve(int64_t n, bool rows, number *M, number *b)
{
    for (int64_t i = 0; i < n && rows; i++)
        for (int64_t k = 0; k < i; k++) {
            number swap = M[i * n + k];
            M[i * n + k] = M[k * n + i], M[k * n + i] = swap;
        }
    for (int64_t k = 0; k < n; k++) {
        int64_t best = k;
        for (int64_t i = k; i < n; i++)
            if (cabs(M[i * n + k]) > cabs(M[best * n + k])) best = i;
        if (!(cabs(M[best * n + k]) > 0)) return false;
        for (int64_t j = 0; j < n && best != k; j++) {
            number swap = M[k * n + j];
            M[k * n + j] = M[best * n + j], M[best * n + j] = swap;
        }
        number swap = b[k];
        b[k] = b[best], b[best] = swap;
        for (int64_t i = k + 1; i < n; i++) {
            number f = M[i * n + k] / M[k * n + k];
            for (int64_t j = k; j < n; j++) M[i * n + j] -= f * M[k * n + j];
            b[i] -= f * b[k];
        }
    }
    for (int64_t k = n - 1; k >= 0; k--) {
        for (int64_t j = k + 1; j < n; j++) b[k] -= M[k * n + j] * b[j];
        b[k] /= M[k * n + k];
    }
    return true;
}

/* to = a b, (n,n); `to` must be neither a nor b. */
static void multiply(int64_t n, const number *a, const number *b, number *to)
{
    double *sum = lra_alloc_array((size_t)(2 * n), sizeof *sum), *im = sum + n;
    for (int64_t i = 0; i < n; i++) {
        memset(sum, 0, (size_t)(2 * n) * sizeof *sum);
        for (int64_t k = 0; k < n; k++) {
            double x = creal(a[i * n + k]), y = cimag(a[i * n + k]);
            const double *row = (const double *)(b + k * n);
            for (int64_t j = 0; j < n; j++) {
                sum[j] += x * row[2 * j] - y * row[2 * j + 1];
                im[j] += x * row[2 * j + 1] + y * row[2 * j];
            }
        }
        for (int64_t j = 0; j < n; j++) to[i * n + j] = sum[j] + im[j] * I;
    }
    lra_free(sum);
}

/* ---- a channel ------------------------------------------------------------------------------- */

/* Parameters of a channel: 2N values each, N modes followed by their conjugates. room: 2 (n,n)
 * values of scratch. */
typedef struct {
    int64_t n;
    double dt;
    number *a, *b, *p, *q, *room;
} channel;

/* Computes (1 - dt/2 A)^-1, in factors, and Bb of channel number `at`. */
static void discretise(const channel *h, lra_dplr_exact *x, int64_t at)
{
    int64_t n = h->n;
    double half = h->dt / 2;
    number down = 1 / half, *r = x->r + at * n, *rp = x->rp + at * n, *rq = x->rq + at * n, sum = 0;
    for (int64_t k = 0; k < n; k++) {
        r[k] = 1 / (1 - half * h->a[k]);
        rp[k] = r[k] * h->p[k], rq[k] = r[k] * h->q[k];
        down += h->q[k] * rp[k];
    }
    for (int64_t k = 0; k < n; k++) rp[k] /= down, sum += rq[k] * h->b[k];
    for (int64_t k = 0; k < n; k++) x->Bb[at * n + k] = h->dt * (r[k] * h->b[k] - rp[k] * sum);
}

/* next = v Ab, where Ab = (1 + z)/(1 - z) = 2/(1 - z) - 1 with z = dt/2 A */
static void carry(const lra_dplr_exact *x, int64_t at, const number *v, number *next)
{
    int64_t n = x->n;
    const number *r = x->r + at * n, *rp = x->rp + at * n, *rq = x->rq + at * n;
    number sum = 0;
    for (int64_t k = 0; k < n; k++) sum += v[k] * rp[k];
    for (int64_t k = 0; k < n; k++) next[k] = 2 * (v[k] * r[k] - sum * rq[k]) - v[k];
}

static bool fill_energy(const channel *h, number *G)
{
    int64_t n = h->n, N = n / 2;
    number *M = h->room, *g = h->room + n * n;
    memset(M, 0, (size_t)(n * n) * sizeof *M);
    for (int64_t i = 0; i < n; i++) {
        number own = 1, right = 0;
        for (int64_t j = 0; j < n; j++) {
            number sum = h->a[i] + conj(h->a[j]);
            own -= conj(h->p[j] * h->q[j]) / sum;
            right -= h->dt * h->b[i] * conj(h->b[j] * h->q[j]) / sum;
            M[i * n + (j < N ? j + N : j - N)] -= h->p[i] * conj(h->q[j]) / sum;
        }
        M[i * n + i] += own;
        g[i] = right;
    }
    if (!solve(n, false, M, g)) return false;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            G[i * n + j] = (-h->dt * h->b[i] * conj(h->b[j]) + h->p[i] * conj(g[j]) +
                            g[i] * conj(h->p[j])) /
                           (h->a[i] + conj(h->a[j]));
    return true;
}

/* to = 1 - Ab^L, by repeated squaring and multiplication by Ab; room: (n,n) scratch */
static void one_less_power(const lra_dplr_exact *x, int64_t at, int64_t L, number *to, number *room)
{
    int64_t n = x->n, bit = 1;
    while (2 * bit <= L) bit *= 2;
    for (int64_t i = 0; i < n * n; i++) to[i] = i % (n + 1) == 0;
    for (; bit > 0; bit /= 2) {
        multiply(n, to, to, room);
        for (int64_t i = 0; i < n; i++) {
            if (L & bit)
                carry(x, at, room + i * n, to + i * n);
            else
                memcpy(to + i * n, room + i * n, (size_t)n * sizeof *to);
        }
    }
    for (int64_t i = 0; i < n * n; i++) to[i] = (i % (n + 1) == 0) - to[i];
}

lra_dplr_exact *lra_dplr_exact_new(const lra_dplr_numbers *s)
{
    int64_t n = 2 * s->modes, square = n * n;
    lra_dplr_exact *x = lra_alloc(sizeof *x);
    number *all = lra_alloc_array((size_t)(4 * n + 3 * square), sizeof *all), *power = all + 4 * n;
    channel h = {n, 0, all, all + n, all + 2 * n, all + 3 * n, power + square};
    bool solved = true;
    *x = (lra_dplr_exact){.n = n, .rows = s->rows, .channels = s->channels};
    x->y = lra_alloc_array((size_t)(s->rows * n), sizeof *x->y);
    x->G = lra_alloc_array((size_t)(s->channels * square), sizeof *x->G);
    x->r = lra_alloc_array((size_t)(4 * s->channels * n), sizeof *x->r);
    x->rp = x->r + s->channels * n, x->rq = x->rp + s->channels * n,
    x->Bb = x->rq + s->channels * n;
    for (int64_t i = 0; i < s->channels && solved; i++) {
        read_row(s->a, i, s->channels, s->modes, h.a);
        read_row(s->b, i, s->channels, s->modes, h.b);
        read_row(s->p, i, s->channels, s->modes, h.p);
        read_row(s->q, i, s->channels, s->modes, h.q);
        h.dt = s->dt[i];
        discretise(&h, x, i);
        solved = fill_energy(&h, x->G + i * square);
        one_less_power(x, i, s->L, power, h.room);
        for (int64_t row = i; row < s->rows && solved; row += s->channels) {
            number *y = x->y + row * n;
            read_row(s->c, row, s->rows, s->modes, y);
            memcpy(h.room, power, (size_t)square * sizeof *power);
            solved = solve(n, true, h.room, y);
        }
    }
    lra_free(all);
    if (solved) return x;
    lra_dplr_exact_free(x);
    return NULL;
}

void lra_dplr_exact_free(lra_dplr_exact *x)
{
    if (!x) return;
    lra_free(x->y);
    lra_free(x->G);
    lra_free(x->r);
    lra_free(x);
}

/* ---- queries --------------------------------------------------------------------------------- */

/* v = y Ab^lag of a row; the caller frees it. */
static number *carried(const lra_dplr_exact *x, int64_t row, int64_t lag)
{
    int64_t n = x->n;
    number *v = lra_alloc_array((size_t)(2 * n), sizeof *v), *next = v + n;
    memcpy(v, x->y + row * n, (size_t)n * sizeof *v);
    for (int64_t l = 0; l < lag; l++) {
        carry(x, row % x->channels, v, next);
        memcpy(v, next, (size_t)n * sizeof *v);
    }
    return v;
}

double lra_dplr_value(const lra_dplr_exact *x, int64_t row, int64_t lag)
{
    number *v = carried(x, row, lag), sum = 0;
    const number *Bb = x->Bb + row % x->channels * x->n;
    for (int64_t i = 0; i < x->n; i++) sum += v[i] * Bb[i];
    lra_free(v);
    return creal(sum);
}

double lra_dplr_energy(const lra_dplr_exact *x, int64_t row, int64_t from)
{
    int64_t n = x->n;
    number *v = carried(x, row, from), sum = 0;
    const number *G = x->G + row % x->channels * n * n;
    double size = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            number one = v[i] * G[i * n + j] * conj(v[j]);
            sum += one, size += cabs(one);
        }
    lra_free(v);
    /* negative energy: a growing kernel also solves the equation */
    if (creal(sum) < -1e-9 * size) return INFINITY;
    return fmax(creal(sum), 0);
}

void lra_dplr_complex(const lra_dplr_exact *x, int64_t row, int64_t n, double *z)
{
    int64_t at = row % x->channels;
    number *v = carried(x, row, 0), *next = v + x->n;
    const number *Bb = x->Bb + at * x->n;
    for (int64_t d = 0; d < n; d++) {
        number sum = 0;
        for (int64_t i = 0; i < x->n / 2; i++) sum += 2 * v[i] * Bb[i];
        z[2 * d] = creal(sum), z[2 * d + 1] = cimag(sum);
        carry(x, at, v, next);
        memcpy(v, next, (size_t)x->n * sizeof *v);
    }
    lra_free(v);
}
