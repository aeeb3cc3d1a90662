/* Calls that a device runs on a second stream: at whatever time they run, parameters are bitwise
 * equal to those with one stream. Before the first stream has waited for them, it neither writes
 * memory that they use nor reads memory that they write. */
#include "tests/fixtures/test.h"

#include <stdio.h>

#include "kernels/base/core/mem.h"
#include "kernels/cpu/device.h"
#include "kernels/cuda/fused.h"
#include "kernels/cuda/side_stream.h"
#include "kernels/cuda/columns.h"
#include "kernels/ops/conv/conv_tiles.h"
#include "tests/fixtures/two_streams.h"
#include "tests/fixtures/tiny_model.h"
#include "tests/fixtures/random_graph.h"

enum { GRAPHS = 60, N_PARAMS = 6, STEPS = 3, PARTS = 2 };

/* ---- the device ------------------------------------------------------------------------------ */

static struct {
    streams_device streams;
    lra_rng random;
    int most; /* largest number of calls in progress on the second stream */
} fake;

typedef struct {
    const lra_call *calls;
    const lra_stream_use *streams;
    int n;
} recording;

static void *record(lra_device *d, const lra_call *calls, const lra_stream_use *streams, int n,
                    lra_err *e)
{
    (void)d, (void)e;
    recording *r = lra_alloc(sizeof *r);
    *r = (recording){calls, streams, n};
    return r;
}

static int replay(lra_device *d, void *captured, lra_err *e)
{
    const recording *r = captured;
    (void)d;
    return run_streams(&fake.streams, r->calls, r->streams, r->n, e);
}

static void forget(lra_device *d, void *captured)
{
    (void)d;
    lra_free(captured);
}

static int most_beside(const lra_device *d)
{
    (void)d;
    return fake.most;
}

static void lanes_on(lra_device *d, int most, lanes_time when, uint64_t seed, bool fused)
{
    static lra_backend b;
    if (fused) fuse_on(d);
    b = *d->backend;
    b.capture = record, b.replay = replay, b.forget = forget, b.side = most_beside;
    fake.most = most, fake.random = lra_rng_new(seed, 79, 0);
    fake.streams.run = d->backend->run, fake.streams.when = when,
    fake.streams.random = &fake.random;
    d->backend = &b;
}

/* ---- what must not meet ---------------------------------------------------------------------- */

typedef struct {
    size_t from, end;
} span;

static span span_of(const lra_plan *p, const lra_tensor *x)
{
    size_t offset;
    const lra_tensor *root = lra_root(x, &offset);
    int range = p->range_of[root->id];
    if (range < 0) return (span){0, 0};
    size_t from = p->range[range].offset + offset;
    return (span){from, from + (size_t)lra_bytes(x)};
}

static bool meet(span a, span b)
{
    return a.from < b.end && b.from < a.end;
}

/* Returns true if call a writes memory that call b reads or writes. */
static bool disturbs(const lra_plan *p, int a, int b)
{
    const lra_tensor *x = p->call[a].y, *y = p->call[b].y;
    span own[2] = {span_of(p, x), {0, 0}}, other[2] = {span_of(p, y), {0, 0}};
    if (p->scratch_of[a] >= 0) {
        const lra_range *r = &p->range[p->scratch_of[a]];
        own[1] = (span){r->offset, r->offset + r->size};
    }
    if (p->scratch_of[b] >= 0) {
        const lra_range *r = &p->range[p->scratch_of[b]];
        other[1] = (span){r->offset, r->offset + r->size};
    }
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 2; k++)
            if (meet(own[i], other[k])) return true;
        for (int k = 0; k < y->n_src; k++)
            if (meet(own[i], span_of(p, y->src[k]))) return true;
    }
    return false;
}

/* Compares every call of the second stream with every call of the first stream that may run at the
 * same time; returns the number of calls on the second stream. */
