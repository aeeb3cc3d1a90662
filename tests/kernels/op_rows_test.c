/* Known answers of operations on rows and axes: flip, cumsum, row_max, argmax, argsort, one_hot,
 * rms; broadcasting forward and backward. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <string.h>

#include "kernels/graph/op.h"
#include "tests/fixtures/run_once.h"

static lra_graph *g;
static run_input in[2];
static int n_in;

static void begin(void)
{
    g = lra_graph_new(LRA_F64, LRA_EVAL);
    n_in = 0;
}
static lra_tensor *input(lra_type t, lra_shape s, const void *values)
{
    lra_tensor *x = lra_input(g, n_in ? "b" : "a", t, s);
    in[n_in++] = (run_input){x, values};
    return x;
}

static void compute(lra_tensor *y, void *to)
{
    run_once(y, 1, n_in, in, to);
}

static void expect(const double *got, const double *want, int n)
{
    for (int i = 0; i < n; i++)
        if (!(fabs(got[i] - want[i]) < 1e-14))
            fail_msg("element %d is %.17g, expected %.17g", i, got[i], want[i]);
}
static void expect_places(const int32_t *got, const int32_t *want, int n)
{
    for (int i = 0; i < n; i++)
        if (got[i] != want[i]) fail_msg("element %d is %d, expected %d", i, got[i], want[i]);
}

static const double six[] = {1, 2, 3, 4, 5, 6}; /* an array of shape (2, 3) */

TEST(axes)
{
    double y[6];
    begin(), compute(lra_flip(input(LRA_F64, LRA_SHAPE(2, 3), six), 1), y);
    expect(y, (const double[]){3, 2, 1, 6, 5, 4}, 6);
    begin(), compute(lra_flip(input(LRA_F64, LRA_SHAPE(2, 3), six), 0), y);
    expect(y, (const double[]){4, 5, 6, 1, 2, 3}, 6);
    begin(), compute(lra_cumsum(input(LRA_F64, LRA_SHAPE(2, 3), six), 1, false), y);
    expect(y, (const double[]){1, 3, 6, 4, 9, 15}, 6);
    begin(), compute(lra_cumsum(input(LRA_F64, LRA_SHAPE(2, 3), six), 1, true), y);
    expect(y, (const double[]){6, 5, 3, 15, 11, 6}, 6);
    begin(), compute(lra_cumsum(input(LRA_F64, LRA_SHAPE(2, 3), six), 0, false), y);
    expect(y, (const double[]){1, 2, 3, 5, 7, 9}, 6);
}

TEST(rows)
{
    static const double x[] = {2, 7, 7, -1, 0, 0, 0, 0}; /* an array of shape (2, 4) */
    double y[8];
    int32_t place[8];
    begin(), compute(lra_row_max(input(LRA_F64, LRA_SHAPE(2, 4), x)), y);
    expect(y, (const double[]){7, 0}, 2);
    begin(), compute(lra_argmax(input(LRA_F64, LRA_SHAPE(2, 4), x)), place);
    expect_places(place, (const int32_t[]){1, 0}, 2);
    begin(), compute(lra_argsort(input(LRA_F64, LRA_SHAPE(2, 4), x)), place);
    expect_places(place, (const int32_t[]){3, 0, 1, 2, 0, 1, 2, 3}, 8);
    static const int32_t bucket[] = {1, 0, 1, 0, 2};
    begin(), compute(lra_argsort(input(LRA_I32, LRA_SHAPE(1, 5), bucket)), place);
    expect_places(place, (const int32_t[]){1, 3, 0, 2, 4}, 5);
    static const int32_t class[] = {2, -1, 0, 3};
    double hot[12];
    begin(), compute(lra_one_hot(input(LRA_I32, LRA_SHAPE(4), class), 3), hot);
    expect(hot, (const double[]){0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0}, 12);
}

TEST(both_ways)
{
    static const double column[] = {1, 10}, row[] = {2, 3, 4};
    double y[6];
    begin();
    lra_tensor *a = input(LRA_F64, LRA_SHAPE(2, 1), column);
    compute(lra_mul(a, input(LRA_F64, LRA_SHAPE(1, 3), row)), y);
    expect(y, (const double[]){2, 3, 4, 20, 30, 40}, 6);
    begin();
    a = input(LRA_F64, LRA_SHAPE(2, 1), column);
    compute(lra_div(a, input(LRA_F64, LRA_SHAPE(3), row)), y);
    expect(y, (const double[]){0.5, 1.0 / 3, 0.25, 5, 10.0 / 3, 2.5}, 6);

    lra_err e = {{0}};
    begin();
    a = input(LRA_F64, LRA_SHAPE(2, 3), six);
    lra_add(a, input(LRA_F64, LRA_SHAPE(2), column));
    assert_true(lra_graph_check(g, &e) != 0);
    assert_non_null(strstr(e.msg, "shapes (2,3) and (2) do not broadcast"));
    lra_graph_free(g);
}

TEST(norms)
{
    static const double x[] = {3, 4}, gain[] = {2, -1};
    double y[2], r = 1 / sqrt(12.5 + 1e-5);
    begin(), compute(lra_rms_norm(input(LRA_F64, LRA_SHAPE(1, 2), x), NULL, 0), y);
    expect(y, (const double[]){3 * r, 4 * r}, 2);
    begin();
    lra_tensor *a = input(LRA_F64, LRA_SHAPE(1, 2), x);
    compute(lra_rms_norm(a, input(LRA_F64, LRA_SHAPE(2), gain), 0), y);
    expect(y, (const double[]){6 * r, -4 * r}, 2);
    begin();
    a = input(LRA_F64, LRA_SHAPE(1, 2), x);
    compute(lra_rms_norm(a, input(LRA_F64, (lra_shape){0}, gain), 0), y);
    expect(y, (const double[]){6 * r, 8 * r}, 2);
}
