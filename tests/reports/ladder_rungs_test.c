/* Which results are rungs of one ladder: matched and unmatched ones, axes other than the kernel
 * size, runs that several ladders share. */
#include "tests/fixtures/test.h"

#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/ladder/ladder_rungs.h"

#define MATCHED "axis=kernel default=5 match=params key=hidden value=%d reference=64 count=1000"

static lra_result *result(int kernel, int hidden, int dilation, int parameters, char *ladder)
{
    lra_result *r = lra_alloc(sizeof *r);
    r->task = lra_copy_text("listops"), r->model = lra_copy_text("resconv");
    r->preset = lra_copy_text("quick"), r->precision = lra_copy_text("f32");
    r->fingerprint = lra_copy_text("0"), r->run = lra_format("%d-%d-%d", kernel, hidden, dilation);
    /* settings that differ from the defaults, which are kernel 5 and dilation 1 */
    lra_text t = {0};
    if (dilation != 1) lra_text_add(&t, "model.dilation=%d\n", dilation);
    lra_text_add(&t, "model.hidden=%d\n", hidden);
    if (kernel != 5) lra_text_add(&t, "model.kernel=%d\n", kernel);
    lra_text_add(&t, "seed=0\ntask=listops\n");
    r->config = t.s, r->ladder = ladder ? ladder : lra_copy_text("");
    r->kernel = kernel, r->training.parameters = parameters;
    return r;
}

/* Returns a description such as "kernel none: 3 5 | dilation none: 1 2". */
static char *ladders(lra_result **list, int n)
{
    lra_err e = {{0}};
    lra_ladder_member *m;
    lra_text t = {0};
    lra_text_add(&t, "%s", "");
    int count = lra_ladder_members(list, n, &m, &e);
    if (count < 0) return lra_copy_text(e.msg);
    for (int i = 0; i < count; i++) {
        if (i == 0 || strcmp(m[i].identity, m[i - 1].identity) != 0)
            lra_text_add(&t, "%s%s %s:", i ? " | " : "", m[i].kind.axis, m[i].kind.match);
        lra_text_add(&t, " %d", (int)m[i].value);
    }
    lra_ladder_members_free(m, count);
    return t.s;
}

static void expect(lra_result **list, int n, const char *want)
{
    char *text = ladders(list, n);
    assert_string_equal(text, want);
    lra_free(text);
    for (int i = 0; i < n; i++) lra_result_free(list[i]);
}

TEST(matched_rungs_stand_apart)
{
    /* K = 9 is the reference, which was trained by the ladder without matching; K = 3 with width
     * 170 is the rung whose width was solved for. */
    lra_result *list[] = {result(3, 64, 1, 400, NULL), result(9, 64, 1, 1000, NULL),
                          result(3, 170, 1, 1004, lra_format(MATCHED, 170))};
    expect(list, 3, "kernel none: 3 9 | kernel params: 3 9");
    /* A run with about the same number of parameters is not a rung unless its width was solved
     * for. */
    lra_result *near[] = {result(3, 64, 1, 400, NULL), result(9, 64, 1, 1000, NULL),
                          result(7, 64, 1, 999, NULL),
                          result(3, 170, 1, 1004, lra_format(MATCHED, 170))};
    expect(near, 4, "kernel none: 3 7 9 | kernel params: 3 9");
}

/* If matching parameters and matching FLOPs give the same width, the run is trained once and is a
 * rung of both ladders. */
TEST(a_run_is_a_rung_of_two_matches)
{
    static const char flops[] =
        "axis=kernel default=5 match=flops key=hidden value=%d reference=64 count=5000";
    lra_result *list[] = {result(9, 64, 1, 1000, NULL),
                          result(3, 172, 1, 1012, lra_format(flops, 172)),
                          result(7, 90, 1, 995, lra_format(flops, 90)),
                          result(3, 170, 1, 1004, lra_format(MATCHED, 170)),
                          result(11, 50, 1, 900, lra_format(flops, 50))};
    for (int i = 0; i < 5; i++) list[i]->training.step_flops = i == 3 ? 4960 : 5000;
    expect(list, 5, "kernel flops: 3 7 9 11 | kernel params: 3 7 9");
}

TEST(rungs_over_another_key)
{
    static const char over[] = "axis=dilation default=1";
    lra_result *list[] = {result(5, 64, 1, 400, NULL), result(9, 64, 1, 1000, NULL),
                          result(5, 64, 4, 400, lra_copy_text(over)),
                          result(5, 64, 2, 400, lra_copy_text(over))};
    expect(list, 4, "kernel none: 5 9 | dilation none: 1 2 4");
    lra_result *alone[] = {result(5, 64, 1, 400, NULL), result(5, 64, 2, 400, lra_copy_text(over))};
    expect(alone, 2, "dilation none: 1 2");
    /* No ladder over dilation was requested, so there are two ladders of kernels. */
    lra_result *none[] = {result(5, 64, 1, 400, NULL), result(9, 64, 2, 1000, NULL)};
    expect(none, 2, "kernel none: 9 | kernel none: 5");
}

/* A key `kernel` that does not limit the reach makes a ladder only if the rungs were trained as
 * one. */
TEST(the_kernel_of_another_model)
{
    lra_result *unbounded[] = {result(4, 64, 1, 400, NULL), result(8, 64, 1, 400, NULL)};
    for (int i = 0; i < 2; i++) unbounded[i]->reach = -1;
    expect(unbounded, 2, "");
    static const char over[] = "axis=kernel default=5";
    lra_result *asked[] = {result(4, 64, 1, 400, lra_copy_text(over)),
                           result(5, 64, 1, 400, lra_copy_text(over)), result(8, 64, 1, 400, NULL)};
    for (int i = 0; i < 3; i++) asked[i]->reach = -1, asked[i]->kernel = 0;
    expect(asked, 3, "kernel none: 4 5");
}

TEST(what_stands_in_a_file_is_checked)
{
    static const char *const bad[] = {"axis=../x", "default=1", "axis=kernel match=params key=h",
                                      "axis=kernel match=params count=3", "axis=\x1b[1m"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        lra_result *r = result(5, 64, 1, 400, lra_copy_text(bad[i]));
        lra_err e = {{0}};
        lra_ladder_member *m;
        assert_int_equal(lra_ladder_members(&r, 1, &m, &e), -1);
        assert_non_null(strstr(e.msg, "expected keys axis and match"));
        lra_result_free(r);
    }
}

TEST(names_and_sizes)
{
    char text[48];
    lra_ladder_kind k = {.axis = "kernel", .match = "params", .key = "hidden", .count = 1000};
    assert_string_equal(lra_ladder_rung_name(&k, 5, text), "K = 5");
    char *title = lra_ladder_kind_text(&k);
    assert_string_equal(title, ", hidden chosen for 1000 parameters");
    lra_free(title);
    lra_result *r = result(3, 170, 1, 1004, lra_format(MATCHED, 170));
    assert_int_equal(lra_ladder_size(&k, r), 170);
    assert_int_equal(lra_ladder_setting(r, "kernel"), 3);
    assert_int_equal(lra_ladder_setting(r, "layers"), -1);
    lra_result_free(r);
}
