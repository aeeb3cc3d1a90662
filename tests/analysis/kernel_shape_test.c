/* Shapes of kernels, against known answers; modes of state spaces; kernels extracted from a
 * network. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <string.h>

#include "analysis/kernel_shape.h"
#include "analysis/spectrum.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"
#include "kernels/base/os/terminal.h"
#include "kernels/cpu/device.h"
#include "probes/kernels/extract.h"
#include "probes/kernels/layer_measurements.h"
#include "probes/kernels/modes.h"
#include "tests/fixtures/folder.h"
#include "tests/fixtures/tiny_run.h"

static void near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) fail_msg("%.9g, expected %.9g", value, expected);
}

static lra_measurement found[LRA_KERNEL_MEASUREMENTS];
static int n_found;

static void measure(int64_t components, int64_t behind, int64_t ahead, const double *k,
                    int64_t columns, double *p)
{
    n_found = lra_kernel_measurements(&(lra_kernel){components, behind, ahead, k}, columns, NULL,
                                      found, p);
    assert_in_range(n_found, 0, LRA_KERNEL_MEASUREMENTS);
}
static double value(const char *id)
{
    const lra_measurement *f = lra_measurement_find(n_found, found, id);
    if (!f) fail_msg("there is no '%s'", id);
    return f->value;
}

/* ---- one kernel ------------------------------------------------------------------------------ */

TEST(box)
{
    double k[61];
    for (int i = 0; i < 61; i++) k[i] = i >= 15 && i <= 45;
    measure(1, 30, 31, k, 0, NULL);
    near(value("range.mean.p1"), 7.741935, 1e-6);
    near(value("range.mean"), 7.741935, 1e-6);
    near(value("range.q99"), 15, 0);
    near(value("side"), 0, 1e-12);
    near(value("kernel.tv"), 2. / 31, 1e-12);
}

/* Kernel 0.98^d: the energy (square) decays twice as fast as the maxima that are fitted. */
TEST(exponential)
{
    double k[1024], p;
    for (int d = 0; d < 1024; d++) k[d] = pow(0.98, d) * (d % 7 == 3 ? -1 : 1);
    measure(1, 0, 1024, k, 0, &p);
    near(value("decay.tau"), 49.4983, 1e-4);
    near(value("decay.kind"), LRA_DECAY_EXP, 0);
    near(value("range.mean"), 0.9604 / 0.0396, 1e-6);
    near(value("range.mean.p1"), 49, 1e-3);
    near(value("decay.test"), -1, 0);
    assert_true(p > 0 && p < 1e-80); /* the exact p-value is 1/63! */
    near(value("side"), 1, 0);
    near(value("kernel.tail"), pow(0.9604, 512), 1e-9);
    double e[1024];
    lra_kernel_envelope(&(lra_kernel){1, 0, 1024, k}, e);
    near(e[100], pow(0.98, 100), 1e-12);
}

TEST(rough)
{
    double spike[64] = {0}, turns[64], flat[64], zero[64] = {0}, noise[4096];
    lra_rng rng = lra_rng_new(1, 1, 0);
    for (int i = 0; i < 64; i++) turns[i] = i % 2 ? -1 : 1, flat[i] = 1;
    for (int i = 0; i < 4096; i += 2) {
        uint32_t first = lra_rng_u32(&rng);
        lra_normal2(first, lra_rng_u32(&rng), &noise[i], &noise[i + 1]);
    }
    spike[20] = -3;
    measure(1, 0, 64, spike, 0, NULL);
    near(value("kernel.tv"), 2, 1e-12);
    near(value("kernel.smooth"), 2, 1e-12);
    near(value("kernel.centroid"), 0.25, 0.01);
    near(value("kernel.bw95"), 0.475, 0.02);
    near(value("range.q50"), 20, 0);
    near(value("entropy"), 0, 1e-12);
    measure(1, 0, 64, turns, 0, NULL);
    near(value("kernel.smooth"), 4. * 63 / 64, 1e-12);
    assert_true(value("kernel.centroid") > 0.45);
    measure(1, 0, 64, flat, 0, NULL);
    assert_true(value("kernel.centroid") < 0.05);
    near(value("decay.kind"), LRA_DECAY_NONE, 0);
    near(value("range.mean.rel"), 1, 1e-12);
    /* The squared spectrum is 2 + 2 cos(2 pi f), whose mean frequency is 1/4 - 1/pi^2. For a kernel
     * of 2 lags there are few frequencies. */
    memset(flat, 0, sizeof flat), flat[30] = flat[31] = 1;
    measure(1, 0, 64, flat, 0, NULL);
    near(value("kernel.centroid"), 0.25 - 1 / pow(acos(-1), 2), 2e-4);
    measure(1, 0, 2, flat + 30, 0, NULL);
    near(value("kernel.centroid"), 0.125, 1e-12);
    near(value("kernel.bw95"), 0.25, 1e-12);
    measure(1, 0, 4096, noise, 0, NULL);
    near(value("kernel.smooth"), 2, 0.1);
    near(value("kernel.centroid"), 0.25, 0.01);
    near(value("decay.kind"), LRA_DECAY_NONE, 0);
    measure(1, 0, 64, zero, 0, NULL);
    assert_int_equal(n_found, 0);
}

