/* Convolution kernels of state-space layers whose matrix is diagonal plus low rank, A = diag(a) - p
 * q^T. They are computed from their truncated generating function at the roots of unity w_j =
 * exp(-2 pi i j/L), with the sums r[v] of dplr_kernel_body.h:
 *   K_j = 2/(1 + w_j) (r[b c] - r[b q] r[p c]/(1 + r[p q])),  K_(L/2) = dt Re sum_n b_n c_n;
 *   k = inverse transform of K
 * All computations are in double in every graph, because near a pole the sums lose log10(|a|/|Re
 * a|) digits. Each channel, mode and frequency needs one division. The directions of a channel
 * share this division and half of the sums.
 * Gradients: those of the sums follow from the transform of dk. With E = 1/D and R the gradient of
 * a sum,
 *   dA = sum_j Re(conj(R) E),  dB = sum_j Re(conj(R) i Y E),  dD = -sum_v R conj((A + i Y B) E^2).
 * Source: Gu et al. 2022, arXiv:2111.00396, appendix C (S4). The value at L/2 follows the authors'
 * public code.
 * Test: equal to c_r (1 - Ab^L)^-1 Ab^l Bb computed by recurrence, to 1e-10
 * (tests/kernels/dplr_kernel_test.c). */
#include <omp.h>

#include "kernels/cpu/fft.h"
#include "kernels/graph/op.h"
#include "kernels/ops/ssm/dplr_kernel_body.h"
#include "kernels/ops/lanes_template.h"

enum { POINTS = 64 }; /* frequencies processed together */

/* SIMD vectors of doubles; all graphs use doubles here. */
#if defined(LRA_LEVEL_avx512)
enum { WIDE = 8 };
#elif defined(LRA_LEVEL_avx2)
enum { WIDE = 4 };
#else
enum { WIDE = 2 };
#endif
typedef double wide __attribute__((vector_size(WIDE * 8)));

LRA_ROW_FN wide wide_read(const double *x)
{
    wide v;
    memcpy(&v, x, sizeof v);
    return v;
}
LRA_ROW_FN void wide_write(double *y, wide v)
{
    memcpy(y, &v, sizeof v);
}
LRA_ROW_FN double wide_sum(wide v)
{
    double sum = 0;
    for (int l = 0; l < WIDE; l++) sum += v[l];
    return sum;
}

/* The sums of a block of frequencies from j0 on. In the backward pass re and im are replaced by the
 * gradients of the sums, and y_re and y_im are these gradients times Y. */
typedef struct {
    _Alignas(64) double t[POINTS]; /* aligned, so that no vector spans two cache lines */
    double Y[POINTS];
    double re[DPLR_SUMS][POINTS], im[DPLR_SUMS][POINTS];
    double y_re[DPLR_SUMS][POINTS], y_im[DPLR_SUMS][POINTS];
    int64_t n; /* number of frequencies of this block that are below L/2 */
} block;

/* Scratch of a thread. spectra: of both directions; inverse: 1/D of the sums (dplr_kernel_body.h)
 * for N modes and a block of frequencies, real and imaginary parts: (N,2,POINTS). */
typedef struct {
    double *spectra, *inverse;
    dplr_mode *mode;
    dplr_change *change;
} room;

static inline int64_t whole(int64_t n)
{
    return (n + 7) / 8 * 8;
}
static inline int64_t row_size(int64_t L)
{
    return whole(lra_fft_row(L));
}
static inline int64_t in_doubles(int64_t n, size_t size)
{
    return whole(n * (int64_t)(size / sizeof(double)));
}
static inline int64_t thread_size(const dplr_args *s)
{
    return dplr_sides(s) * row_size(s->L) + 2 * s->N * POINTS +
           in_doubles(s->N, sizeof(dplr_mode)) + in_doubles(s->N, sizeof(dplr_change));
}
/* Scratch in doubles: the tangents of all frequencies, then the scratch of each thread. */
static inline int64_t scratch_size(const dplr_args *s, int n_threads)
{
    return whole(s->L / 2) + n_threads * thread_size(s);
}
static inline room room_of(const dplr_args *s, void *scratch)
{
    double *own = (double *)scratch + scratch_size(s, omp_get_thread_num());
    room r = {.spectra = own, .inverse = own + dplr_sides(s) * row_size(s->L)};
    double *modes = r.inverse + 2 * s->N * POINTS;
    r.mode = (dplr_mode *)(void *)modes;
    r.change = (dplr_change *)(void *)(modes + in_doubles(s->N, sizeof(dplr_mode)));
    return r;
}

static inline void set_tangents(const lra_call *c, const dplr_args *s)
{
    double *tangent = c->scratch;
#pragma omp parallel for num_threads(c->n_threads) schedule(static)
    for (int64_t j = 0; j < s->L / 2; j++) tangent[j] = dplr_tan(s, j);
}

