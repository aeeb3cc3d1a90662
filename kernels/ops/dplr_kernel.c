/* Kernels of state-space layers whose matrix is diagonal plus low rank, A = diag(a) - p q^T, by
 * their truncated generating function at the roots of unity w_j = exp(-2 pi i j/L), with the sums
 * r[v] of dplr_kernel_fn.h:
 *   K_j = 2/(1 + w_j) (r[b c] - r[b q] r[p c]/(1 + r[p q])),  K_(L/2) = dt Re sum_n b_n c_n;
 *   k = inverse transform of K
 * All in double whatever the graph: near a pole the sums lose as many digits as |a|/|Re a| has.
 * Per channel, mode and frequency one division; the directions of a channel share it, and half of
 * the sums.
 * Gradients: those of the sums follow from the transform of dk; with E = 1/D and R that of a sum,
 *   dA = sum_j Re(conj(R) E),  dB = sum_j Re(conj(R) i Y E),  dD = -sum_v R conj((A + i Y B) E^2).
 * Source: Gu et al. 2022, arXiv:2111.00396, appendix C (S4), with what the public code does at L/2.
 * Known: c_r (1 - Ab^L)^-1 Ab^l Bb by recurrence, to 1e-10 (tests/dplr_kernel_test.c). */
#include <omp.h>

#include "kernels/cpu/fft.h"
#include "kernels/graph/op.h"
#include "kernels/ops/dplr_kernel_fn.h"

enum { POINTS = 64 }; /* frequencies side by side */

/* The sums of a block of frequencies from j0 on. */
typedef struct {
    int64_t n; /* of them that exist */
    double t[POINTS], Y[POINTS];
    double re[DPLR_SUMS][POINTS], im[DPLR_SUMS][POINTS];
} block;

static inline int64_t row_size(int64_t L)
{
    return (lra_fft_row(L) + 7) / 8 * 8;
}
/* Doubles of a thread: spectra, and the inverses of all modes of a block. */
static inline int64_t thread_size(const dplr_args *s)
{
    return dplr_sides(s) * row_size(s->L) + 2 * s->N * POINTS;
}

static inline void set_block(const dplr_args *s, int64_t j0, double dt, block *k)
{
    k->n = s->L / 2 - j0 < POINTS ? s->L / 2 - j0 : POINTS;
    for (int64_t j = 0; j < POINTS; j++) {
        k->t[j] = dplr_tan(s, j < k->n ? j0 + j : 0);
        k->Y[j] = 2 * k->t[j] / dt;
    }
    for (int i = 0; i < DPLR_SUMS; i++)
        for (int j = 0; j < POINTS; j++) k->re[i][j] = k->im[i][j] = 0;
}

/* Mode m enters the sums; inverse: (2,POINTS), kept. */
static inline void add_mode(const dplr_mode *m, int n_sums, block *k, double *inverse)
{
    double *er = inverse, *ei = inverse + POINTS;
    const double *Y = k->Y;
#pragma omp simd
    for (int j = 0; j < POINTS; j++) {
        double re = m->a.re * m->a.re + (m->a.im - Y[j]) * (m->a.im + Y[j]);
        double im = -2 * Y[j] * m->a.re, one = 1 / (re * re + im * im);
        er[j] = re * one, ei[j] = -im * one;
    }
    for (int i = 0; i < n_sums; i++) {
        const double A = m->A[i], B = m->B[i];
        double *re = k->re[i], *im = k->im[i];
#pragma omp simd
        for (int j = 0; j < POINTS; j++) {
            re[j] += A * er[j] - B * Y[j] * ei[j];
            im[j] += A * ei[j] + B * Y[j] * er[j];
        }
    }
}

static inline void read_sums(const block *k, int n_sums, int64_t j, c_number *r)
{
    for (int i = 0; i < n_sums; i++) r[i] = c_of(k->re[i][j], k->im[i][j]);
}

