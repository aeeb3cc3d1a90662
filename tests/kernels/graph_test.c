/* Random graphs: results are bitwise equal whether nodes are shared, buffers are reused in place or
 * poisoned, work is split over threads, nodes are fused, or values are recomputed. A gradient of a
 * random graph agrees with central differences. Messages for graphs that are built incorrectly. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"
#include "kernels/cpu/device.h"
#include "kernels/graph/graph_impl.h"
#include "tests/fixtures/random_graph.h"

enum { GRAPHS = 60, N_INPUTS = 3 };

typedef struct {
    lra_graph *g;
    lra_tensor *in[N_INPUTS], *grad[N_INPUTS], *out, *loss;
} dag;

static lra_tensor *flat_cast(lra_graph *g, lra_tensor *x)
{
    return lra_cast(x, lra_elem(g));
}

static dag build_keeping(lra_type type, uint64_t seed, lra_keep keep)
{
    dag d = {.g = lra_graph_new(type, LRA_TRAIN)};
    lra_graph_keep(d.g, keep);
    lra_rng r = lra_rng_new(seed, 77, 0);
    lra_tensor *known[N_INPUTS + NODES];
    int n = 0;
    for (; n < N_INPUTS; n++) {
        char name[8] = {'x', (char)('0' + n), 0};
        d.in[n] = lra_input(d.g, name, lra_real(d.g), LRA_SHAPE(ROWS, WIDTH));
        known[n] = flat_cast(d.g, d.in[n]);
    }
    for (int i = 0; i < NODES; i++, n++) {
        lra_push(d.g, "node%d", i);
        known[n] = random_node(&r, known, n);
        lra_pop(d.g);
    }
    d.out = known[n - 1];
    lra_tensor *target = lra_zeros(d.g, lra_elem(d.g), LRA_SHAPE(ROWS, WIDTH));
    d.loss = lra_mse(d.out, target);
    lra_grad(d.loss, NULL, N_INPUTS, d.in, d.grad);
    return d;
}

static dag build(lra_type type, uint64_t seed)
{
    return build_keeping(type, seed, LRA_KEEP_ALL);
}

/* Sets the inputs; one element is shifted for a central difference. */
static void fill(uint64_t seed, double *x)
{
    lra_rng r = lra_rng_new(seed, 78, 0);
    for (int i = 0; i < N_INPUTS * SIZE; i++) x[i] = 2 * lra_rng_u01(&r) - 1;
}

typedef struct {
    bool inplace, poison;
    int threads;
    bool fused;
} way;

static void set_inputs(lra_plan *plan, const dag *d, const double *x)
{
    lra_err e;
    for (int i = 0; i < N_INPUTS; i++) {
        float single[SIZE];
        for (int k = 0; k < SIZE; k++) single[k] = (float)x[i * SIZE + k];
        const void *host = lra_graph_type(d->g) == LRA_F64 ? (const void *)(x + i * SIZE) : single;
        assert_int_equal(lra_set(plan, d->in[i], host, &e), 0);
    }
}

/* Runs a graph in one way; the result is loss, result and gradients as the bytes of lra_get(). */
static void run(const dag *d, way w, const double *x, double out[1 + SIZE + N_INPUTS * SIZE])
{
    lra_err e = {{0}};
    lra_device device;
    assert_int_equal(lra_cpu_device(&device, 0, &e), 0);
    if (w.fused) fuse_on(&device);
    lra_params *params = lra_params_new(&device, 1);
    lra_space *space = lra_space_new(&device);
    lra_space_no_inplace(space, !w.inplace);
    lra_tensor *wanted[] = {d->loss, d->out, d->grad[0], d->grad[1], d->grad[2]};
    lra_plan *plan = lra_plan_new(d->g, params, space, 5, wanted, &e);
    NOT_NULL(plan);
    lra_plan_threads(plan, w.threads);
    lra_plan_poison(plan, w.poison);
    set_inputs(plan, d, x);
    OK(lra_run(plan, &e));
    for (int i = 0, at = 0; i < 5; i++) {
        int64_t n = lra_elements(wanted[i]);
        assert_int_equal(lra_get(plan, wanted[i], out + at, &e), 0);
        if (lra_tensor_type(wanted[i]) != LRA_F64)
            for (int64_t k = n - 1; k >= 0; k--) out[at + k] = (double)((float *)(out + at))[k];
        at += (int)n;
    }
    lra_plan_free(plan);
    lra_space_free(space);
    lra_params_free(params);
}