static inline void set_block(const dplr_args *s, const double *tangent, int64_t j0, double dt,
                             block *k)
{
    k->n = s->L / 2 - j0 < POINTS ? s->L / 2 - j0 : POINTS;
    for (int64_t j = 0; j < POINTS; j++) {
        k->t[j] = tangent[j < k->n ? j0 + j : 0];
        k->Y[j] = 2 * k->t[j] / dt;
    }
}

/* Computes the sums of all modes for a block of frequencies, and stores 1/D of each mode if
 * `inverse` is not NULL. A and B are summed separately and combined with Y at the end. A mode thus
 * costs four multiplications per sum, and the sums stay in registers during the loop over modes. */
LRA_ROW_FN void add_modes(const int n_sums, const dplr_mode *mode, int64_t N, block *k,
                          double *inverse)
{
    for (int j = 0; j < POINTS; j += WIDE) {
        const wide Y = wide_read(k->Y + j), zero = {0};
        wide sum[DPLR_SUMS][4];
        LANES_UNROLL for (int i = 0; i < n_sums; i++)
            sum[i][0] = sum[i][1] = sum[i][2] = sum[i][3] = zero;
        for (int64_t n = 0; n < N; n++) {
            const dplr_mode *m = mode + n;
            wide re = m->a.re * m->a.re + (m->a.im - Y) * (m->a.im + Y), im = -2 * m->a.re * Y;
            wide one = 1 / (re * re + im * im), er = re * one, ei = -im * one;
            if (inverse) {
                wide_write(inverse + 2 * n * POINTS + j, er);
                wide_write(inverse + (2 * n + 1) * POINTS + j, ei);
            }
            LANES_UNROLL for (int i = 0; i < n_sums; i++)
            {
                sum[i][0] += m->A[i] * er, sum[i][1] += m->A[i] * ei;
                sum[i][2] += m->B[i] * er, sum[i][3] += m->B[i] * ei;
            }
        }
        LANES_UNROLL for (int i = 0; i < n_sums; i++)
        {
            wide_write(k->re[i] + j, sum[i][0] - Y * sum[i][3]);
            wide_write(k->im[i] + j, sum[i][1] + Y * sum[i][2]);
        }
    }
}
/* Calls add_modes() with a constant number of sums: 4 for one direction, 6 for two. */
static inline void sum_block(const dplr_args *s, const dplr_mode *mode, block *k, double *inverse)
{
    if (dplr_sides(s) == 1)
        add_modes(4, mode, s->N, k, inverse);
    else
        add_modes(6, mode, s->N, k, inverse);
}

static inline void read_sums(const block *k, int n_sums, int64_t j, c_number *r)
{
    for (int i = 0; i < n_sums; i++) r[i] = c_of(k->re[i][j], k->im[i][j]);
}

/* Sources: a, b, p, q, c, dt. */
LRA_BODY(dplr_kernel)
{
    const dplr_args *s = c->y->args;
    const dplr_sources in = dplr_sources_of(c->in);
    int64_t row = row_size(s->L), L = s->L;
    int sides = dplr_sides(s), n_sums = dplr_sums(s);
    set_tangents(c, s);
#pragma omp parallel for num_threads(c->n_threads) schedule(static)
    for (int64_t h = 0; h < s->H; h++) {
        room own = room_of(s, c->scratch);
        double dt = (double)in.dt[h], last[DPLR_SIDES] = {0};
        for (int64_t n = 0; n < s->N; n++) {
            dplr_mode_at(s, &in, h, n, &own.mode[n]);
            for (int i = 0; i < sides; i++) last[i] += own.mode[n].v[2 * i + DPLR_BC].re;
        }
        for (int64_t j0 = 0; j0 < L / 2; j0 += POINTS) {
            block k;
            set_block(s, c->scratch, j0, dt, &k);
            sum_block(s, own.mode, &k, NULL);
            for (int64_t j = 0; j < k.n; j++) {
                c_number r[DPLR_SUMS];
                read_sums(&k, n_sums, j, r);
                for (int i = 0; i < sides; i++) {
                    c_number K = dplr_spectrum(r, i, k.t[j]);
                    double *to = own.spectra + i * row + 2 * (j0 + j);
                    to[0] = K.re, to[1] = K.im;
                }
            }
        }
        for (int i = 0; i < sides; i++) {
            double *K = own.spectra + i * row;
            real *out = (real *)c->out + (i * s->H + h) * L;
            K[1] = 0, K[L] = dt * last[i], K[L + 1] = 0;
            lra_fft_back_f64(L, K);
            for (int64_t l = 0; l < L; l++) out[l] = (real)(K[l] / (double)L);
        }
    }
}

/* Replaces the sums of a block by their gradients. */
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
        for (int i = 0; i < n_sums; i++) {
            k->re[i][j] = d[i].re, k->im[i][j] = d[i].im;
            k->y_re[i][j] = k->Y[j] * d[i].re, k->y_im[i][j] = k->Y[j] * d[i].im;
        }
    }
}

/* Adds the contribution of a block of frequencies to the gradient of a mode. Products are added one
 * at a time, because a sum of two products takes three instructions. */
