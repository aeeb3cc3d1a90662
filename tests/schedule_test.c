/* The learning-rate schedule: warm-up, plateau, final phase. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "models/training/schedule.h"

static void near(double value, double expected)
{
    if (fabs(value - expected) > 1e-12) fail_msg("%.9f, expected %.9f", value, expected);
}

static const lra_schedule example = {.rate = 0.1,
                                     .warmup = 0.1,
                                     .factor = 0.5,
                                     .patience = 1,
                                     .threshold = 0.001,
                                     .min_rate = 1e-6,
                                     .final_share = 0.2,
                                     .final_rate = 0.01,
                                     .epochs = 10,
                                     .steps_per_epoch = 10};

static void warms_up_linearly(void **state)
{
    (void)state;
    lra_schedule_state now = lra_schedule_start();
    near(lra_schedule_rate(&example, &now, 0), 0.01);
    near(lra_schedule_rate(&example, &now, 4), 0.05);
    near(lra_schedule_rate(&example, &now, 10), 0.1);
}

static void halves_after_patience(void **state)
{
    (void)state;
    lra_schedule_state now = lra_schedule_start();
    lra_schedule_epoch(&example, &now, 0, 0.5);
    lra_schedule_epoch(&example, &now, 1, 0.5005); /* below the threshold: no progress */
    near(now.plateau, 1);
    lra_schedule_epoch(&example, &now, 2, 0.5);
    near(now.plateau, 0.5);
    lra_schedule_epoch(&example, &now, 3, 0.6);
    assert_int_equal(now.bad, 0);
    near(lra_schedule_rate(&example, &now, 50), 0.05);
}

static void falls_to_one_per_cent(void **state)
{
    (void)state;
    lra_schedule_state now = lra_schedule_start();
    near(lra_schedule_rate(&example, &now, 79), 0.1);
    near(lra_schedule_rate(&example, &now, 80), 0.1 * (1 - 0.99 / 2));
    near(lra_schedule_rate(&example, &now, 99), 0.001);
    lra_schedule_epoch(&example, &now, 8, 0.5);
    for (int i = 0; i < 5; i++) lra_schedule_epoch(&example, &now, 9, 0.1);
    near(now.plateau, 1); /* the plateau rests */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(warms_up_linearly),
        cmocka_unit_test(halves_after_patience),
        cmocka_unit_test(falls_to_one_per_cent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