static int check_lanes(const lra_plan *p, int most, const char *what)
{
    int n_side = 0, waited = 0;
    for (int at = 0; at < p->n_calls; at++) {
        if (p->lane[at].wait > waited) waited = p->lane[at].wait;
        if (waited > n_side) fail_msg("%s: waits for what is not queued yet", what);
        if (!p->lane[at].side) continue;
        assert_int_equal(lra_rank(p->call[at].y), 0);
        n_side += p->fused[at] > 0;
        if (n_side - waited > most)
            fail_msg("%s: %d calls beside, at most %d", what, n_side - waited, most);
        int other = at + 1;
        for (; other < p->n_calls && p->lane[other].wait < n_side; other++)
            if (!p->lane[other].side && (disturbs(p, other, at) || disturbs(p, at, other)))
                fail_msg("%s: '%s' and '%s' meet", what, lra_tensor_path(p->call[at].y),
                         lra_tensor_path(p->call[other].y));
        if (other == p->n_calls) fail_msg("%s: nobody waits", what);
    }
    return n_side;
}

/* ---- random graphs --------------------------------------------------------------------------- */

/* One part of an update that is computed in parts. */
typedef struct {
    lra_graph *g;
    lra_tensor *x, *step, *update, *moved;
} dag;

/* Builds a graph with a state, which is assigned an intermediate result. */
static dag build(lra_type type, uint64_t seed, int part, int n_parts)
{
    dag d = {.g = lra_graph_new(type, LRA_TRAIN)};
    lra_adamw_spec spec = {
        .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .decay = 0.01, .clip = 1, .rate = 0.01};
    lra_rng r = lra_rng_new(seed, 77, 0);
    lra_tensor *known[1 + N_PARAMS + NODES], *param[N_PARAMS];
    int n = 0;
    d.x = lra_input(d.g, "x", lra_real(d.g), LRA_SHAPE(ROWS, WIDTH));
    known[n++] = lra_cast(d.x, lra_elem(d.g));
    for (int i = 0; i < N_PARAMS; i++) {
        char name[8] = {'w', (char)('0' + i), 0};
        param[i] = lra_param(d.g, name, LRA_SHAPE(ROWS, WIDTH), LRA_SPEC(LRA_NORMAL(0.5)));
        known[n++] = lra_cast(param[i], lra_elem(d.g));
    }
    for (int i = 0; i < NODES; i++, n++) {
        lra_push(d.g, "node%d", i);
        known[n] = random_node(&r, known, n);
        lra_pop(d.g);
    }
    lra_tensor *target = lra_zeros(d.g, lra_elem(d.g), LRA_SHAPE(ROWS, WIDTH));
    lra_tensor *loss = lra_mse(known[n - 1], target);
    for (int i = 0; i < N_PARAMS; i++) /* the loss depends on every parameter */
        loss = lra_add(loss, lra_mse(lra_tanh(lra_mul(known[1 + i], known[n - 2 - i])), target));
    lra_tensor *state = lra_state(d.g, "state", LRA_SHAPE(ROWS, WIDTH), NULL);
    lra_tensor *now = lra_cast(known[1 + N_PARAMS + NODES / 2], lra_real(d.g));
    lra_assign(state, lra_add(lra_affine(state, 0.5, 0), now));
    d.moved = state;
    d.step = lra_step_input(d.g);
    d.update = lra_adamw_part(loss, N_PARAMS, param, &spec, part, n_parts);
    return d;
}

typedef struct {
    int most; /* largest number of calls on the second stream; 0: one stream */
    lanes_time when;
    bool fused;
} way;

/* Outcome of the steps: the status of each, and a hash of all parameters, moments and states. */
typedef struct {
    float status[STEPS][4];
    uint64_t arrays;
} outcome;

static void set_input(const dag *g, lra_plan *p, uint64_t seed, int i, uint64_t step)
{
    lra_err e = {{0}};
    lra_rng r = lra_rng_new(seed, 78, (uint64_t)i);
    float x[SIZE];
    const lra_step now = {.seed = 1, .step = step, .rate = 0.01f};
    for (int k = 0; k < SIZE; k++) x[k] = (float)(2 * lra_rng_u01(&r) - 1);
    assert_int_equal(lra_set(p, g->x, x, &e), 0);
    assert_int_equal(lra_set(p, g->step, &now, &e), 0);
}