/* A kernel with a vector for each lag: the norms of the vectors count, and for smoothness the norms
 * of their differences. */
TEST(vectors)
{
    /* two components at lags -1, 0, 1: (0,4), (3,0), (0,0) */
    const double k[] = {0, 3, 0, 4, 0, 0};
    measure(2, 1, 2, k, 0, NULL);
    near(value("range.mean.p1"), 4. / 7, 1e-12);
    near(value("side"), -1, 0);
    near(value("kernel.smooth"), (9 + 16 + 9) / 25., 1e-12);
}

/* In an image with rows of 8 pixels, pixels at a lag of 7, 8 or 9 are neighbours. */
TEST(pixels)
{
    double k[32] = {0};
    k[7] = k[8] = k[9] = k[12] = 1;
    measure(1, 0, 32, k, 8, NULL);
    near(value("local.1.px"), 0.75, 1e-12);
    near(value("local.5.px"), 1, 1e-12);
}

TEST(matrices)
{
    enum { T = 64 };
    static double x[T * T];
    double sum = 0, adjusted = 0;
    lra_rng rng = lra_rng_new(2, 1, 0);
    for (int i = 0; i < T; i++)
        for (int j = 0; j < T; j++) x[i * T + j] = sin(i - j) + (i == j);
    lra_toeplitz t = lra_toeplitz_share(T, x);
    near(t.r2, 1, 1e-12);
    near(t.off, 1, 1e-12);
    for (int k = 0; k < 20; k++) {
        for (int i = 0; i < T * T; i += 2) {
            uint32_t first = lra_rng_u32(&rng);
            lra_normal2(first, lra_rng_u32(&rng), &x[i], &x[i + 1]);
        }
        t = lra_toeplitz_share(T, x);
        sum += t.r2 / 20, adjusted += t.adjusted / 20;
    }
    near(sum, 2. / 65, 0.003);
    near(adjusted, 0, 0.003);
}

TEST(ranks)
{
    double eye[25] = {0}, one[40], two[12] = {3, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0}, mixed[9];
    const double a[] = {2, 1, 0, 1, 2, 1, 0, 1, 2};
    for (int i = 0; i < 5; i++) eye[6 * i] = 7;
    for (int i = 0; i < 40; i++) one[i] = (1 + i / 8) * cos(i % 8);
    for (int i = 0; i < 9; i++) mixed[i] = a[i];
    near(lra_effective_rank(5, 5, eye), 5, 1e-9);
    near(lra_effective_rank(5, 8, one), 1, 1e-6);
    double h = -(3. / 7 * log(3. / 7) + 4. / 7 * log(4. / 7));
    near(lra_effective_rank(3, 4, two), exp(h), 1e-9);
    near(lra_effective_rank(4, 3, two), exp(h), 1e-9);
    /* singular values are the eigenvalues of a, which are all positive */
    double s[] = {2 + sqrt(2), 2, 2 - sqrt(2)}, entropy = 0;
    for (int i = 0; i < 3; i++) entropy -= s[i] / 6 * log(s[i] / 6);
    near(lra_effective_rank(3, 3, mixed), exp(entropy), 1e-9);
}

/* ---- modes ----------------------------------------------------------------------------------- */

TEST(energies)
{
    double x[] = {-0.1, 0, -0.1, 0.7, -0.03, 2, -0.5, 3}, w[] = {1, 0, 1, -1, 0.5, 0.2, 2, 1};
    lra_modes one = {.rows = 1, .n = 1, .scale = 1, .x = x, .w = w};
    near(lra_modes_energy(&one, 0, 10) / lra_modes_energy(&one, 0, 0), exp(-2), 1e-12);
    lra_modes two = {.rows = 2, .n = 2, .scale = 2, .x = x, .w = w};
    for (int r = 0; r < 2; r++) {
        double far = 0, all = 0;
        for (int d = 0; d < 2000; d++) {
            double k = lra_modes_value(&two, r, d);
            all += k * k, far += d >= 25 ? k * k : 0;
        }
        near(lra_modes_energy(&two, r, 0), all, 1e-10);
        near(lra_modes_energy(&two, r, 25), far, 1e-10);
    }
    x[0] = 0;
    assert_true(isinf(lra_modes_energy(&two, 0, 25)));
}

