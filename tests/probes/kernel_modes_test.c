/* Kernels computed from parameters, compared in float64 with the impulse responses of the
 * operations: scans between dense layers, one and two directions, diagonal plus low rank. Their
 * modes, known decay rates, energies beyond the length. */
#include "tests/fixtures/test.h"

#include <complex.h>
#include <math.h>
#include <string.h>

#include "analysis/kernel_shape.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"
#include "kernels/cpu/device.h"
#include "kernels/graph/ops.h"
#include "models/hippo.h"
#include "probes/kernels/extract.h"
#include "probes/kernels/modes.h"
#include "probes/kernels/scan_kernels.h"
#include "probes/kernels/skip.h"

static void is_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) fail_msg("%.17g, expected %.17g", value, expected);
}

/* A graph whose inputs are set by name. */
typedef struct {
    lra_device device;
    lra_params *params;
    lra_space *space;
    lra_length_graph view;
} trial;

static void open_trial(trial *t)
{
    lra_err e;
    *t = (trial){0};
    assert_int_equal(lra_cpu_device(&t->device, 1, &e), 0);
    t->params = lra_params_new(&t->device, 1);
    t->space = lra_space_new(&t->device);
    t->view.network.graph = lra_graph_new(LRA_F64, LRA_EVAL);
}

static void plan_trial(trial *t)
{
    lra_err e;
    lra_length_graph *v = &t->view;
    v->plan = lra_plan_new(v->network.graph, t->params, t->space, v->n_out, v->out, &e);
    NOT_NULL(v->plan);
}

static void set_input(trial *t, const lra_tensor *x, const double *data)
{
    lra_err e;
    OK(lra_set(t->view.plan, x, data, &e));
}

static void close_trial(trial *t)
{
    lra_plan_free(t->view.plan);
    lra_space_free(t->space);
    lra_params_free(t->params);
    lra_graph_free(t->view.network.graph);
    lra_free(t->view.out);
}

static void fill(lra_rng *r, int64_t n, double *x)
{
    for (int64_t i = 0; i < n; i++) x[i] = 2 * lra_rng_u01(r) - 1;
}

/* ---- scans ----------------------------------------------------------------------------------- */

enum { D = 3, N = 2, H = 4, T = 41, AT = 20 };

/* Compares impulse responses: an impulse in the middle, one input channel per example; kernels by
 * the operation and computed from its parameters. */