static outcome train(lra_type type, uint64_t seed, way w)
{
    lra_err e = {{0}};
    lra_device device;
    dag d[PARTS];
    lra_plan *plan[PARTS];
    outcome o = {.arrays = 0};
    int n_parts = 1 + (int)(seed % PARTS);
    assert_int_equal(lra_cpu_device(&device, 1, &e), 0);
    if (w.most) lanes_on(&device, w.most, w.when, seed, w.fused);
    lra_params *params = lra_params_new(&device, seed);
    lra_space *space = lra_space_new(&device);
    for (int k = 0; k < n_parts; k++) {
        d[k] = build(type, seed, k, n_parts);
        plan[k] = lra_plan_new(d[k].g, params, space, 1, &d[k].update, &e);
        NOT_NULL(plan[k]);
        if (w.most) assert_true(check_lanes(plan[k], w.most, "a random graph") > 2);
    }
    for (int i = 0; i < STEPS * n_parts; i++) {
        lra_plan *p = plan[i % n_parts];
        set_input(&d[i % n_parts], p, seed, i, (uint64_t)(i / n_parts));
        OK(lra_run(p, &e));
        if (i % n_parts == n_parts - 1)
            assert_int_equal(lra_get(p, d[n_parts - 1].update, o.status[i / n_parts], &e), 0);
    }
    o.arrays = lra_params_hash(params);
    for (int k = 0; k < n_parts; k++) {
        lra_plan_free(plan[k]);
        lra_graph_free(d[k].g);
    }
    lra_space_free(space);
    lra_params_free(params);
    return o;
}

TEST(whenever_they_run)
{
    static const lra_type types[] = {LRA_F32, LRA_BF16};
    static const int most[] = {1, 2, 5, LRA_CUDA_SIDE_STREAM_MOST};
    fake.streams.n_side = fake.streams.n_passed = n_fused = 0;
    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        lra_type type = types[seed / PARTS % 2];
        outcome serial = train(type, seed, (way){0, LANES_EARLY, false});
        for (int i = 0; i < 4; i++)
            for (int when = LANES_EARLY; when <= LANES_RANDOM; when++)
                for (int fused = 0; fused < 2; fused++) {
                    outcome o = train(type, seed, (way){most[i], (lanes_time)when, fused});
                    if (memcmp(&o, &serial, sizeof o) != 0)
                        fail_msg("graph %d: other bits with %d beside at time %d%s", (int)seed,
                                 most[i], when, fused ? ", joined" : "");
                }
    }
    assert_true(fake.streams.n_side > 100 * GRAPHS);
    assert_true(fake.streams.n_passed > 100 * GRAPHS && n_fused > GRAPHS);
}

/* ---- models ---------------------------------------------------------------------------------- */

static int n_models, n_calls, n_lanes;

static void open_model(tiny_model *f, const lra_model *m, const char *variant, lra_device *d,
                       lra_type type)
{
    model_case what = {.model = m,
                       .variant = variant,
                       .type = type,
                       .vocab = TRIAL_VOCAB,
                       .B = 3,
                       .T = 12,
                       .T_max = 12,
                       .what = MODEL_UPDATE,
                       .device = d};
    model_open(f, &what);
}

/* Checks the plan that a GPU would have, with fused nodes; then runs it without fused nodes, with
 * the second stream late. */