/* sources: a, b, p, q, c, dt */
LRA_BODY(dplr_kernel)
{
    const dplr_args *s = c->y->args;
    const dplr_sources in = dplr_sources_of(c->in);
    int64_t row = row_size(s->L), L = s->L;
    int sides = dplr_sides(s), n_sums = dplr_sums(s);
#pragma omp parallel for num_threads(c->n_threads) schedule(static)
    for (int64_t h = 0; h < s->H; h++) {
        double *own = (double *)c->scratch + omp_get_thread_num() * thread_size(s), last[2] = {0};
        double *inverse = own + sides * row, dt = (double)in.dt[h];
        for (int64_t j0 = 0; j0 < L / 2; j0 += POINTS) {
            block k;
            set_block(s, j0, dt, &k);
            for (int64_t n = 0; n < s->N; n++) {
                dplr_mode m;
                dplr_mode_at(s, &in, h, n, &m);
                add_mode(&m, n_sums, &k, inverse);
                for (int i = 0; i < sides && j0 == 0; i++) last[i] += m.v[2 * i + DPLR_BC].re;
            }
            for (int64_t j = 0; j < k.n; j++) {
                c_number r[DPLR_SUMS];
                read_sums(&k, n_sums, j, r);
                for (int i = 0; i < sides; i++) {
                    c_number K = dplr_spectrum(r, i, k.t[j]);
                    own[i * row + 2 * (j0 + j)] = K.re, own[i * row + 2 * (j0 + j) + 1] = K.im;
                }
            }
        }
        for (int i = 0; i < sides; i++) {
            double *K = own + i * row;
            real *out = (real *)c->out + (i * s->H + h) * L;
            K[1] = 0, K[L] = dt * last[i], K[L + 1] = 0;
            lra_fft_back_f64(L, K);
            for (int64_t l = 0; l < L; l++) out[l] = (real)(K[l] / (double)L);
        }
    }
}

/* What changes the sums takes their place. */
static inline void pull_block(const dplr_args *s, int64_t j0, const double *spectra, int64_t row,
                              block *k)
{
    int n_sums = dplr_sums(s);
    for (int64_t j = 0; j < POINTS; j++) {
        c_number r[DPLR_SUMS], d[DPLR_SUMS], K[DPLR_SIDES];
        double weight = (j0 + j == 0 ? 1 : 2) / (double)s->L;
        for (int i = 0; i < dplr_sides(s); i++) {
            const double *at = spectra + i * row + 2 * (j0 + j);
            K[i] = j < k->n ? c_of(weight * at[0], weight * at[1]) : c_of(0, 0);
        }
        read_sums(k, n_sums, j, r);
        dplr_pull(s, r, k->t[j], K, d);
        for (int i = 0; i < n_sums; i++) k->re[i][j] = d[i].re, k->im[i][j] = d[i].im;
    }
}

/* Adds the frequencies of a block to what changes a mode. */
static inline void add_change(const dplr_mode *m, int n_sums, const block *k, const double *inverse,
                              dplr_change *d)
{
    const double *er = inverse, *ei = inverse + POINTS, *Y = k->Y;
    double wr[POINTS] = {0}, wi[POINTS] = {0}, sum_d = 0, sum_y = 0;
    for (int i = 0; i < n_sums; i++) {
        const double A = m->A[i], B = m->B[i], *re = k->re[i], *im = k->im[i];
        double sum_a = 0, sum_b = 0;
#pragma omp simd reduction(+ : sum_a, sum_b)
        for (int j = 0; j < POINTS; j++) {
            sum_a += re[j] * er[j] + im[j] * ei[j];
            sum_b -= Y[j] * (re[j] * ei[j] - im[j] * er[j]);
            wr[j] += A * re[j] + Y[j] * B * im[j];
            wi[j] += A * im[j] - Y[j] * B * re[j];
        }
        d->A[i] += sum_a, d->B[i] += sum_b;
    }
#pragma omp simd reduction(+ : sum_d, sum_y)
    for (int j = 0; j < POINTS; j++) {
        double square = er[j] * er[j] - ei[j] * ei[j], twice = 2 * er[j] * ei[j];
        sum_d -= wr[j] * square + wi[j] * twice;
        sum_y -= Y[j] * (wi[j] * square - wr[j] * twice);
    }
    d->D += sum_d, d->Y += sum_y;
}

/* Spectra of dk of a channel's directions; last: those at L/2. */
static inline void transform_dk(const dplr_args *s, const real *dk, int64_t h, double *own,
                                double last[DPLR_SIDES])
{
    for (int i = 0; i < dplr_sides(s); i++) {
        double *K = own + i * row_size(s->L);
        for (int64_t l = 0; l < s->L; l++) K[l] = (double)dk[(i * s->H + h) * s->L + l];
        lra_fft_f64(s->L, K);
        last[i] = K[s->L] / (double)s->L;
    }
}

/* sources: a, b, p, q, c, dt, dk; y: (9 + 2 sides,H,N), see dplr_mode_gradient(); scratch: of each
 * thread, then a dplr_change for each mode of it */