/* ---- in a network ---------------------------------------------------------------------------- */

static tiny_run run;
static lra_device device;

/* Opens the weights before and after training of a run of one epoch, and extracts the kernels of
 * its convolutions. */
static void open_run(const char *model, lra_extract *f)
{
    lra_err e = {{0}};
    lra_train_report report;
    if (tiny_run_open(&run, folder, "x=1\n", model, &e) != 0) fail_msg("%s", e.msg);
    run.spec.schedule = (lra_schedule){.rate = 0.02, .epochs = 1, .factor = 0.5, .patience = 9};
    run.spec.checkpoint_every = 1e6;
    OK(lra_train(&run.spec, &device, &report, &e));
    lra_train_report_free(&report);
    OK(lra_extract_open(f, &run.spec, &device, false, &e));
}

/* Lags of the taps of a convolution: tap k of K reads k - (K-1)/2 positions ahead. All taps of
 * causal models look back. Dilation multiplies lags. */
TEST(convolutions)
{
    lra_extract f;
    open_run("layers=2 width=4 hidden=6 kernel=3 dilation=1", &f);
    assert_int_equal(f.n, 2);
    assert_string_equal(f.kernels[1].name, "layer1.conv");
    const lra_extracted_kernels *k = &f.kernels[0];
    assert_true(k->channels == 6 && k->components == 4 && k->behind == 1 && k->ahead == 2);
    lra_loaded_model m;
    lra_err e = {{0}};
    float w[3 * 4 * 6];
    assert_int_equal(lra_load_model(&m, &run.spec, &device, LRA_BEST_WEIGHTS, &e), 0);
    lra_length_graph *v = lra_loaded_graph(&m, 1, 32);
    lra_length_graph_output(v, v->network.output);
    assert_int_equal(lra_loaded_plan(&m, &e), 0);
    OK(lra_params_get(m.params, "encoder/layer0/conv/kernel", w, &e));
    lra_loaded_free(&m);
    /* input channel 2 of output channel 5; the lags are -1, 0, 1 */
    for (int tap = 0; tap < 3; tap++)
        near(k->k[LRA_FOUND_TRAINED][(5 * 4 + 2) * 3 + 2 - tap], w[(tap * 4 + 2) * 6 + 5], 0);
    assert_memory_not_equal(k->k[0], k->k[1], 6 * 4 * 3 * sizeof(double));
    lra_extract_close(&f);
    tiny_run_close(&run);
    open_run("layers=2 width=4 hidden=6 kernel=3 dilation=2 causal=1", &f);
    assert_true(f.kernels[0].behind == 0 && f.kernels[0].ahead == 3);
    assert_true(f.kernels[1].behind == 0 && f.kernels[1].ahead == 5);
    near(f.kernels[1].k[1][1], 0, 0); /* a lag between two dilated taps has the weight 0 */
    lra_extract_close(&f);
    tiny_run_close(&run);
}

/* Both channels start with equal weights at all lags. One grows at lag 4, both grow at lag 9, which
 * is beyond half of the kernel's lags. */
TEST(peak_of_a_layer)
{
    enum { LAGS = 12 };
    static char name[] = "layer0.conv", empty[] = "";
    double before[2 * LAGS], after[2 * LAGS];
    for (int i = 0; i < 2 * LAGS; i++) before[i] = after[i] = 1;
    after[4] = 2, after[9] = after[LAGS + 9] = 3;
    lra_extracted_kernels k = {.name = name,
                               .op = "long_conv",
                               .channels = 2,
                               .components = 1,
                               .ahead = LAGS,
                               .step = 1,
                               .k = {before, after}};
    lra_result of = {.task = empty,
                     .model = empty,
                     .preset = empty,
                     .precision = empty,
                     .fingerprint = empty,
                     .run = empty,
                     .config = empty};
    lra_origin origin = {0};
    lra_probe_result *r = lra_probe_result_new("kernels", &of, &origin);
    lra_layer_measure(&k, 0, r);
    const lra_probe_unit *u = lra_probe_unit_find(r, name);
    near(lra_probe_measurement(u, "shift.peak")->value, 4, 0);
    assert_true(isnan(lra_probe_measurement(u, "shift.peak")->lo));
    lra_probe_result_free(r);
}

static int set_up(void **state)
{
    lra_err e = {{0}};
    lra_terminal_init(LRA_LOG_QUIET);
    return make_folder(state) != 0 || lra_cpu_device(&device, 1, &e) != 0 ? -1 : 0;
}

GROUP(set_up, remove_folder);