static void check_model(const lra_model *m, const char *variant)
{
    static const int32_t length[] = {12, 5, 1};
    static lra_backend counted;
    lra_err e = {{0}};
    for (int most = 1; most <= LRA_CUDA_SIDE_STREAM_MOST; most *= 8) {
        lra_device device;
        tiny_model f;
        assert_int_equal(lra_cpu_device(&device, 1, &e), 0);
        lanes_on(&device, most, LANES_LATE, 1, false);
        counted = *device.backend;
        counted.scratch = lra_cuda_scratch, counted.fuses = lra_cuda_fuses;
        counted.fused_scratch = lra_cuda_fused_scratch;
        device.backend = &counted;
        open_model(&f, m, variant, &device, LRA_BF16);
        n_lanes += check_lanes(f.plan, most, m->name), n_calls += f.plan->n_calls;
        model_close(&f);
    }
    double loss[2][2];
    for (int late = 0; late < 2; late++) {
        lra_device device;
        tiny_model f;
        assert_int_equal(lra_cpu_device(&device, 1, &e), 0);
        if (late) lanes_on(&device, LRA_CUDA_SIDE_STREAM_MOST, LANES_LATE, 1, false);
        open_model(&f, m, variant, &device, LRA_F32);
        model_set(&f, length, 0);
        for (int i = 0; i < 2; i++) loss[late][i] = model_step(&f, i);
        model_close(&f);
    }
    if (memcmp(loss[0], loss[1], sizeof loss[0]) != 0) fail_msg("%s %s", m->name, variant);
    n_models++;
}

TEST(models_whenever_they_run)
{
    each_model(check_model);
    printf("%d models: of %d calls %d run beside\n", n_models, n_calls, n_lanes);
    assert_true(n_lanes * 6 > n_calls);
}

/* ---- which ----------------------------------------------------------------------------------- */

static int find_call(const lra_plan *p, const lra_tensor *y)
{
    for (int at = 0; at < p->n_calls; at++)
        if (p->call[at].y == y) return at;
    fail_msg("'%s' does not run", y->op->name);
    return -1;
}

/* Checks one step of three dense layers on x (rows, WIDTH), with at most `most` calls on the second
 * stream. */
static void check_layers(int64_t rows, int most, lra_keep keep)
{
    lra_err e = {{0}};
    lra_device device;
    lra_adamw_spec spec = {.beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .rate = 0.01};
    int n_dw = 0, n_dx = 0, n_dx_beside = 0, n_side = 0;
    assert_int_equal(lra_cpu_device(&device, 1, &e), 0);
    lanes_on(&device, most, LANES_LATE, 1, false);
    lra_graph *g = lra_graph_new(LRA_F32, LRA_TRAIN);
    lra_graph_keep(g, keep);
    lra_tensor *x = lra_input(g, "x", LRA_F32, LRA_SHAPE(rows, WIDTH)), *y = x, *w[3];
    for (int i = 0; i < 3; i++) {
        char name[8] = {'w', (char)('0' + i), 0};
        w[i] = lra_param(g, name, LRA_SHAPE(WIDTH, WIDTH), LRA_SPEC(LRA_NORMAL(0.5)));
        y = lra_tanh(lra_matmul(y, w[i]));
    }
    lra_tensor *loss = lra_mse(y, lra_zeros(g, LRA_F32, LRA_SHAPE(rows, WIDTH)));
    int forward = g->n_nodes;
    lra_tensor *out[] = {lra_adamw(loss, 3, w, &spec), y};
    lra_params *params = lra_params_new(&device, 1);
    lra_space *space = lra_space_new(&device);
    lra_plan *plan = lra_plan_new(g, params, space, 2, out, &e);
    lra_plan *values = lra_plan_new(g, params, space, 1, out + 1, &e);
    for (int at = 0; at < plan->n_calls; at++) {
        const lra_tensor *t = plan->call[at].y;
        bool beside = plan->lane[at].side, dx = t->op == &lra_op_matmul && t->id >= forward;
        if (lra_rank(t) == 0 && t->id < forward && t != loss) assert_false(beside);
        n_side += beside, n_dw += t->op == &lra_op_linear_dw && beside;
        n_dx += dx, n_dx_beside += dx && beside;
    }
    bool on = most > 0 && keep == LRA_KEEP_ALL;
    assert_int_equal(n_dw, on ? 3 : 0);
    assert_int_equal(n_dx, 2);
    /* activation gradients run on the second stream only at the end of the backward pass, where the
     * first stream has no other work */
    assert_int_equal(n_dx_beside, on && rows < WIDTH);
    /* the loss is read by updates only, so it also runs on the second stream */
    if (!on || rows > WIDTH) assert_int_equal(n_side, on ? 4 : 0);
    assert_int_equal(plan->lane[find_call(plan, out[0])].wait, n_side);
    for (int at = 0; at < values->n_calls; at++) assert_false(values->lane[at].side);
    lra_plan_free(plan);
    lra_plan_free(values);
    lra_space_free(space);
    lra_params_free(params);
    lra_graph_free(g);
}