LRA_BODY(dplr_kernel_grad)
{
    const dplr_args *s = c->y->args;
    const dplr_sources in = dplr_sources_of(c->in);
    int64_t row = row_size(s->L), sides = dplr_sides(s);
    dplr_change *changes = (dplr_change *)(void *)((double *)c->scratch +
                                                   c->n_threads * thread_size(s));
#pragma omp parallel for num_threads(c->n_threads) schedule(static)
    for (int64_t h = 0; h < s->H; h++) {
        double *own = (double *)c->scratch + omp_get_thread_num() * thread_size(s);
        double *inverse = own + sides * row, dt = (double)in.dt[h], last[DPLR_SIDES];
        dplr_change *change = changes + omp_get_thread_num() * s->N;
        dplr_mode m;
        memset(change, 0, (size_t)s->N * sizeof *change);
        transform_dk(s, c->in[6], h, own, last);
        for (int64_t j0 = 0; j0 < s->L / 2; j0 += POINTS) {
            block k;
            set_block(s, j0, dt, &k);
            for (int64_t n = 0; n < s->N; n++) {
                dplr_mode_at(s, &in, h, n, &m);
                add_mode(&m, dplr_sums(s), &k, inverse + 2 * n * POINTS);
            }
            pull_block(s, j0, own, row, &k);
            for (int64_t n = 0; n < s->N; n++) {
                dplr_mode_at(s, &in, h, n, &m);
                add_change(&m, dplr_sums(s), &k, inverse + 2 * n * POINTS, change + n);
            }
        }
        for (int64_t n = 0; n < s->N; n++) {
            dplr_mode_at(s, &in, h, n, &m);
            dplr_mode_gradient(s, &m, change + n, dt, last, h * s->N + n, c->out);
        }
    }
}

#if LRA_RECORD
LRA_DECLARE(dplr_kernel)
LRA_DECLARE(dplr_kernel_grad)

static int check(const lra_tensor *y, lra_err *e)
{
    static const char *const names[] = {"a", "b", "p", "q"};
    const dplr_args *s = y->args;
    if (s->H < 1 || s->R % s->H || s->R / s->H > DPLR_SIDES || s->L < 2 ||
        lra_fft_size(s->L) != s->L)
        return lra_fail(e,
                        "%lld rows of %lld channels and %lld lags: expected one or two for each "
                        "channel, and an even product of 2, 3 and 5",
                        (long long)s->R, (long long)s->H, (long long)s->L);
    for (int i = 0; i < y->n_src; i++)
        if (y->src[i]->type != lra_real(y->graph)) return lra_fail(e, "a source is not real");
    for (int i = 0; i < 4; i++)
        if (lra_expect_shape(y->src[i], LRA_SHAPE(2, s->H, s->N), names[i], e) != 0)
            return LRA_FAILED;
    if (lra_expect_shape(y->src[4], LRA_SHAPE(2, s->R, s->N), "c", e) != 0) return LRA_FAILED;
    return lra_expect_shape(y->src[5], LRA_SHAPE(s->H), "dt", e);
}

static int shape(lra_tensor *y, lra_err *e)
{
    const dplr_args *s = y->args;
    y->shape = LRA_SHAPE(s->R, s->L);
    y->type = lra_real(y->graph);
    return check(y, e);
}

static int grad_shape(lra_tensor *y, lra_err *e)
{
    const dplr_args *s = y->args;
    if (check(y, e) != 0) return LRA_FAILED;
    y->shape = LRA_SHAPE(9 + 2 * dplr_sides(s), s->H, s->N);
    y->type = lra_real(y->graph);
    return lra_expect_shape(y->src[6], LRA_SHAPE(s->R, s->L), "dk", e);
}

static void grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    const dplr_args *s = y->args;
    lra_tensor *src[] = {y->src[0], y->src[1], y->src[2], y->src[3], y->src[4], y->src[5], dy};
    lra_tensor *all = lra_node(&lra_op_dplr_kernel_grad, y->graph, 7, src, s, sizeof *s);
    int sides = dplr_sides(s);
    for (int i = 0; i < 4; i++) dx[i] = lra_slice(all, 0, 2 * i, 2);
    dx[4] = lra_reshape(lra_slice(all, 0, 9, 2 * sides), LRA_SHAPE(2, s->R, s->N));
    lra_tensor *dt = lra_reduce(lra_slice(all, 0, 8, 1), LRA_SHAPE(1, s->H, 1));
    dx[5] = lra_reshape(dt, LRA_SHAPE(s->H));
}

/* The inverse, and 8 for each sum; for gradients twice as many and those of the way forth. */
static double flops(const lra_tensor *y)
{
    const dplr_args *s = y->args;
    return (double)(s->H * s->N) * (double)s->L / 2 * (12 + 8 * dplr_sums(s));
}
static double grad_flops(const lra_tensor *y)
{
    const dplr_args *s = y->args;
    return (double)(s->H * s->N) * (double)s->L / 2 * (24 + 28 * dplr_sums(s));
}

