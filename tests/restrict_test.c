/* Restricted inputs: what a change does to a sequence, and that a model is asked what it says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/terminal.h"
#include "kernels/cpu/device.h"
#include "probes/influence/restrict.h"
#include "tests/folder.h"
#include "tests/tiny_run.h"

enum { N = 23 };
static int32_t from[N], other[N], to[N];

static void fill(void)
{
    for (int i = 0; i < N; i++) from[i] = i, other[i] = 100 + i, to[i] = -1;
}

static int64_t apply(lra_restriction kind, int64_t w, int64_t draw, int64_t n, int64_t other_n)
{
    const lra_change c = {.kind = kind, .w = w, .draw = draw, .seed = 5, .row = 3};
    fill();
    return lra_change_apply(&c, n, sizeof *from, from, other_n ? other : NULL, other_n, to);
}

/* First, last, middle and random windows of consecutive tokens. */
static void windows_are_kept(void **state)
{
    (void)state;
    bool seen[N] = {false};
    for (int64_t draw = 0; draw < 11; draw++) {
        assert_int_equal(apply(LRA_KEEP_WINDOW, 5, draw, N, 0), 5);
        for (int i = 0; i < 5; i++) assert_int_equal(to[i], to[0] + i);
        if (draw == 0) assert_int_equal(to[0], 0);
        if (draw == 1) assert_int_equal(to[4], N - 1);
        if (draw == 2) assert_int_equal(to[0], 9);
        seen[to[0]] = true;
    }
    int starts = 0;
    for (int i = 0; i < N; i++) starts += seen[i];
    assert_true(starts > 5);
    assert_int_equal(apply(LRA_KEEP_WINDOW, 5, 11, N, 0), 0);
    assert_int_equal(apply(LRA_KEEP_WINDOW, 64, 0, N, 0), N);
    assert_memory_equal(to, from, sizeof from);
    assert_int_equal(apply(LRA_KEEP_WINDOW, 64, 1, N, 0), 0);
}

/* Around the window stand another row's tokens, and own ones where that is shorter. */
static void what_is_gone_is_swapped(void **state)
{
    (void)state;
    assert_int_equal(apply(LRA_SWAP_WINDOW, 4, 2, N, 20), N);
    for (int i = 0; i < N; i++)
        assert_int_equal(to[i], (i >= 9 && i < 13) || i >= 20 ? i : 100 + i);
}

/* Around the window stands token 0. */
static void what_is_gone_is_a_token(void **state)
{
    (void)state;
    assert_int_equal(apply(LRA_TOKEN_WINDOW, 4, 2, N, 0), N);
    for (int i = 0; i < N; i++) assert_int_equal(to[i], i >= 9 && i < 13 ? i : 0);
    assert_int_equal(apply(LRA_TOKEN_WINDOW, 64, 1, N, 0), 0);
}

static void bags_are_side_by_side(void **state)
{
    (void)state;
    int next = 0;
    for (int64_t draw = 0; draw < 5; draw++) {
        int64_t n = apply(LRA_BAG, 5, draw, N, 0);
        assert_int_equal(n, draw < 4 ? 5 : 3);
        for (int i = 0; i < n; i++) assert_int_equal(to[i], next++);
    }
    assert_int_equal(next, N);
    assert_int_equal(apply(LRA_BAG, 5, 5, N, 0), 0);
}

static void orders_are_lost(void **state)
{
    (void)state;
    for (int64_t w = 1; w <= 32; w *= 2) {
        int sum = 0, steps = 0, moved = 0;
        assert_int_equal(apply(LRA_ORDER_IN, w, 0, N, 0), N);
        for (int i = 0; i < N; i++) { /* nothing leaves its window */
            sum += to[i];
            assert_true(to[i] - i < w && i - to[i] < w);
            moved += to[i] != i;
        }
        assert_int_equal(sum, N * (N - 1) / 2);
        assert_int_equal(moved > 0, w > 1);
        assert_int_equal(apply(LRA_ORDER_OUT, w, 0, N, 0), N);
        sum = 0;
        for (int i = 0; i < N; i++) sum += to[i];
        for (int i = 1; i < N; i++) steps += to[i] != to[i - 1] + 1;
        assert_int_equal(sum, N * (N - 1) / 2);
        assert_true(steps <= (N + w - 1) / w + 1); /* seams between windows alone */
        if (w < 8) assert_true(steps > 0);
    }
}

/* ---- a model ------------------------------------------------------------------------------------------ */

/* Widths that change nothing give the answers of the whole; narrow ones do not, and every draw is counted. */
static void a_model_is_asked(void **state)
{
    (void)state;
    lra_err e = {{0}};
    tiny_run run;
    lra_device device;
    if (lra_cpu_device(&device, 1, &e) != 0 ||
        tiny_run_open(&run, folder, "x=1\n", "layers=2 width=4 hidden=6 kernel=5", &e) != 0)
        fail_msg("%s", e.msg);
    lra_train_report report;
    run.spec.schedule = (lra_schedule){.rate = 0.02, .epochs = 1, .factor = 0.5, .patience = 9};
    run.spec.checkpoint_every = 1e6;
    if (lra_train(&run.spec, &device, &report, &e) != 0) fail_msg("%s", e.msg);
    const lra_restriction kinds[] = {LRA_KEEP_WINDOW, LRA_SWAP_WINDOW, LRA_BAG, LRA_ORDER_IN,
                                     LRA_TOKEN_WINDOW};
    for (int k = 0; k < 5; k++) {
        lra_restricted r;
        if (lra_restrict_measure(&run.spec, &device, kinds[k], 0, NULL, &r, &e) != 0)
            fail_msg("%s", e.msg);
        assert_int_equal(r.n, report.n_rows);
        bool order = kinds[k] == LRA_ORDER_IN;
        int same = order ? 0 : r.n_points - 1, changed = order ? 2 : 0, differ = 0;
        for (int64_t i = 0; i < r.n; i++) {
            const lra_sums *whole = &r.row[same * r.n + i], *part = &r.row[changed * r.n + i];
            assert_true(r.full[i].loss == report.row[i].loss);
            assert_int_equal(whole->n, 1);
            assert_true(whole->loss == r.full[i].loss);
            assert_int_equal(part->n, kinds[k] == LRA_KEEP_WINDOW || kinds[k] == LRA_SWAP_WINDOW ||
                                              kinds[k] == LRA_TOKEN_WINDOW
                                          ? 11
                                          : 1);
            differ += part->loss != r.full[i].loss;
        }
        assert_true(differ > 0);
        lra_restricted_free(&r);
    }
    lra_train_report_free(&report);
    tiny_run_close(&run);
}

static int set_up(void **state)
{
    lra_terminal_init(LRA_LOG_QUIET, true);
    return make_folder(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_are_kept),        cmocka_unit_test(what_is_gone_is_swapped),
        cmocka_unit_test(what_is_gone_is_a_token), cmocka_unit_test(bags_are_side_by_side),
        cmocka_unit_test(orders_are_lost),         cmocka_unit_test(a_model_is_asked),
    };
    return cmocka_run_group_tests_name("restrict", tests, set_up, remove_folder);
}
