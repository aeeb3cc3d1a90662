/* Measurements of the kernels of a layer: decay of every channel, and the lag at which mass
 * increased most. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "probes/kernels/layer_measurements.h"

enum { C = 2, LAGS = 64 };

/* Sets exponential kernels of tau 4 and 9 tokens; the initial ones are the same. */
static void fill(double *k)
{
    for (int c = 0; c < C; c++)
        for (int d = 0; d < LAGS; d++) k[c * LAGS + d] = exp(-d / (c ? 9.0 : 4.0));
}

static lra_probe_result *measure(double *initial, double *trained)
{
    lra_result run = {.task = (char *)"t",
                      .model = (char *)"m",
                      .preset = (char *)"p",
                      .precision = (char *)"f32",
                      .fingerprint = (char *)"f",
                      .run = (char *)"r",
                      .config = (char *)""};
    lra_origin origin = {.device = NULL};
    lra_extracted_kernels k = {.name = (char *)"layer0",
                               .op = "long_conv",
                               .channels = C,
                               .components = 1,
                               .ahead = LAGS,
                               .step = 1,
                               .k = {initial, trained}};
    lra_probe_result *r = lra_probe_result_new("kernels", &run, &origin);
    lra_layer_measure(&k, 0, r);
    return r;
}

TEST(decay_of_every_channel_is_stored)
{
    double initial[C * LAGS], trained[C * LAGS];
    fill(initial), fill(trained);
    lra_probe_result *r = measure(initial, trained);
    const lra_probe_array *kind = lra_probe_array_find(r->unit[0], "channel.decay.kind"),
                          *tau = lra_probe_array_find(r->unit[0], "channel.decay.tau"),
                          *before = lra_probe_array_find(r->unit[0], "channel.decay.tau0");
    assert_non_null(kind), assert_non_null(tau), assert_non_null(before);
    assert_int_equal(tau->dims[0], C);
    for (int c = 0; c < C; c++) {
        assert_true(kind->value[c] == LRA_DECAY_EXP);
        assert_true(fabs(tau->value[c] - (c ? 9.0 : 4.0)) < 1e-4);
        assert_true(before->value[c] == tau->value[c]);
    }
    lra_probe_result_free(r);
}

/* An increase is also found in masses that are 0 in single precision. */
TEST(growth_is_found_before_rounding)
{
    double initial[C * LAGS], trained[C * LAGS];
    fill(initial), fill(trained);
    for (int c = 0; c < C; c++) initial[c * LAGS + 5] = 1e-30, trained[c * LAGS + 5] = 1;
    lra_probe_result *r = measure(initial, trained);
    assert_true(lra_probe_array_find(r->unit[0], "mass0")->value[5] == 0);
    assert_true(lra_probe_measurement(r->unit[0], "shift.peak")->value == 5);
    lra_probe_result_free(r);
}
