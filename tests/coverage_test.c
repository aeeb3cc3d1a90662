/* labels: slow timeout: 300 */
/* Coverage: 95 % intervals hold the true value in 95 % +- 1.5 % of 2,000 simulated data sets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "analysis/ladder.h"
#include "kernels/base/mem.h"
#include "kernels/base/philox.h"

enum { SETS = 2000 };

static void check(const char *what, int held)
{
    double share = (double)held / SETS;
    print_message("%s: %.2f %%\n", what, 100 * share);
    assert_true(fabs(share - 0.95) < 0.015);
}

static bool holds(lra_estimate e, double truth)
{
    return e.lo <= truth && truth <= e.hi;
}

static void wilson(void **state)
{
    (void)state;
    int held = 0;
    for (int s = 0; s < SETS; s++) {
        lra_rng r = lra_rng_new(1, 1, (uint64_t)s);
        int k = 0;
        for (int i = 0; i < 400; i++) k += lra_rng_u01(&r) < 0.63;
        held += holds(lra_wilson(k, 400, 0.95), 0.63);
    }
    check("Wilson, 400 examples at 63 %", held);
}

static void t_interval(void **state)
{
    (void)state;
    int held = 0;
    for (int s = 0; s < SETS; s++) {
        lra_rng r = lra_rng_new(2, 1, (uint64_t)s);
        double x[4];
        for (int i = 0; i < 4; i += 2) {
            uint32_t first = lra_rng_u32(&r);
            lra_normal2(first, lra_rng_u32(&r), &x[i], &x[i + 1]);
        }
        held += holds(lra_t_interval(3, x, 0.95), 0);
    }
    check("t over 3 seeds", held);
}

static void words(uint64_t key, uint64_t replicate, int64_t n, uint32_t *out)
{
    lra_rng r = lra_rng_new(key, 9, replicate);
    for (int64_t i = 0; i < n; i++) out[i] = lra_rng_u32(&r);
}

/* Two rungs on the same examples: the wider is right where the narrower is, and on 20 % of the rest. */
static void paired_difference(void **state)
{
    (void)state;
    enum { N = 300 };
    int held = 0, held_difference = 0;
    static uint8_t right[2][N];
    for (int s = 0; s < SETS; s++) {
        lra_rng r = lra_rng_new(3, 1, (uint64_t)s);
        for (int i = 0; i < N; i++) {
            right[0][i] = lra_rng_u01(&r) < 0.5;
            right[1][i] = right[0][i] || lra_rng_u01(&r) < 0.2;
        }
        lra_ladder_data d = {.n_rungs = 2,
                             .n_seeds = 2,
                             .n = N,
                             .T = 64,
                             .chance = 0.1,
                             .reference = 0.9,
                             .n_replicates = 300,
                             .key = (uint64_t)s,
                             .words = words};
        for (int k = 0; k < 2; k++)
            d.rung[k] = (lra_rung){
                .kernel = 3 + 4 * k, .reach = 4 << k, .correct = {right[k], right[k]}};
        d.n_seeds = 1; /* one seed: the difference is bootstrapped over examples */
        lra_ladder l;
        assert_int_equal(lra_ladder_compute(&d, &l), 0);
        held_difference += holds(l.widest_minus_narrowest, 0.1);
        held += holds(l.row[1].accuracy, 0.6);
    }
    check("paired bootstrap of a difference", held_difference);
    check("accuracy of a rung, one seed", held);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wilson),
        cmocka_unit_test(t_interval),
        cmocka_unit_test(paired_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