TEST(no_bit_changes)
{
    static const lra_type types[] = {LRA_F32, LRA_F64, LRA_BF16};
    static const way ways[] = {{false, false, 1, false}, {true, false, 1, false},
                               {true, true, 1, false},   {true, true, 2, false},
                               {true, false, 1, true},   {true, true, 2, true}};
    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        double x[N_INPUTS * SIZE], first[1 + SIZE + N_INPUTS * SIZE], other[sizeof first / 8];
        fill(seed, x);
        dag d = build(types[seed % 3], seed);
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
            run(&d, ways[i], x, i ? other : first);
            if (i && memcmp(first, other, sizeof first) != 0)
                fail_msg("graph %d: way %d gives other bits", (int)seed, (int)i);
        }
        lra_graph_free(d.g);
        /* building the same graph again gives the same results */
        for (int keep = LRA_KEEP_ALL; keep <= LRA_KEEP_LAYERS; keep++) {
            d = build_keeping(types[seed % 3], seed, (lra_keep)keep);
            run(&d, ways[2], x, other);
            if (memcmp(first, other, sizeof first) != 0)
                fail_msg("graph %d: other bits when %d is kept", (int)seed, keep);
            if (keep < LRA_KEEP_LAYERS) lra_graph_free(d.g);
        }
        for (size_t i = 0; i < sizeof first / 8; i++) assert_true(isfinite(first[i]));
        lra_graph_free(d.g);
    }
    assert_true(n_fused > 10 * GRAPHS && n_hidden > GRAPHS);
}

TEST(gradients_of_random_graphs)
{
    for (uint64_t seed = 100; seed < 100 + GRAPHS / 3; seed++) {
        double x[N_INPUTS * SIZE], at[1 + SIZE + N_INPUTS * SIZE], lo[sizeof at / 8],
            hi[sizeof at / 8];
        const way w = {true, true, 1, false};
        const double h = 1e-5;
        fill(seed, x);
        dag d = build(LRA_F64, seed);
        run(&d, w, x, at);
        for (int i = 0; i < N_INPUTS * SIZE; i += 5) {
            double kept = x[i];
            x[i] = kept - h, run(&d, w, x, lo);
            x[i] = kept + h, run(&d, w, x, hi);
            x[i] = kept;
            double numeric = (hi[0] - lo[0]) / (2 * h), found = at[1 + SIZE + i];
            if (fabs(numeric - found) > 1e-6 * fmax(1, fabs(found)))
                fail_msg("graph %d, element %d: gradient %.9g, difference %.9g", (int)seed, i,
                         found, numeric);
        }
        lra_graph_free(d.g);
    }
}

TEST(errors_name_the_scope)
{
    lra_err e = {{0}};
    lra_graph *g = lra_graph_new(LRA_F32, LRA_TRAIN);
    lra_tensor *a = lra_input(g, "a", LRA_F32, LRA_SHAPE(2, 3)),
               *b = lra_input(g, "b", LRA_F32, LRA_SHAPE(4, 5));
    lra_push(g, "encoder");
    lra_push(g, "layer%d", 2);
    /* after an error, building continues without effect */
    lra_tensor *y = lra_tanh(lra_matmul(a, b));
    lra_pop(g);
    lra_pop(g);
    lra_add(y, lra_zeros(g, LRA_F32, LRA_SHAPE(7)));
    assert_int_equal(lra_graph_check(g, &e), -1);
    assert_string_equal(e.msg,
                        "'encoder/layer2': matmul: inner dimensions of a (2,3) and b (4,5) differ");
    lra_graph_free(g);
}

/* After a plan has run in a workspace, addresses in it never change: another plan in the same
 * workspace is rejected, and the existing one continues to work. */
TEST(a_space_that_runs_takes_no_plan)
{
    lra_err e = {{0}};
    lra_device device;
    assert_int_equal(lra_cpu_device(&device, 1, &e), 0);
    lra_params *params = lra_params_new(&device, 1);
    lra_space *space = lra_space_new(&device);
    dag d = build(LRA_F32, 1);
    double x[N_INPUTS * SIZE];
    float before, after;
    fill(1, x);
    lra_plan *plan = lra_plan_new(d.g, params, space, 1, &d.loss, &e);
    assert_non_null(plan);
    set_inputs(plan, &d, x);
    assert_int_equal(lra_run(plan, &e), 0);
    assert_int_equal(lra_get(plan, d.loss, &before, &e), 0);
    assert_null(lra_plan_new(d.g, params, space, 1, &d.out, &e));
    assert_non_null(strstr(e.msg, "a workspace that already runs"));
    assert_int_equal(lra_run(plan, &e), 0);
    assert_int_equal(lra_get(plan, d.loss, &after, &e), 0);
    assert_memory_equal(&before, &after, sizeof before);
    lra_plan_free(plan);
    lra_space_free(space);
    lra_params_free(params);
    lra_graph_free(d.g);
}

/* If slices cover an axis without gaps or overlaps, the gradient is one array that consists of
 * theirs; otherwise it is a sum of padded arrays. */
TEST(gradients_of_slices_stand_side_by_side)
{
    const struct {
        int64_t from, n;
        const lra_op *op;
    } second[] = {{2, 3, &lra_op_concat}, {3, 2, &lra_op_add_n}, {1, 4, &lra_op_add_n}};
    for (int i = 0; i < 3; i++) {
        lra_graph *g = lra_graph_new(LRA_F64, LRA_TRAIN);
        lra_tensor *x = lra_input(g, "x", LRA_F64, LRA_SHAPE(3, 5)), *dx;
        lra_tensor *part[] = {lra_tanh(lra_slice(x, 1, second[i].from, second[i].n)),
                              lra_tanh(lra_slice(x, 1, 0, 2))};
        lra_grad(lra_concat(2, part, 1), NULL, 1, &x, &dx);
        assert_ptr_equal(dx->op, second[i].op);
        lra_graph_free(g);
    }
}

