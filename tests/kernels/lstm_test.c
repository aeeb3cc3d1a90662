/* The recurrence of an LSTM compared with its formula for each example and time step: both
 * directions, different lengths, more examples than a thread processes at a time; any number of
 * threads gives bitwise the same result. */
#include "tests/fixtures/test.h"

#include <math.h>

#include "kernels/base/core/philox.h"
#include "kernels/graph/ops.h"
#include "tests/fixtures/run_once.h"

enum { B = 37, T = 11, H = 5 };
static double x[B][T][4][H], w[H][4][H], wanted[B][T][H], found[B][T][H];
static int32_t length[B];

static double sigmoid(double v)
{
    return 1 / (1 + exp(-v));
}

static void expect_state(int b, bool back)
{
    double h[H] = {0}, c[H] = {0}, next[H];
    for (int step = 0; step < length[b]; step++) {
        int t = back ? length[b] - 1 - step : step;
        for (int j = 0; j < H; j++) {
            double gate[4];
            for (int g = 0; g < 4; g++) {
                gate[g] = x[b][t][g][j];
                for (int k = 0; k < H; k++) gate[g] += h[k] * w[k][g][j];
            }
            c[j] = sigmoid(gate[1]) * c[j] + sigmoid(gate[0]) * tanh(gate[2]);
            next[j] = sigmoid(gate[3]) * tanh(c[j]);
        }
        for (int j = 0; j < H; j++) wanted[b][t][j] = h[j] = next[j];
    }
    for (int t = length[b]; t < T; t++)
        for (int j = 0; j < H; j++) wanted[b][t][j] = 0;
}

static void compute(bool back, int threads)
{
    lra_graph *g = lra_graph_new(LRA_F64, LRA_EVAL);
    lra_tensor *of_x = lra_input(g, "x", LRA_F64, LRA_SHAPE(B, T, 4 * H));
    lra_tensor *of_w = lra_input(g, "w", LRA_F64, LRA_SHAPE(H, 4 * H));
    lra_tensor *n = lra_input(g, "length", LRA_I32, LRA_SHAPE(B));
    lra_tensor *y = lra_lstm(of_x, of_w, n, back);
    run_once(y, threads, 3, (run_input[]){{of_x, x}, {of_w, w}, {n, length}}, found);
}

TEST(states_are_those_of_the_formula)
{
    lra_rng r = lra_rng_new(3, 0, 0);
    for (double *v = &x[0][0][0][0]; v < &x[0][0][0][0] + B * T * 4 * H; v++)
        *v = 4 * lra_rng_u01(&r) - 2;
    for (double *v = &w[0][0][0]; v < &w[0][0][0] + 4 * H * H; v++) *v = 2 * lra_rng_u01(&r) - 1;
    for (int b = 0; b < B; b++) length[b] = 1 + b % T;
    for (int back = 0; back < 2; back++) {
        for (int b = 0; b < B; b++) expect_state(b, back);
        for (int threads = 1; threads < 4; threads++) {
            compute(back, threads);
            for (int i = 0; i < B * T * H; i++)
                if (!(fabs((&found[0][0][0])[i] - (&wanted[0][0][0])[i]) < 1e-13))
                    fail_msg("back %d, %d threads, element %d: %g, expected %g", back, threads, i,
                             (&found[0][0][0])[i], (&wanted[0][0][0])[i]);
        }
    }
}

TEST(wrong_shapes_are_named)
{
    lra_err e = {{0}};
    lra_graph *g = lra_graph_new(LRA_F32, LRA_EVAL);
    lra_lstm(lra_input(g, "x", LRA_F32, LRA_SHAPE(2, 3, 7)),
             lra_input(g, "w", LRA_F32, LRA_SHAPE(2, 8)), NULL, false);
    assert_int_equal(lra_graph_check(g, &e), -1);
    assert_string_equal(e.msg, "lstm: x must be (B,T,4H): four gates of every channel");
    lra_graph_free(g);
    g = lra_graph_new(LRA_F32, LRA_EVAL);
    lra_lstm(lra_input(g, "x", LRA_F32, LRA_SHAPE(2, 3, 8)),
             lra_input(g, "w", LRA_F32, LRA_SHAPE(2, 6)), NULL, false);
    assert_int_equal(lra_graph_check(g, &e), -1);
    assert_string_equal(e.msg, "lstm: w has shape (2,6), expected (2,8)");
    lra_graph_free(g);
}