static void scan_impulses(int sides)
{
    trial t;
    lra_err e;
    lra_scan_map m;
    lra_rng r = lra_rng_new(7, 1, 0);
    static double impulse[D][T][D], in[D * 2 * N], out[2][2 * N * H], y[D][T][H];
    static double k[H][D][2 * T - 1];
    const double lambda[2 * N] = {0.8, -0.3, 0.4, 0.85};
    open_trial(&t);
    lra_graph *g = t.view.network.graph;
    lra_tensor *u = lra_input(g, "u", LRA_F64, LRA_SHAPE(D, T, D));
    lra_tensor *w = lra_input(g, "in", LRA_F64, LRA_SHAPE(D, 2 * N));
    lra_tensor *l = lra_input(g, "lambda", LRA_F64, LRA_SHAPE(2, N));
    lra_tensor *v = lra_linear(u, w, NULL, LRA_ACT_NONE, NULL), *sum = NULL, *read[2];
    for (int s = 0; s < sides; s++) {
        read[s] = lra_input(g, s ? "ahead" : "past", LRA_F64, LRA_SHAPE(2 * N, H));
        lra_tensor *x = lra_scan(v, NULL, &(lra_scan_spec){l, s > 0});
        sum = lra_linear(x, read[s], NULL, LRA_ACT_NONE, sum);
    }
    lra_tensor *scan[4];
    assert_int_equal(lra_scans_find(g, 4, scan), 1);
    OK(lra_scan_add_outputs(&t.view, scan[0], &e));
    lra_length_graph_output(&t.view, sum);
    plan_trial(&t);
    fill(&r, D * 2 * N, in);
    for (int i = 0; i < D; i++) impulse[i][AT][i] = 1;
    set_input(&t, u, &impulse[0][0][0]);
    set_input(&t, w, in);
    set_input(&t, l, lambda);
    for (int s = 0; s < sides; s++) {
        fill(&r, 2 * N * H, out[s]);
        set_input(&t, read[s], out[s]);
    }
    assert_int_equal(lra_run(t.view.plan, &e), 0);
    assert_int_equal(lra_get(t.view.plan, sum, y, &e), 0);
    OK(lra_scan_read(&t.view, scan[0], &m, &e));
    assert_true(m.sides == sides && m.N == N && m.inputs == D && m.outputs == H);
    int64_t behind = sides == 2 ? T - 1 : 0, lags = behind + T;
    lra_scan_kernels(&m, H, 1, behind, T, &k[0][0][0], NULL);
    const double *flat = &k[0][0][0];
    for (int c = 0; c < H; c++)
        for (int i = 0; i < D; i++)
            for (int64_t at = 0; at < T; at++) {
                int64_t lag = at - AT;
                double own = lag < -behind ? 0 : flat[(c * D + i) * lags + behind + lag];
                is_near(own, y[i][at][c], 1e-12);
            }
    /* Computing only some outputs gives the same kernels as computing all. */
    static double some[2 * D * (2 * T - 1)];
    lra_scan_kernels(&m, 2, 3, behind, T, some, NULL);
    assert_memory_equal(some + D * lags, flat + 3 * D * lags, (size_t)(D * lags) * sizeof *some);
    lra_scan_map_free(&m);
    close_trial(&t);
}

TEST(scans_by_impulses)
{
    scan_impulses(1);
    scan_impulses(2);
}

/* The energy beyond the lags is equal to a sum over so many lags that the remainder is negligible;
 * modes without decay have no finite energy. */
TEST(energy_beyond)
{
    enum { LONG = 3000, SHORT = 9 };
    static double k[2 * LONG], near[2 * SHORT];
    double lambda[] = {0.97, 0.1, -0.5, 0.6}, b[] = {1, 0.5, 0.2, -1}, cut = 0, far = 0, all = 0;
    double g[] = {1, 0, 0.3, 0.7, -1, 2, 0.5, 0.5}; /* two directions of two modes, one output */
    lra_scan_map m = {2, 2, 1, 1, lambda, b, g};
    lra_scan_kernels(&m, 1, 1, LONG - 1, LONG, k, NULL);
    for (int i = 0; i < 2 * LONG - 1; i++) {
        int lag = i - (LONG - 1);
        all += k[i] * k[i], far += lag >= SHORT || lag <= -SHORT ? k[i] * k[i] : 0;
    }
    lra_scan_kernels(&m, 1, 1, SHORT - 1, SHORT, near, NULL);
    lra_scan_cuts(&m, 1, 1, SHORT - 1, SHORT, near, &cut);
    is_near(cut, far / all, 1e-12);
    lambda[0] = 1.01;
    lra_scan_cuts(&m, 1, 1, SHORT - 1, SHORT, near, &cut);
    is_near(cut, 1, 0);
}

/* One real mode: its decay time computed from the mode is equal to that fitted to the kernel. */
TEST(planted_decay)
{
    enum { LAGS = 400 };
    static double k[LAGS];
    double lambda[] = {0.95, 0}, b[] = {3, 0}, g[] = {-2, 0}, p;
    lra_scan_map m = {1, 1, 1, 1, lambda, b, g};
    lra_modes modes;
    lra_measurement list[LRA_KERNEL_MEASUREMENTS];
    lra_scan_kernels(&m, 1, 1, 0, LAGS, k, NULL);
    lra_scan_modes(&m, &modes);
    is_near(-1 / modes.x[0], -1 / log(0.95), 1e-9);
    is_near(modes.w[0], 6, 1e-12);
    lra_free(modes.x);
    lra_free(modes.w);
    const lra_kernel kernel = {1, 0, LAGS, k};
    lra_kendall_null *null = lra_kendall_null_new(lra_kernel_blocks(&kernel));
    int n = lra_kernel_measurements(&kernel, 0, null, list, &p);
    lra_kendall_null_free(null);
    is_near(lra_measurement_find(n, list, "decay.tau")->value, -1 / log(0.95), 1e-6);
    is_near(lra_measurement_find(n, list, "decay.kind")->value, LRA_DECAY_EXP, 0);
    assert_true(p < 1e-6);
}