/* Gradients of weights run on the second stream, those of activations do not. None does if there
 * are no updates, if the device has no second stream, or if memory is limited. */
TEST(gradients_of_weights)
{
    check_layers(16, 4, LRA_KEEP_ALL);
    check_layers(4, 4, LRA_KEEP_ALL); /* weights are larger than activations */
    check_layers(16, 0, LRA_KEEP_ALL);
    check_layers(16, 4, LRA_KEEP_LAYERS);
}

TEST(the_setting)
{
    lra_err e = {{0}};
    int n = -1, usual = -1;
    assert_int_equal(lra_cuda_side_stream_parse(NULL, &usual, &e), 0);
    assert_in_range(usual, 0, LRA_CUDA_SIDE_STREAM_MOST);
    assert_int_equal(lra_cuda_side_stream_parse("", &n, &e), 0);
    assert_int_equal(n, usual);
    assert_int_equal(lra_cuda_side_stream_parse("0", &n, &e), 0);
    assert_int_equal(n, 0);
    assert_int_equal(lra_cuda_side_stream_parse("64", &n, &e), 0);
    assert_int_equal(n, 64);
    static const char *const bad[] = {"65", "-1", "4x", "all"};
    for (int i = 0; i < 4; i++) {
        char *text = lra_format("LRA_CUDA_SIDE_STREAM is '%s', expected 0 to 64", bad[i]);
        assert_int_equal(lra_cuda_side_stream_parse(bad[i], &n, &e), LRA_FAILED);
        assert_string_equal(e.msg, text);
        lra_free(text);
    }
}

static int64_t columns_of(int64_t B, int64_t T, int64_t n_out)
{
    return conv_tile_columns(&(conv_tiles){B, T, 1, n_out});
}

/* Sizes of blocks in convolutions depend on the number of multiprocessors. */
TEST(blocks_fill_the_machine)
{
    lra_err e = {{0}};
    int n = -1;
    assert_int_equal(columns_of(16, 1024, 256), 128);
    assert_int_equal(columns_of(16, 1024, 128), 64);
    assert_int_equal(columns_of(64, 1024, 128), 128);
    assert_int_equal(columns_of(32, 1035, 128), 64);
    assert_int_equal(columns_of(1, 10, 64), 64);
    assert_int_equal(conv_tile_blocks(&(conv_tiles){16, 1024, 1, 128}, 64), 128);
    assert_true(conv_tile_fill(&(conv_tiles){16, 1024, 1, 128}, 64) > 0.96);
    assert_true(conv_tile_fill(&(conv_tiles){16, 1024, 1, 128}, 128) < 0.49);
    assert_int_equal(lra_cuda_columns_find(NULL, &n, &e), 0);
    assert_int_equal(n, 0);
    assert_int_equal(lra_cuda_columns_find("64", &n, &e), 0);
    assert_int_equal(n, 64);
    assert_int_equal(lra_cuda_columns_find("128", &n, &e), 0);
    assert_int_equal(n, 128);
    assert_int_equal(lra_cuda_columns_find("96", &n, &e), LRA_FAILED);
    assert_string_equal(e.msg, "LRA_CUDA_COLUMNS is '96', expected 64 or 128");
}
