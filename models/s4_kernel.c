/* Builds the kernels of S4. */
#include "models/s4_kernel.h"

#include <math.h>

#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"
#include "kernels/graph/op.h"
#include "models/layers.h"
#include "models/hippo.h"

typedef struct {
    /* softplus: dt = ln(1 + exp(s)), otherwise dt = exp(s). raw: the drawn C is not converted */
    bool softplus, raw;
    double dt[2];
    uint32_t stream; /* random stream of dt */
    int64_t L, width;
} s4_start;

static void draw_dt(const s4_start *s, uint64_t seed, uint32_t stream, double *dt)
{
    lra_rng r = lra_rng_new(seed, stream, 0);
    for (int64_t h = 0; h < s->width; h++)
        dt[h] = s->dt[0] * exp(log(s->dt[1] / s->dt[0]) * lra_rng_u01(&r));
}

static void fill_dt(const lra_fill *f, double *v)
{
    const s4_start *s = f->data;
    draw_dt(s, f->seed, f->stream, v);
    for (int64_t h = 0; h < s->width; h++) v[h] = log(s->softplus ? expm1(v[h]) : v[h]);
}

/* Converts one row c in place: c - c Ab^L. c has one number of each conjugate pair, so that
 * products over all numbers are twice the real parts. (1 - dt/2 A)^-1 is computed by the
 * Sherman-Morrison formula. */
static void convert(int64_t N, const double *w, const double complex *P, double dt, int64_t L,
                    double complex *c)
{
    double complex *all = lra_alloc_array((size_t)(4 * N), sizeof *all);
    double complex *x = all, *down = all + N, *up = all + 2 * N, *low = all + 3 * N;
    double size = 1;
    for (int64_t n = 0; n < N; n++) {
        x[n] = c[n];
        up[n] = 1 + dt / 2 * (-0.5 - I * w[n]);
        down[n] = 1 / (2 - up[n]);
        low[n] = conj(P[n]) * down[n];
        size += dt * creal(low[n] * P[n]);
    }
    for (int64_t l = 0; l < L; l++) {
        double sum = 0, next = 0, most = 0;
        for (int64_t n = 0; n < N; n++) sum += creal(x[n] * down[n] * P[n]);
        for (int64_t n = 0; n < N; n++) {
            x[n] = x[n] * down[n] - dt * sum / size * low[n];
            next += creal(x[n] * P[n]);
        }
        for (int64_t n = 0; n < N; n++) {
            x[n] = x[n] * up[n] - dt * next * conj(P[n]);
            most = fmax(most, fabs(creal(x[n])) + fabs(cimag(x[n])));
        }
        if (most < 1e-30) break;
    }
    for (int64_t n = 0; n < N; n++) c[n] -= x[n];
    lra_free(all);
}

/* Initial C, (2,rows,N); row r has the step size of channel r mod width. */
static void fill_c(const lra_fill *f, double *v)
{
    const s4_start *s = f->data;
    int64_t rows = f->shape.d[1], N = f->shape.d[2];
    lra_rng r = lra_rng_new(f->seed, f->stream, 0);
    double *dt = lra_alloc_array((size_t)s->width, sizeof *dt);
    double *w = lra_alloc_array((size_t)(3 * N), sizeof *w);
    double complex *c = lra_alloc_array((size_t)(2 * N), sizeof *c), *P = c + N;
    draw_dt(s, f->seed, s->stream, dt);
    lra_hippo_turn(&(lra_fill){LRA_SHAPE(N), 0, 0, NULL}, w);
    lra_hippo_p(&(lra_fill){LRA_SHAPE(2, N), 0, 0, NULL}, w + N);
    for (int64_t n = 0; n < N; n++) P[n] = w[N + n] + I * w[2 * N + n];
    for (int64_t row = 0; row < rows; row++) {
        for (int64_t n = 0; n < N; n++) {
            double pair[2];
            uint32_t first = lra_rng_u32(&r);
            lra_normal2(first, lra_rng_u32(&r), &pair[0], &pair[1]);
            c[n] = sqrt(0.5) * (pair[0] + I * pair[1]);
        }
        if (!s->raw) convert(N, w, P, dt[row % s->width], s->L, c);
        for (int64_t n = 0; n < N; n++)
            v[row * N + n] = creal(c[n]), v[(rows + row) * N + n] = cimag(c[n]);
    }
    lra_free(dt);
    lra_free(w);
    lra_free(c);
}