/* ---- complex kernels ------------------------------------------------------------------------- */

/* Re(c exp(z l)) oscillates, so that the fit to the maxima of blocks gives a wrong time; the fit to
 * |c| exp(l Re z), which is computed from the modes, gives the right one. */
TEST(planted_turn)
{
    enum { LAGS = 400 };
    const double tau = 60;
    static double z[2 * LAGS], k[2 * LAGS], mod[LAGS], re[LAGS];
    double x[] = {-1 / tau, 0.015}, w[] = {0.3, -0.4}, p;
    const lra_modes m = {.rows = 1, .n = 1, .scale = 2, .x = x, .w = w};
    lra_measurement list[LRA_KERNEL_MEASUREMENTS];
    lra_modes_complex(&m, 0, LAGS, z);
    for (int d = 0; d < LAGS; d++) {
        re[d] = z[2 * d], mod[d] = hypot(z[2 * d], z[2 * d + 1]);
        is_near(re[d], lra_modes_value(&m, 0, d), 1e-12);
        is_near(mod[d], exp(-d / tau), 1e-12);
    }
    int n = lra_kernel_measurements(&(lra_kernel){1, 0, LAGS, re}, 0, NULL, list, &p);
    assert_true(fabs(lra_measurement_find(n, list, "decay.tau")->value - tau) > 0.05 * tau);
    n = lra_kernel_modulus_measurements(&(lra_kernel){1, 0, LAGS, mod}, NULL, list, &p);
    is_near(lra_measurement_find(n, list, "decay.tau.mod")->value, tau, 1e-6);
    is_near(lra_measurement_find(n, list, "decay.kind.mod")->value, LRA_DECAY_EXP, 0);
    is_near(lra_measurement_find(n, list, "decay.test.mod")->value, -1, 0);
    is_near(lra_measurement_find(n, list, "range.mean.mod")->value, 1 / expm1(2 / tau), 1e-3);
    is_near(lra_measurement_find(n, list, "kernel.tail.mod")->value, exp(-LAGS / tau), 1e-5);
    /* The same mode between dense layers with two inputs: the norm of the two moduli. */
    const double complex one = cexp(x[0] + I * x[1]);
    double lambda[] = {creal(one), cimag(one)}, b[] = {3, 0, 0, 4}, g[] = {0.6, 0.8};
    lra_scan_map s = {1, 1, 2, 1, lambda, b, g};
    assert_true(lra_scan_kernels(&s, 1, 1, 0, LAGS, k, mod));
    for (int d = 0; d < LAGS; d++) is_near(mod[d], 5 * exp(-d / tau), 1e-12);
    lambda[1] = b[2] = b[3] = g[1] = 0;
    assert_false(lra_scan_kernels(&s, 1, 1, 0, LAGS, k, mod));
}

/* D of y = k * u + D u is found next to a convolution and next to a scan; other sums with products
 * are not taken as D. */