LRA_ROW_FN void add_change(const int n_sums, const dplr_mode *m, const block *k,
                           const double *inverse, dplr_change *d)
{
    const wide zero = {0};
    wide sum_a[DPLR_SUMS], sum_b[DPLR_SUMS], sum_d = zero, sum_y = zero;
    LANES_UNROLL for (int i = 0; i < n_sums; i++) sum_a[i] = sum_b[i] = zero;
    for (int j = 0; j < POINTS; j += WIDE) {
        wide er = wide_read(inverse + j), ei = wide_read(inverse + POINTS + j);
        wide wr = zero, wi = zero;
        LANES_UNROLL for (int i = 0; i < n_sums; i++)
        {
            wide re = wide_read(k->re[i] + j), im = wide_read(k->im[i] + j);
            wide y_re = wide_read(k->y_re[i] + j), y_im = wide_read(k->y_im[i] + j);
            sum_a[i] += re * er, sum_a[i] += im * ei;
            sum_b[i] += y_im * er, sum_b[i] -= y_re * ei;
            wr += m->A[i] * re, wr += m->B[i] * y_im;
            wi += m->A[i] * im, wi -= m->B[i] * y_re;
        }
        wide square = er * er - ei * ei, twice = 2 * er * ei;
        sum_d -= wr * square + wi * twice;
        sum_y -= wide_read(k->Y + j) * (wi * square - wr * twice);
    }
    LANES_UNROLL for (int i = 0; i < n_sums; i++)
    {
        d->A[i] += wide_sum(sum_a[i]), d->B[i] += wide_sum(sum_b[i]);
    }
    d->D += wide_sum(sum_d), d->Y += wide_sum(sum_y);
}

static inline void change_modes(const dplr_args *s, const room *own, const block *k)
{
    for (int64_t n = 0; n < s->N; n++) {
        const double *inverse = own->inverse + 2 * n * POINTS;
        if (dplr_sides(s) == 1)
            add_change(4, own->mode + n, k, inverse, own->change + n);
        else
            add_change(6, own->mode + n, k, inverse, own->change + n);
    }
}

/* Transforms dk of the directions of channel h into spectra. last: (directions) gradients of the
 * spectra at frequency L/2. */
static inline void transform_dk(const dplr_args *s, const real *dk, int64_t h, double *spectra,
                                double last[DPLR_SIDES])
{
    for (int i = 0; i < dplr_sides(s); i++) {
        double *K = spectra + i * row_size(s->L);
        for (int64_t l = 0; l < s->L; l++) K[l] = (double)dk[(i * s->H + h) * s->L + l];
        lra_fft_f64(s->L, K);
        last[i] = K[s->L] / (double)s->L;
    }
}

/* Sources: a, b, p, q, c, dt, dk. Result: (9 + 2 sides,H,N), see dplr_mode_gradient(). */
LRA_BODY(dplr_kernel_grad)
{
    const dplr_args *s = c->y->args;
    const dplr_sources in = dplr_sources_of(c->in);
    set_tangents(c, s);
#pragma omp parallel for num_threads(c->n_threads) schedule(static)
    for (int64_t h = 0; h < s->H; h++) {
        room own = room_of(s, c->scratch);
        double dt = (double)in.dt[h], last[DPLR_SIDES];
        memset(own.change, 0, (size_t)s->N * sizeof *own.change);
        for (int64_t n = 0; n < s->N; n++) dplr_mode_at(s, &in, h, n, &own.mode[n]);
        transform_dk(s, c->in[6], h, own.spectra, last);
        for (int64_t j0 = 0; j0 < s->L / 2; j0 += POINTS) {
            block k;
            set_block(s, c->scratch, j0, dt, &k);
            sum_block(s, own.mode, &k, own.inverse);
            pull_block(s, j0, own.spectra, row_size(s->L), &k);
            change_modes(s, &own, &k);
        }
        for (int64_t n = 0; n < s->N; n++)
            dplr_mode_gradient(s, &own.mode[n], own.change + n, dt, last, h * s->N + n, c->out);
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
    lra_tensor *dt = lra_reduce_sum(lra_slice(all, 0, 8, 1), LRA_SHAPE(1, s->H, 1));
    dx[5] = lra_reshape(dt, LRA_SHAPE(s->H));
}

/* FLOP: the inverse transform, and 8 for each term of a sum; for gradients twice as many, and the
 * forward transforms. */
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
    return scratch_size(y->args, n_threads) * (int64_t)sizeof(double);
}

/* Scratch of the CUDA body: rows of spectra; for gradients also the gradients of the sums. */
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

/* Test samples: one direction and two; one block of frequencies and more; one mode. Re a < 0 and q
 * = conj p, as in all layers. */
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
                                        .scratch = scratch,
                                        .cuda_scratch = grad_cuda_scratch,
                                        .cpu = LRA_BODIES(dplr_kernel_grad),
                                        .sample = grad_sample};
#endif