/* Repeats rows: (2,S,N) to (2,width,N); channel h has row h mod S. */
static lra_tensor *of_channels(lra_tensor *x, int64_t width)
{
    int64_t S = lra_tensor_shape(x).d[1], N = lra_width(x);
    x = lra_broadcast(lra_reshape(x, LRA_SHAPE(2, 1, S, N)), LRA_SHAPE(2, width / S, S, N));
    return lra_reshape(x, LRA_SHAPE(2, width, N));
}

lra_tensor *lra_s4_kernel(const lra_build *b, const lra_s4_spec *spec)
{
    lra_graph *g = b->graph;
    bool v1 = spec->version == LRA_S4_V1, v4 = spec->version == LRA_S4_V4;
    int64_t width = spec->width, N = spec->state / 2, sides = b->causal ? 1 : 2, L;
    int64_t copies = spec->copies;
    double cut = v4 ? LRA_LEGS_CUT : HUGE_VAL;
    if (width % copies) {
        lra_graph_fail(g, "the width is not a multiple of the %lld copies", (long long)copies);
        copies = 1;
    }
    s4_start s = {v4, v1, {spec->dt_min, spec->dt_max}, 0, 0, width};
    s.L = L = lra_dplr_length(b->T_max);
    lra_shape one = LRA_SHAPE(1, copies, N), two = LRA_SHAPE(2, v1 ? width : copies, N);
    lra_param_spec slow = {.init = LRA_INIT_FILL, .rate = spec->rate, .no_decay = true};
    slow.frozen = spec->frozen;
    lra_param_spec turn = slow, real = slow, B = slow, P = slow, step = slow;
    lra_param_spec Q = {LRA_FILL(lra_hippo_p), .frozen = spec->frozen};
    lra_param_spec C = {LRA_FILL(fill_c), .frozen = spec->frozen};
    real.init = LRA_INIT_CONSTANT, real.a = v1 ? -0.5 : log(0.5), turn.fill = lra_hippo_turn;
    B.fill = lra_hippo_b, B.data = &cut, B.data_size = sizeof cut, P.fill = lra_hippo_p;
    step.fill = fill_dt, step.data = C.data = &s, step.data_size = C.data_size = sizeof s;
    if (!spec->all && !v1) step.rate = 0;
    if (spec->all && v4) C.rate = spec->rate;
    lra_tensor *re = lra_param(g, v1 ? "decay" : "log_decay", one, &real);
    lra_tensor *a[] = {v1 ? re : lra_affine(lra_exp(re), -1, 0),
                       lra_affine(lra_param(g, "turn", one, &turn), -1, 0)};
    lra_tensor *b_ = lra_param(g, "b", two, &B), *p = lra_param(g, "p", two, &P);
    lra_tensor *q = lra_complex_conjugate(v1 ? lra_param(g, "q", two, &Q) : p);
    lra_tensor *dt = lra_param(g, "dt", LRA_SHAPE(width), &step);
    s.stream = lra_hash32(lra_tensor_path(dt));
    lra_tensor *c_ = lra_param(g, "c", LRA_SHAPE(2, sides * width, N), &C);
    lra_tensor *k = lra_dplr_kernel(of_channels(lra_concat(2, a, 0), width), of_channels(b_, width),
                                    of_channels(p, width), of_channels(q, width), c_,
                                    v4 ? lra_softplus(dt) : lra_exp(dt), L);
    k = lra_slice(k, 1, 0, b->T);
    return sides == 2 ? lra_reshape(k, LRA_SHAPE(2, width, b->T)) : k;
}