TEST(direct_path_found)
{
    trial t;
    open_trial(&t);
    lra_graph *g = t.view.network.graph;
    lra_tensor *u = lra_input(g, "u", LRA_F64, LRA_SHAPE(1, T, D));
    lra_tensor *k = lra_input(g, "k", LRA_F64, LRA_SHAPE(D, T));
    lra_tensor *skip = lra_input(g, "d", LRA_F64, LRA_SHAPE(D));
    lra_tensor *y = lra_long_conv(u, k, NULL), *other = lra_long_conv(lra_mul(u, skip), k, NULL);
    lra_tensor *into = lra_linear(u, lra_input(g, "in", LRA_F64, LRA_SHAPE(D, 2 * N)), NULL,
                                  LRA_ACT_NONE, NULL);
    lra_tensor *lambda = lra_input(g, "lambda", LRA_F64, LRA_SHAPE(2, N));
    lra_tensor *x = lra_scan(into, NULL, &(lra_scan_spec){lambda, false});
    lra_tensor *out = lra_input(g, "out", LRA_F64, LRA_SHAPE(2 * N, D));
    lra_linear(x, out, NULL, LRA_ACT_NONE, lra_mul(u, skip));
    assert_null(lra_skip_find(g, y));
    lra_add(lra_mul(u, skip), y);
    lra_add(u, other);
    assert_ptr_equal(lra_skip_find(g, y), skip);
    assert_ptr_equal(lra_skip_find(g, x), skip);
    assert_null(lra_skip_find(g, other));
    close_trial(&t);
}

/* D is added to lag 0 of a kernel of two inputs. The energy increases by D^2, so that the share of
 * the energy beyond the lags is divided by a larger total; the imaginary part of a complex kernel
 * does not change. */
TEST(direct_path_counts)
{
    trial t;
    lra_err e;
    enum { LAGS = 4 };
    double k[2 * 2 * LAGS] = {0, 1, 2, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3, 1, 1};
    double mod[2 * LAGS] = {4, 3, 2, 0, 0, 4, 1, 1}, cut[] = {0.1, 1}, mass[LAGS];
    const double d[] = {3, -2};
    lra_extracted_kernels f = {.channels = 2, .components = 2, .ahead = LAGS, .step = 1};
    f.k[0] = k, f.mod[0] = mod, f.cut[0] = cut;
    open_trial(&t);
    lra_tensor *skip = lra_input(t.view.network.graph, "d", LRA_F64, LRA_SHAPE(2));
    lra_length_graph_output(&t.view, lra_affine(skip, 1, 0));
    lra_length_graph_output(&t.view, skip);
    plan_trial(&t);
    set_input(&t, skip, d);
    assert_int_equal(lra_run(t.view.plan, &e), 0);
    assert_int_equal(lra_skip_add(&t.view, skip, &f, 0, &e), 0);
    lra_kernel one = lra_extract_channel(&f, 0, 0);
    lra_kernel_mass(&one, mass);
    is_near(mass[0], 9. / (9 + 9), 1e-12);
    is_near(k[0], 3, 0);
    is_near(k[2 * LAGS + LAGS], -2, 0); /* the second input is the own input of channel 1 */
    is_near(mod[0], 5, 1e-12);
    is_near(mod[LAGS], 2, 1e-12);
    is_near(cut[0], 1. / (1 + 18), 1e-12); /* 1 of 10 was beyond the lags before D was added */
    is_near(cut[1], 1, 0);
    lra_free(f.skip[0]);
    close_trial(&t);
}

/* ---- diagonal plus low rank ------------------------------------------------------------------ */

enum { MODES = 4, CHANNELS = 2, ROWS = 4, LENGTH = 120 };

/* The initial values of S4: LegS with a given number of modes (and their conjugates), step sizes
 * 0.01 and 0.1, and random C for both directions. */
enum { MOST_MODES = 64 };
typedef struct {
    trial t;
    lra_tensor *out;
    double a[2 * CHANNELS * MOST_MODES], b[2 * CHANNELS * MOST_MODES], p[2 * CHANNELS * MOST_MODES],
        q[2 * CHANNELS * MOST_MODES], c[2 * ROWS * MOST_MODES], dt[CHANNELS], k[ROWS * LENGTH];
    lra_modes m;
} legs;

