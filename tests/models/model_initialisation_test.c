/* Initialisation of models whose papers state its properties: for example norms and decay of
 * kernels, biases of gates, angles of eigenvalues in the complex plane. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/graph/op.h"
#include "tests/fixtures/tiny_model.h"

enum { LONGEST = 4096 };

/* Returns the values of a parameter, or of a named tensor that depends only on parameters; the
 * caller frees them. */
static double *at_start(const lra_model *m, const char *changes, int64_t T, const char *path,
                        lra_shape *shape)
{
    lra_err e = {{0}};
    tiny_model f;
    model_case what = {.model = m,
                       .variant = changes,
                       .type = LRA_F64,
                       .vocab = TRIAL_VOCAB,
                       .B = 1,
                       .T = T,
                       .T_max = T,
                       .what = MODEL_FORWARD};
    model_open(&f, &what);
    lra_tensor *x = lra_find(f.k.graph, path);
    for (int i = 0; i < f.n; i++)
        if (strcmp(lra_tensor_path(f.param[i]), path) == 0) x = f.param[i];
    if (!x) fail_msg("%s has no '%s'", m->name, path);
    *shape = lra_tensor_shape(x);
    lra_space *space = lra_space_new(&f.device);
    lra_plan *plan = lra_plan_new(f.k.graph, f.params, space, 1, &x, &e);
    if (!plan || lra_run(plan, &e) != 0) fail_msg("%s", e.msg);
    double *v = lra_alloc_array((size_t)lra_shape_elements(*shape), sizeof *v);
    assert_int_equal(lra_get(plan, x, v, &e), 0);
    lra_plan_free(plan);
    lra_space_free(space);
    model_close(&f);
    return v;
}

static void near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) fail_msg("%.15g, expected %.15g", a, b);
}

/* Kernels of sgconv have norm 1 over all lags; 40 lags with 8 parameters per part need 4 parts. */
TEST(sgconv_starts_with_norm_one)
{
    lra_shape s;
    double *k = at_start(&lra_model_sgconv, "factor-max=3", 32, "encoder/layer1/conv/kernel", &s);
    assert_int_equal(s.n, 3);
    for (int64_t r = 0; r < s.d[0] * s.d[1]; r++) {
        double sum = 0;
        for (int64_t t = 0; t < s.d[2]; t++) sum += k[r * s.d[2] + t] * k[r * s.d[2] + t];
        near(sum, 1, 1e-12);
    }
    lra_free(k);
    lra_free(at_start(&lra_model_sgconv, "part=8", 40, "encoder/layer0/conv/parts", &s));
    assert_int_equal(s.d[0], 4);
}

/* The gate of gmlp is initially open, with weights of other positions close to 0. */
TEST(gmlp_starts_open)
{
    lra_shape s;
    double *k = at_start(&lra_model_gmlp, "kernels=4", 40, "encoder/layer0/gate/taps", &s);
    assert_true(lra_shape_equal(s, LRA_SHAPE(4, 79)));
    for (int64_t i = 0; i < 4 * 79; i++) assert_true(fabs(k[i]) <= 1e-3 / 40);
    lra_free(k);
    k = at_start(&lra_model_gmlp, "", 40, "encoder/layer0/gate/b", &s);
    assert_true(lra_shape_equal(s, LRA_SHAPE(40)));
    for (int i = 0; i < 40; i++) near(k[i], 1, 0);
    lra_free(k);
}

/* The envelope of double-exp in channel 0 is exp(-lag/L), whose mean square is (1 - e^-2)/2. */
TEST(longconv_decays)
{
    lra_shape s;
    double *k = at_start(&lra_model_longconv, "start=double-exp width=16", LONGEST,
                         "encoder/layer0/conv/taps", &s);
    const double rate[] = {1, pow(8, 8.0 / 16)}; /* rates of the channels 0 and 8 */
    for (int c = 0; c < 2; c++) {
        double sum = 0, expected = 0.0004 * (1 - exp(-2 * rate[c])) / (2 * rate[c]);
        for (int64_t j = 0; j < LONGEST; j++) sum += pow(k[c * 8 * LONGEST + j], 2) / LONGEST;
        near(sum / expected, 1, 0.15);
    }
    lra_free(k);
}

/* The sum of the squared angles of the skew part is that of its squared entries above the
 * diagonal. */
TEST(dss_starts_with_angles_of_legs)
{
    lra_shape s;
    double *a = at_start(&lra_model_dss, "state=64", 8, "encoder/layer0/ssm/turn", &s), sum = 0,
           entries = 0;
    for (int i = 0; i < 64; i++) {
        sum += a[i] * a[i];
        assert_true(a[i] > 0 && (i == 0 || a[i] < a[i - 1]));
    }
    for (int n = 0; n < 128; n++)
        for (int k = n + 1; k < 128; k++) entries += (2 * n + 1) * (2 * k + 1) / 4.0;
    near(sum / entries, 1, 1e-12);
    lra_free(a);
    a = at_start(&lra_model_dss, "init=lin state=5", 8, "encoder/layer1/ssm/turn", &s);
    for (int i = 0; i < 5; i++) near(a[i], acos(-1) * i, 1e-12);
    lra_free(a);
    a = at_start(&lra_model_dss, "", 8, "encoder/layer0/ssm/log_dt", &s);
    assert_true(lra_shape_equal(s, LRA_SHAPE(2, 6)));
    for (int i = 0; i < 6; i++) {
        near(a[i], a[6 + i], 0);
        assert_true(a[i] >= log(0.001) && a[i] < log(0.1));
    }
    lra_free(a);
}

