/* Effective attention of matrix states (probes/shared/matrix_state.c): every row, with both kinds
 * of decay, with and without correction, in one direction and in both, equals the answer of the
 * recurrence to unit vectors, computed in double. The op's output is the matrix times the values.
 */
#include "tests/fixtures/test.h"

#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"
#include "kernels/cpu/device.h"
#include "kernels/graph/op.h"
#include "models/matrix_state_layer.h"
#include "probes/shared/mixing_matrix.h"

enum { B = 2, T = 9, H = 2, K = 3, V = 2, ROWS = B * T * H, ARRAYS = 7 };
enum { QUERY, KEY, VALUE, DECAY, CORRECT, READ, LENGTH };

typedef struct {
    int64_t decay; /* width of the decay: 0 (none), 1 or K */
    bool corrects, both;
} kind;

static float data[READ + 1][ROWS * K];
static const int32_t length[B] = {T, 6};

static void draw(void)
{
    lra_rng r = lra_rng_new(7, 1, 0);
    for (int a = QUERY; a <= READ; a++)
        for (int i = 0; i < ROWS * K; i++) {
            double u = lra_rng_u01(&r);
            data[a][i] = (float)(a == DECAY ? 0.3 + 0.7 * u : 1.6 * u - 0.8);
        }
}

static double at(int array, int64_t width, int b, int t, int h, int64_t c)
{
    return (double)data[array][((b * T + t) * H + h) * width + c];
}

/* Adds the answer at token i to a value of 1 at token j: one row s (K) of the state, from token
 * `from` in steps of `step`. */
static double answer(const kind *k, int b, int h, int i, int j, int from, int step)
{
    double s[K] = {0};
    for (int t = from;; t += step) {
        double share = 0, y = 0;
        for (int c = 0; c < K && k->corrects; c++) share += s[c] * at(CORRECT, K, b, t, h, c);
        for (int c = 0; c < K; c++) {
            double w = k->decay ? at(DECAY, k->decay, b, t, h, k->decay == 1 ? 0 : c) : 1;
            s[c] = w * s[c] + (t == j) * at(KEY, K, b, t, h, c);
            if (k->corrects) s[c] -= share * at(READ, K, b, t, h, c);
            y += s[c] * at(QUERY, K, b, t, h, c);
        }
        if (t == i) return y;
    }
}

static double expected(const kind *k, int b, int h, int i, int j)
{
    double sum = j <= i ? answer(k, b, h, i, j, 0, 1) : 0;
    return k->both && j >= i ? sum + answer(k, b, h, i, j, length[b] - 1, -1) : sum;
}

typedef struct {
    lra_graph *g;
    lra_tensor *in[ARRAYS], *y;
    lra_matrix matrix;
    lra_device device;
    lra_params *params;
    lra_space *space;
    lra_plan *plan;
} machine;

static void build(machine *m, const kind *k)
{
    static const char *const name[] = {"q", "k", "v", "w", "a", "b"};
    const int64_t width[] = {K, K, V, k->decay, k->corrects ? K : 0, k->corrects ? K : 0};
    memset(m, 0, sizeof *m);
    m->g = lra_graph_new(LRA_F32, LRA_EVAL);
    for (int a = QUERY; a <= READ; a++)
        if (width[a]) m->in[a] = lra_input(m->g, name[a], LRA_F32, LRA_SHAPE(B, T, H, width[a]));
    m->in[LENGTH] = lra_input(m->g, "length", LRA_I32, LRA_SHAPE(B));
    const lra_build layer = {
        .graph = m->g, .length = m->in[LENGTH], .B = B, .T = T, .T_max = T, .causal = !k->both};
    const lra_matrix_state_spec spec = {.query = m->in[QUERY],
                                        .key = m->in[KEY],
                                        .value = m->in[VALUE],
                                        .decay = m->in[DECAY],
                                        .correct = m->in[CORRECT],
                                        .read = m->in[READ]};
    m->y = lra_state_mix(&layer, &spec);
    m->matrix = lra_matrix_at(m->y, B, T);
    assert_string_equal(m->matrix.family->name, "effective");
}

static void run(machine *m)
{
    lra_err e = {{0}};
    lra_tensor *out[1 + LRA_MATRIX_ARRAYS] = {m->y};
    int n = 1;
    for (int i = 0; i < LRA_MATRIX_ARRAYS && m->matrix.array[i]; i++) out[n++] = m->matrix.array[i];
    OK(lra_cpu_device(&m->device, 1, &e));
    m->params = lra_params_new(&m->device, 1);
    m->space = lra_space_new(&m->device);
    m->plan = lra_plan_new(m->g, m->params, m->space, n, out, &e);
    NOT_NULL(m->plan);
    for (int a = QUERY; a <= READ; a++)
        if (m->in[a]) OK(lra_set(m->plan, m->in[a], data[a], &e));
    OK(lra_set(m->plan, m->in[LENGTH], length, &e));
    OK(lra_run(m->plan, &e));
}

static void close_machine(machine *m)
{
    lra_plan_free(m->plan);
    lra_space_free(m->space);
    lra_params_free(m->params);
    lra_graph_free(m->g);
}

/* Compares the rows of a head with unit vectors, and their products with the values with y. */
static void check_head(const kind *k, const machine *m, const lra_matrix_values *v, const float *y,
                       int b, int h)
{
    double row[T];
    for (int i = 0; i < length[b]; i++) {
        double sum[V] = {0};
        m->matrix.family->row(v, b, h, i, length[b], row);
        for (int j = 0; j < length[b]; j++) {
            if (!k->both && j > i) {
                assert_true(isnan(row[j]));
                continue;
            }
            double wanted = expected(k, b, h, i, j);
            if (!(fabs(row[j] - wanted) < 1e-6))
                fail_msg("decay %d, corrects %d, both %d: row %d, column %d: %.9g, expected %.9g",
                         (int)k->decay, k->corrects, k->both, i, j, row[j], wanted);
            for (int c = 0; c < V; c++) sum[c] += row[j] * at(VALUE, V, b, j, h, c);
        }
        for (int c = 0; c < V; c++)
            assert_true(fabs((double)y[((b * T + i) * H + h) * V + c] - sum[c]) < 1e-5);
    }
}

TEST(rows_are_the_answers_to_unit_vectors)
{
    draw();
    for (int n = 0; n < 12; n++) {
        const kind k = {n / 4 == 0 ? 0 : n / 4 == 1 ? 1 : K, n & 1, n & 2};
        lra_err e = {{0}};
        machine m;
        build(&m, &k);
        run(&m);
        float y[ROWS * V];
        lra_matrix_values v = {.of = &m.matrix};
        OK(lra_get(m.plan, m.y, y, &e));
        for (int i = 0; i < LRA_MATRIX_ARRAYS && m.matrix.array[i]; i++) {
            v.number[i] = lra_alloc_array((size_t)lra_elements(m.matrix.array[i]), sizeof(float));
            OK(lra_get(m.plan, m.matrix.array[i], v.number[i], &e));
        }
        for (int b = 0; b < B; b++)
            for (int h = 0; h < H; h++) check_head(&k, &m, &v, y, b, h);
        lra_matrix_free(&v);
        close_machine(&m);
    }
}