/* size: magnitude of p and q */
static legs *open_legs(int modes, double size)
{
    lra_err e;
    lra_rng r = lra_rng_new(3, 1, 0);
    legs *x = lra_alloc(sizeof *x);
    double *w = lra_alloc_array((size_t)modes, sizeof *w), cut = HUGE_VAL;
    double complex *V = lra_alloc_array((size_t)(2 * modes * modes), sizeof *V);
    const double *const data[] = {x->a, x->b, x->p, x->q, x->c, x->dt};
    int plane = CHANNELS * modes;
    lra_shape s = LRA_SHAPE(2, CHANNELS, modes);
    lra_hippo_legs(modes, w, V);
    lra_hippo_b(&(lra_fill){s, 0, 0, &cut}, x->b);
    lra_hippo_p(&(lra_fill){s, 0, 0, NULL}, x->p);
    for (int i = 0; i < plane; i++) {
        x->a[i] = -0.5, x->a[plane + i] = -w[i % modes];
        x->p[i] *= size, x->p[plane + i] *= size;
        x->q[i] = x->p[i], x->q[plane + i] = -x->p[plane + i];
    }
    x->dt[0] = 0.01, x->dt[1] = 0.1;
    fill(&r, 2 * ROWS * modes, x->c);
    open_trial(&x->t);
    lra_graph *g = x->t.view.network.graph;
    static const char *const name[] = {"a", "b", "p", "q", "c", "dt"};
    lra_tensor *in[6];
    for (int i = 0; i < 6; i++)
        in[i] = lra_input(g, name[i], LRA_F64,
                          i < 4    ? s
                          : i == 4 ? LRA_SHAPE(2, ROWS, modes)
                                   : LRA_SHAPE(CHANNELS));
    x->out = lra_dplr_kernel(in[0], in[1], in[2], in[3], in[4], in[5], LENGTH);
    lra_tensor *used = lra_reshape(lra_slice(x->out, 1, 0, 100), LRA_SHAPE(2, CHANNELS, 100));
    assert_ptr_equal(lra_modes_node(used), x->out);
    lra_modes_add_outputs(&x->t.view, x->out);
    lra_length_graph_output(&x->t.view, x->out);
    plan_trial(&x->t);
    for (int i = 0; i < 6; i++) set_input(&x->t, in[i], data[i]);
    assert_int_equal(lra_run(x->t.view.plan, &e), 0);
    assert_int_equal(lra_get(x->t.view.plan, x->out, x->k, &e), 0);
    assert_int_equal(lra_modes_get(&x->t.view, x->out, &x->m, &e), 0);
    assert_int_equal(x->m.rows, ROWS);
    lra_free(w);
    lra_free(V);
    return x;
}

static void close_legs(legs *x)
{
    lra_modes_free(&x->m);
    close_trial(&x->t);
    lra_free(x);
}

/* The modes give the kernel of the operation, and its energy. LegS has the eigenvalues -1, -2, ..;
 * for p = 0 they are those of the diagonal. */
static void low_rank_modes(double size)
{
    legs *x = open_legs(MODES, size);
    const lra_modes *m = &x->m;
    assert_true(m->n == 2 * MODES);
    for (int row = 0; row < ROWS; row++) {
        double most = 0, near = 0;
        for (int d = 0; d < LENGTH; d++) most = fmax(most, fabs(x->k[row * LENGTH + d]));
        for (int d = 0; d < LENGTH; d++) {
            is_near(lra_modes_value(m, row, d), x->k[row * LENGTH + d], 1e-6 * most);
            near += x->k[row * LENGTH + d] * x->k[row * LENGTH + d];
        }
        double all = lra_modes_energy(m, row, 0), far = lra_modes_energy(m, row, LENGTH);
        is_near((all - far) / near, 1, 1e-6);
        is_near(lra_dplr_energy(m->exact, row, 0) / all, 1, 1e-6);
        is_near(lra_dplr_energy(m->exact, row, LENGTH) / far, 1, 1e-6);
    }
    for (int mu = 1; mu <= 2 * MODES && size == 1; mu++) {
        double off = HUGE_VAL, half = -x->dt[0] / 2 * mu;
        for (int n = 0; n < 2 * MODES; n++)
            off = fmin(off, fabs(m->x[2 * n] - log((1 + half) / (1 - half))));
        is_near(off, 0, 1e-7);
    }
    /* modes of the first channel, followed by their conjugates */
    for (int i = 0; i < MODES && size == 0; i++) {
        double complex mu = x->a[i] + I * x->a[CHANNELS * MODES + i], half = x->dt[0] / 2 * mu;
        double complex rate = clog((1 + half) / (1 - half));
        is_near(m->x[2 * i], creal(rate), 1e-9);
        is_near(m->x[2 * i + 1], cimag(rate), 1e-9);
    }
    close_legs(x);
}