TEST(dlr_starts_around_the_circle)
{
    lra_shape s;
    double *a = at_start(&lra_model_dlr, "state=8", 8, "encoder/layer0/ssm/turn", &s);
    for (int i = 0; i < 8; i++) near(a[i], acos(-1) * i / 4, 1e-12);
    lra_free(a);
    a = at_start(&lra_model_dlr, "state=8", 8, "encoder/layer0/ssm/root", &s);
    for (int i = 0; i < 8; i++) assert_true(2 * a[i] * a[i] >= 1e-4 && 2 * a[i] * a[i] < 0.1);
    lra_free(a);
}

/* The shift operator of h3 is initially a plain FIR filter: B = (1, 0, .., 0), so that its kernel
 * is C. */
TEST(h3_starts_with_its_taps)
{
    lra_shape s;
    double *k = at_start(&lra_model_h3, "state=5", 9, "encoder/layer0/shift/kernel", &s);
    double *c = at_start(&lra_model_h3, "state=5", 9, "encoder/layer0/shift/c", &s);
    for (int i = 0; i < 6 * 5; i++) {
        near(k[i], c[i], 1e-15);
        assert_true(fabs(c[i]) <= 1 / sqrt(5));
    }
    lra_free(k);
    lra_free(c);
}

/* ---- what cannot be -------------------------------------------------------------------------- */

static void expect_complaint(const lra_model *m, const char *changes, const char *message)
{
    lra_err e = {{0}};
    lra_network_spec spec = {.vocab = 9, .outputs = 2};
    lra_config *c = model_tiny(m, changes);
    lra_network k = lra_network_build(LRA_F32, LRA_EVAL, m, c, &spec, 1, 7);
    assert_int_equal(lra_graph_check(k.graph, &e), -1);
    assert_string_equal(e.msg, message);
    lra_graph_free(k.graph);
    lra_config_free(c);
}

/* Kernels of mega are the impulse response of its recurrence: h = (1 - p a) h + p beta x, y = gamma
 * h / sqrt(n). */
TEST(mega_averages)
{
    enum { D = 6, N = 3, T = 32 };
    static const char *const name[] = {"delta", "alpha", "beta", "gamma", "kernel"};
    double *v[5];
    lra_shape s;
    for (int i = 0; i < 5; i++) {
        char path[64];
        snprintf(path, sizeof path, "encoder/layer1/ema/%s", name[i]);
        v[i] = at_start(&lra_model_mega, "", T, path, &s);
        assert_true(lra_shape_equal(s, i < 4 ? LRA_SHAPE(2 * D, N) : LRA_SHAPE(2, D, T)));
    }
    for (int r = 0; r < 2 * D; r++) {
        double h[N] = {0};
        for (int l = 0; l < T; l++) {
            double y = 0;
            for (int n = 0; n < N; n++) {
                int at = r * N + n;
                double p = 1 / (1 + exp(-v[0][at])), a = 1 / (1 + exp(-v[1][at]));
                assert_true(fabs(v[2][at] - (n % 2 ? -1 : 1)) < 0.1);
                h[n] = l ? (1 - p * a) * h[n] : p * v[2][at];
                y += v[3][at] * h[n] / sqrt(N);
            }
            /* lag 0 of the kernel for later tokens is included in omega */
            if (r < D) near(v[4][r * T + l], y, 1e-12);
            if (r >= D && l > 0) near(v[4][r * T + l - 1], y, 1e-12);
        }
    }
    for (int i = 0; i < 5; i++) lra_free(v[i]);
}

/* PyTorch has 4 H (D + H + 2) parameters in a layer, and stores the forget bias in two halves. */
TEST(lstm_starts_with_a_forget_bias)
{
    enum { D = 6, H = 5 };
    lra_shape s;
    double most = sqrt(6.0 / (D + 4 * H));
    double *w = at_start(&lra_model_lstm, "directions=2", 8, "encoder/layer0/future/w", &s);
    assert_true(lra_shape_equal(s, LRA_SHAPE(D, 4 * H)));
    for (int i = 0; i < D * 4 * H; i++) assert_true(fabs(w[i]) <= most);
    lra_free(w);
    lra_free(at_start(&lra_model_lstm, "directions=2", 8, "encoder/layer1/past/w", &s));
    assert_true(lra_shape_equal(s, LRA_SHAPE(2 * H, 4 * H)));
    lra_free(at_start(&lra_model_lstm, "", 8, "encoder/layer1/past/u", &s));
    assert_true(lra_shape_equal(s, LRA_SHAPE(H, 4 * H)));
    for (int i = 0; i < 2; i++) {
        w = at_start(&lra_model_lstm, "forget-bias=1", 8,
                     i ? "encoder/layer0/past/b" : "encoder/layer0/past/c", &s);
        assert_true(lra_shape_equal(s, LRA_SHAPE(4 * H)));
        for (int k = 0; k < 4 * H; k++) near(w[k], k / H == 1 ? 0.5 : 0, 0);
        lra_free(w);
    }
}

TEST(bad_settings_are_named)
{
    expect_complaint(&lra_model_gmlp, "kernels=3",
                     "'encoder/layer0/gate': 3 kernels do not divide 8 channels");
    expect_complaint(&lra_model_longconv, "smooth=frequency",
                     "'encoder/layer0/conv': smooth=frequency of 7 taps, expected an even number");
    const lra_model *const stepped[] = {&lra_model_dss, &lra_model_dlr, &lra_model_h3};
    for (int i = 0; i < 3; i++)
        expect_complaint(stepped[i], "dt-min=2 dt-max=1",
                         "'encoder/layer0/ssm': dt-min is above dt-max");
}