static bool reads(const lra_tensor *y, const lra_tensor *x)
{
    for (int i = 0; i < y->n_src; i++)
        if (y->src[i] == x) return true;
    return false;
}

/* A tensor that several products read: each product adds to the gradient computed so far. */
TEST(products_add_gradients)
{
    lra_graph *g = lra_graph_new(LRA_F64, LRA_TRAIN);
    lra_tensor *x = lra_input(g, "x", LRA_F64, LRA_SHAPE(3, 5)), *dx, *y = lra_tanh(x);
    for (int i = 0; i < 3; i++) {
        char name[] = "w0";
        name[1] = (char)('0' + i);
        lra_tensor *w = lra_input(g, name, LRA_F64, LRA_SHAPE(5, 5));
        y = lra_mul(y, i == 2 ? lra_matmul(x, w) : lra_linear(x, w, NULL, LRA_ACT_NONE, NULL));
    }
    lra_grad(y, NULL, 1, &x, &dx);
    /* the gradient through tanh is the last summand */
    assert_int_equal(lra_graph_nodes(g, &lra_op_add_n, 0, NULL), 1);
    assert_ptr_equal(dx->op, &lra_op_add_n);
    int with = 0;
    for (int id = 0; id < g->n_nodes; id++)
        with += g->node[id]->op == &lra_op_matmul && g->node[id]->n_src == 3;
    assert_int_equal(with, 2);
    lra_graph_free(g);
}

static int same_shape(lra_tensor *y, lra_err *e)
{
    (void)e;
    y->shape = y->src[0]->shape, y->type = y->src[0]->type;
    return 0;
}
static void hand_on(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    dx[0] = y->n_src == 1 ? dy : lra_matmul(dy, y->src[2]);
    if (y->n_src > 1) dx[1] = dx[0];
}
static const lra_op same = {.name = "same", .shape = same_shape, .grad = hand_on};

/* A product may be the gradient of two tensors. When one of them gets another gradient, the product
 * must not be changed, because the other tensor still uses it. Cases: a gradient rule returns its
 * own dy for one or for two sources, or computes one array for two. */
TEST(shared_gradients_stay)
{
    for (int i = 0; i < 3; i++) {
        lra_graph *g = lra_graph_new(LRA_F64, LRA_TRAIN);
        lra_tensor *x = lra_input(g, "x", LRA_F64, LRA_SHAPE(3, 5)), *dx[2];
        lra_tensor *z = lra_input(g, "z", LRA_F64, LRA_SHAPE(3, 5));
        lra_tensor *w = lra_input(g, "w", LRA_F64, LRA_SHAPE(5, 5)), *src[] = {x, z, w}, *y;
        lra_tensor *between = i == 2 ? lra_add(x, z) : lra_node(&same, g, i ? 3 : 1, src, NULL, 0);
        y = i == 1 ? between : lra_linear(between, w, NULL, LRA_ACT_NONE, NULL);
        lra_grad(lra_mul(y, lra_tanh(x)), NULL, 2, (lra_tensor *[]){x, i ? z : between}, dx);
        assert_ptr_equal(dx[1]->op, &lra_op_matmul);
        assert_int_equal(dx[1]->n_src, 2);
        assert_ptr_equal(dx[0]->op, &lra_op_add_n);
        assert_true(reads(dx[0], dx[1]));
        lra_graph_free(g);
    }
}

/* A node gets no residual if another node reads it, if it has a name, or if it is older than the
 * residual. */
TEST(residuals_are_refused)
{
    lra_graph *g = lra_graph_new(LRA_F64, LRA_TRAIN);
    lra_tensor *x = lra_input(g, "x", LRA_F64, LRA_SHAPE(3, 5)), *y[5];
    lra_tensor *w = lra_input(g, "w", LRA_F64, LRA_SHAPE(5, 5));
    for (int i = 0; i < 5; i++)
        y[i] = lra_linear(x, w, NULL, i == 4 ? LRA_ACT_RELU : LRA_ACT_NONE, NULL);
    lra_tensor *reader = lra_tanh(y[1]);
    lra_name(y[2], "known");
    lra_tensor *sum = lra_with_residual(y[0], x);
    assert_non_null(sum);
    assert_true(reads(sum, x) && sum->n_src == 3 && y[0]->n_src == 2);
    assert_null(lra_with_residual(sum, x)); /* a node has at most one residual */
    assert_null(lra_with_residual(y[1], x));
    assert_null(lra_with_residual(y[2], x));
    assert_null(lra_with_residual(y[3], reader));
    assert_null(lra_with_residual(y[4], x));
    for (int i = 1; i < 5; i++) assert_int_equal(y[i]->n_src, 2);
    lra_graph_free(g);
}