/* Without modes: the kernel at every lag is that of the operation, and the energy beyond the lags
 * agrees with sums; for a diagonal matrix (size 0) the kernel is a sum over modes. Tested for up to
 * 64 modes, for which eigenvalues are not accurate. */
static void low_rank_without_modes(int modes, double size)
{
    legs *x = open_legs(modes, size);
    static double z[2 * LENGTH];
    for (int row = 0; row < ROWS; row++) {
        const double *k = x->k + row * LENGTH;
        double most = 0, near = 0, next = 0;
        for (int d = 0; d < LENGTH; d++) most = fmax(most, fabs(k[d])), near += k[d] * k[d];
        lra_modes_complex(&x->m, row, LENGTH, z);
        for (int d = 0; d < LENGTH; d++) is_near(z[2 * d], k[d], 1e-9 * most);
        for (int d = 0; d < LENGTH; d += 7)
            is_near(lra_dplr_value(x->m.exact, row, d), k[d], 1e-9 * most);
        double all = lra_dplr_energy(x->m.exact, row, 0);
        double far = lra_dplr_energy(x->m.exact, row, LENGTH);
        is_near((all - far) / near, 1, 1e-8);
        for (int d = LENGTH; d < LENGTH + 40; d++) {
            double one = lra_dplr_value(x->m.exact, row, d);
            next += one * one;
        }
        is_near(far - lra_dplr_energy(x->m.exact, row, LENGTH + 40), next, 1e-8 * all);
        assert_true(lra_dplr_energy(x->m.exact, row, 400) < far);
        /* sum over the modes and their conjugates */
        for (int d = 0; d < LENGTH && size == 0; d += 7) {
            double complex sum = 0;
            for (int n = 0; n < modes; n++) {
                const double *w = x->m.w + 2 * (row * x->m.n + n);
                const double *rate = x->m.x + 2 * (row * x->m.n + n);
                sum += 2 * (w[0] + I * w[1]) * cexp((rate[0] + I * rate[1]) * d);
            }
            is_near(z[2 * d + 1], cimag(sum), 1e-6 * most);
        }
        if (size == 0) is_near(lra_modes_energy(&x->m, row, LENGTH), far, 1e-7 * all);
    }
    close_legs(x);
}

TEST(low_rank_of_many)
{
    low_rank_without_modes(32, 0);
    low_rank_without_modes(32, 1);
    low_rank_without_modes(MOST_MODES, 1);
}

/* If one mode grows, the energy is infinite and is not given. */
TEST(low_rank_that_grows)
{
    double a[] = {0.5, 1}, b[] = {1, 0}, p[] = {0.1, 0}, q[] = {0.1, 0}, c[] = {1, 0}, dt = 0.1;
    const lra_dplr_numbers s = {20, 1, 1, 1, a, b, p, q, c, &dt};
    lra_dplr_exact *x = lra_dplr_exact_new(&s);
    assert_non_null(x);
    assert_true(isinf(lra_dplr_energy(x, 0, 0)));
    lra_dplr_exact_free(x);
}

TEST(low_rank)
{
    low_rank_modes(1);
    low_rank_modes(0.25);
    low_rank_modes(0);
}
