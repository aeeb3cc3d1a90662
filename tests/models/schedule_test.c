/* Learning-rate schedules: warm-up, plateau, final phase; the others at steps whose rates are
 * known. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <string.h>

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

TEST(warms_up_linearly)
{
    lra_schedule_state now = lra_schedule_start();
    near(lra_schedule_rate(&example, &now, 0), 0.01);
    near(lra_schedule_rate(&example, &now, 4), 0.05);
    near(lra_schedule_rate(&example, &now, 10), 0.1);
}

TEST(halves_after_patience)
{
    lra_schedule_state now = lra_schedule_start();
    lra_schedule_epoch(&example, &now, 0, 0.5);
    /* an improvement below the threshold does not count */
    lra_schedule_epoch(&example, &now, 1, 0.5005);
    near(now.plateau, 1);
    lra_schedule_epoch(&example, &now, 2, 0.5);
    near(now.plateau, 0.5);
    lra_schedule_epoch(&example, &now, 3, 0.6);
    assert_int_equal(now.bad, 0);
    near(lra_schedule_rate(&example, &now, 50), 0.05);
}

TEST(falls_to_one_per_cent)
{
    lra_schedule_state now = lra_schedule_start();
    near(lra_schedule_rate(&example, &now, 79), 0.1);
    near(lra_schedule_rate(&example, &now, 80), 0.1 * (1 - 0.99 / 2));
    near(lra_schedule_rate(&example, &now, 99), 0.001);
    lra_schedule_epoch(&example, &now, 8, 0.5);
    for (int i = 0; i < 5; i++) lra_schedule_epoch(&example, &now, 9, 0.1);
    near(now.plateau, 1); /* in the final phase the plateau is not updated */
}

/* Rounding errors do not change the number of epochs: 0.3 of 10 epochs are 3, although (1 - 0.7) 10
 * is rounded down to 2. */
TEST(the_fall_begins_in_time)
{
    for (int last = 1; last < 10; last++) {
        lra_schedule s = example;
        lra_schedule_state now = lra_schedule_start();
        s.warmup = 0, s.final_share = last / 10.0;
        int64_t first = 10 * (10 - last);
        near(lra_schedule_rate(&s, &now, first - 1), 0.1);
        near(lra_schedule_rate(&s, &now, first), 0.1 * (1 - 0.99 / last));
    }
}

/* A warm-up of 1 is one step; a value below 1 is a share of all steps. */
TEST(one_is_a_step)
{
    lra_schedule s = example;
    lra_schedule_state now = lra_schedule_start();
    s.warmup = 1;
    near(lra_schedule_rate(&s, &now, 0), 0.1);
    s.warmup = 0.5;
    near(lra_schedule_rate(&s, &now, 0), 0.1 / 50);
    s.warmup = 2;
    near(lra_schedule_rate(&s, &now, 0), 0.05);
}

/* Twenty steps of warm-up, then 80; the expected rates were computed by hand. */
TEST(functions_of_the_step)
{
    static const struct {
        const lra_schedule_kind *kind;
        double at[6]; /* rates at the steps 9, 20, 40, 60, 99, 200 */
    } known[] = {
        {&lra_schedule_constant, {0.05, 0.1, 0.1, 0.1, 0.1, 0.1}},
        {&lra_schedule_cosine,
         {0.05, 0.1, 0.085355339059327379, 0.05, 0.1 * 0.00038548187963852, 0}},
        {&lra_schedule_linear, {0.05, 0.1, 0.075, 0.05, 0.00125, 0}},
        {&lra_schedule_rsqrt,
         {0.011180339887498949, 0.021821789023599238, 0.015617376188860607, 0.012803687993289598,
          0.01, 0.0070534561585859830}},
        {&lra_schedule_multistep, {0.05, 0.1, 0.05, 0.025, 0.0125, 0.1 / 64}},
    };
    static const int64_t step[6] = {9, 20, 40, 60, 99, 200};
    lra_schedule s = example;
    lra_schedule_state now = lra_schedule_start();
    s.warmup = 20, s.every = 3;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        s.kind = known[i].kind;
        for (int k = 0; k < 6; k++)
            if (fabs(lra_schedule_rate(&s, &now, step[k]) - known[i].at[k]) > 1e-9)
                fail_msg("%s, step %d: %.12g, expected %.12g", s.kind->name, (int)step[k],
                         lra_schedule_rate(&s, &now, step[k]), known[i].at[k]);
        lra_schedule_epoch(&s, &now, 0, 0.5);
        lra_schedule_epoch(&s, &now, 1, 0.1);
        lra_schedule_epoch(&s, &now, 2, 0.1);
        near(now.plateau, 1); /* validation values have no effect on these schedules */
    }
}

TEST(total_and_power)
{
    lra_schedule s = example;
    lra_schedule_state now = lra_schedule_start();
    s.kind = &lra_schedule_linear, s.total = 200; /* the warm-up of 0.1 is then 20 steps */
    near(lra_schedule_rate(&s, &now, 110), 0.05);
    s.power = 2;
    near(lra_schedule_rate(&s, &now, 9), 0.025);
    near(lra_schedule_rate(&s, &now, 19), 0.1);
}

TEST(registry_and_text)
{
    lra_err e = {{0}};
    lra_schedule s = example;
    s.warmup = 20, s.every = 3, s.power = 2;
    for (int i = 0; lra_schedule_at(i); i++) {
        s.kind = lra_schedule_at(i);
        assert_ptr_equal(lra_schedule_find(s.kind->name, &e), s.kind);
        char *text = lra_schedule_text(&s);
        assert_ptr_equal(strstr(text, s.kind->name), text);
        assert_non_null(strstr(text, "; rate 0.1; warm-up 20 steps (power 2); "));
        assert_true(strlen(text) > strlen(s.kind->name) + 45);
        lra_free(text);
    }
    assert_null(lra_schedule_find("cosinus", &e));
    assert_non_null(strstr(e.msg, "did you mean 'cosine'"));
}