static int64_t scratch(const lra_tensor *y, int n_threads)
{
    return n_threads * thread_size(y->args) * (int64_t)sizeof(double);
}
static int64_t grad_scratch(const lra_tensor *y, int n_threads)
{
    const dplr_args *s = y->args;
    return scratch(y, n_threads) + n_threads * s->N * (int64_t)sizeof(dplr_change);
}

/* Rows of spectra; for gradients also what changes the sums. */
static int64_t cuda_scratch(const lra_tensor *y)
{
    const dplr_args *s = y->args;
    return (s->R * row_size(s->L) + 8) * (int64_t)sizeof(float);
}
static int64_t grad_cuda_scratch(const lra_tensor *y)
{
    const dplr_args *s = y->args;
    return cuda_scratch(y) + s->H * dplr_sums(s) * s->L * (int64_t)sizeof(double);
}

int64_t lra_dplr_length(int64_t T)
{
    return lra_fft_size(T);
}

lra_tensor *lra_dplr_kernel(lra_tensor *a, lra_tensor *b, lra_tensor *p, lra_tensor *q,
                            lra_tensor *c, lra_tensor *dt, int64_t L)
{
    const dplr_args s = {L, lra_elements(dt), c->shape.n == 3 ? c->shape.d[1] : 0, lra_width(a)};
    return lra_node(&lra_op_dplr_kernel, a->graph, 6, (lra_tensor *[]){a, b, p, q, c, dt}, &s,
                    sizeof s);
}

static lra_tensor *numbers(lra_graph *g, const char *name, int64_t rows, int64_t N)
{
    return lra_cast(lra_sample_input(g, name, "normal", LRA_SHAPE(2, rows, N)), lra_real(g));
}

/* One direction and two; a block of frequencies and more; one mode.  Re a < 0, q = conj p, as all
 * layers have it. */
static lra_tensor *sample(lra_graph *g, int i)
{
    static const int64_t size[][4] = {{6, 2, 2, 3}, {150, 2, 4, 2}, {10, 3, 6, 1}};
    if (i > 2) return NULL;
    const int64_t L = size[i][0], H = size[i][1], R = size[i][2], N = size[i][3];
    lra_shape one = LRA_SHAPE(1, H, N);
    lra_tensor *re = lra_cast(lra_sample_input(g, "re", "positive", one), lra_real(g));
    lra_tensor *im = lra_cast(lra_sample_input(g, "im", "normal", one), lra_real(g));
    lra_tensor *p = numbers(g, "p", H, N);
    lra_tensor *dt = lra_cast(lra_sample_input(g, "dt", "positive", LRA_SHAPE(H)), lra_real(g));
    lra_tensor *a[] = {lra_affine(re, -1, -0.2), im};
    lra_tensor *q[] = {lra_slice(p, 0, 0, 1), lra_affine(lra_slice(p, 0, 1, 1), -1, 0)};
    return lra_dplr_kernel(lra_concat(2, a, 0), numbers(g, "b", H, N), p, lra_concat(2, q, 0),
                           numbers(g, "c", R, N), dt, L);
}
static lra_tensor *grad_sample(lra_graph *g, int i)
{
    lra_tensor *y = sample(g, i);
    if (!y) return NULL;
    const dplr_args *s = y->args;
    lra_tensor *dk = lra_sample_input(g, "dk", "normal", y->shape);
    lra_tensor *src[] = {y->src[0],
                         y->src[1],
                         y->src[2],
                         y->src[3],
                         y->src[4],
                         y->src[5],
                         lra_cast(dk, lra_real(g))};
    return lra_node(&lra_op_dplr_kernel_grad, g, 7, src, s, sizeof *s);
}

const lra_op lra_op_dplr_kernel = {.name = "dplr_kernel",
                                   .shape = shape,
                                   .grad = grad,
                                   .flops = flops,
                                   .scratch = scratch,
                                   .cuda_scratch = cuda_scratch,
                                   .cpu = LRA_BODIES(dplr_kernel),
                                   .sample = sample};
const lra_op lra_op_dplr_kernel_grad = {.name = "dplr_kernel_grad",
                                        .flags = LRA_NOGRAD,
                                        .shape = grad_shape,
                                        .flops = grad_flops,
                                        .scratch = grad_scratch,
                                        .cuda_scratch = grad_cuda_scratch,
                                        .cpu = LRA_BODIES(dplr_kernel_grad),
                                        .sample = grad_sample};
#endif
