/* The part attention on opened models: maps, rollout, relations and profiles compared with the
 * definitions applied to entire maps, for every family of attention; a known attention sink. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "datasets/listops/tree.h"
#include "kernels/base/core/mem.h"
#include "kernels/graph/op.h"
#include "kernels/ops/attention/attention_statistics.h"
#include "models/training/session.h"
#include "probes/attention/heads.h"
#include "probes/attention/maps.h"
#include "probes/shared/attention_nodes.h"
#include "probes/attention/rollout.h"
#include "tests/fixtures/tiny_model.h"
#include "tests/fixtures/tiny_group.h"

enum { LAYERS = 2, MOST = 64 };

/* ---- relations ------------------------------------------------------------------------------- */

TEST(relations_of_a_tree)
{
    /* tokens of [MAX 4 [MIN 2 3 X 9 X <eos> */
    const int32_t token[] = {LISTOPS_MIN + 1,   LISTOPS_DIGIT + 4, LISTOPS_MIN,
                             LISTOPS_DIGIT + 2, LISTOPS_DIGIT + 3, LISTOPS_CLOSE,
                             LISTOPS_DIGIT + 9, LISTOPS_CLOSE,     LISTOPS_EOS};
    static const char *const related[LRA_RELATIONS][9] = {
        {"", "0", "0", "2", "2", "0", "0", "", ""},
        {"126", "", "34", "", "", "34", "", "126", ""},
        {"", "26", "16", "4", "3", "16", "12", "", ""},
        {"7", "", "5", "", "", "2", "", "0", ""}};
    lra_tree t = lra_tree_new(token, 9);
    for (int r = 0; r < LRA_RELATIONS; r++)
        for (int i = 0; i < 9; i++)
            for (int j = 0; j < 9; j++)
                assert_int_equal(lra_tree_is(&t, (lra_relation)r, i, j),
                                 strchr(related[r][i], '0' + j) != NULL);
    lra_tree_free(&t);
}

/* ---- a model's maps -------------------------------------------------------------------------- */

/* Maps of the first example of the longest length, (layers, heads, T, T), and its rollout. */
typedef struct {
    lra_loaded_model *m;
    int heads, T, length, layers;
    int64_t row;
    int32_t token[MOST];
    double *map;
    float *rolled;
    lra_tensor *asked[LRA_MAX_BUCKETS][LAYERS], *position[LRA_MAX_BUCKETS], *rows[LRA_MAX_BUCKETS];
} maps;

static int take(const lra_length_graph *v, const lra_batch *b, void *context, lra_err *e)
{
    maps *x = context;
    int view = 0;
    while (x->m->view[view] != v) view++;
    int64_t s = -1;
    for (int64_t i = 0; i < v->rows; i++)
        if (b->row[i] >= 0 && b->length[i] > x->length) x->length = b->length[s = i];
    if (s < 0) return 0;
    int32_t *at = lra_alloc_array((size_t)(v->network.n * LRA_ROLLOUT_ROWS), sizeof *at);
    x->T = (int)v->T, x->row = b->row[s];
    memcpy(x->token, b->token + s * v->T, (size_t)x->length * sizeof *x->token);
    for (int64_t i = 0; i < v->network.n * LRA_ROLLOUT_ROWS; i++) at[i] = -1;
    for (int p = 0; p < LRA_ROLLOUT_ROWS && p < x->length; p++) at[s * LRA_ROLLOUT_ROWS + p] = p;
    int rc = lra_session_set(x->m->run, &v->network, v->plan, b, e);
    if (rc == 0) rc = lra_set(v->plan, x->position[view], at, e);
    if (rc == 0) rc = lra_length_graph_run(x->m, v, e);
    for (int k = 0; k < x->layers && rc == 0; k++) {
        const lra_tensor *map = x->asked[view][k];
        int H = x->heads = (int)lra_tensor_shape(map).d[2], T = x->T;
        float *all = lra_alloc_array((size_t)lra_elements(map), sizeof *all);
        rc = lra_get(v->plan, map, all, e);
        x->map = lra_resize(x->map, (size_t)(x->layers * H * T * T) * sizeof(double));
        for (int i = 0; i < T * H * T; i++)
            x->map[((k * H + i / T % H) * T + i / T / H) * T + i % T] =
                (double)all[s * T * H * T + i];
        lra_free(all);
    }
    size_t rolled = (size_t)(v->T * LRA_ROLLOUT_ROWS);
    float *all = lra_alloc_array((size_t)lra_elements(x->rows[view]), sizeof *all);
    x->rolled = lra_resize(x->rolled, rolled * sizeof *all);
    if (rc == 0) rc = lra_get(v->plan, x->rows[view], all, e);
    memcpy(x->rolled, all + (size_t)s * rolled, rolled * sizeof *all);
    lra_free(all);
    lra_free(at);
    return rc;
}

static void open_maps(maps *x, const lra_train_spec *spec)
{
    lra_err e = {{0}};
    lra_loaded_model m;
    *x = (maps){.m = &m};
    OK(lra_load_model(&m, spec, &trained.device, LRA_INITIAL_WEIGHTS, &e));
    lra_loaded_buckets(&m);
    for (int i = 0; i < m.n_views; i++) {
        lra_length_graph *v = m.view[i];
        lra_attention_nodes nodes;
        OK(lra_attention_nodes_of(v, &nodes, &e));
        x->layers = nodes.n;
        x->position[i] = lra_input(v->network.graph, "rollout", LRA_I32,
                                   LRA_SHAPE(v->network.n, LRA_ROLLOUT_ROWS));
        x->rows[i] = lra_rollout(nodes.n, nodes.node, x->position[i]);
        lra_length_graph_output(v, x->rows[i]);
        for (int k = 0; k < nodes.n; k++) {
            x->asked[i][k] = lra_attention_map(nodes.node[k]);
            lra_length_graph_output(v, x->asked[i][k]);
        }
    }
    OK(lra_loaded_plan(&m, &e));
    OK(lra_loaded_run(&m, LRA_TEST_SPLIT, NULL, take, x, &e));
    lra_loaded_free(&m);
}

static double map_at(const maps *x, int layer, int head, int i, int j)
{
    return x->map[((layer * x->heads + head) * x->T + i) * x->T + j];
}

/* Computes all rows of the rollout A'_L .. A'_1 as matrix products, beginning with the lowest
 * layer. */
static void roll(const maps *x, double *all)
{
    int n = x->length, H = x->heads;
    double *next = lra_alloc_array((size_t)(n * n), sizeof *next);
    for (int i = 0; i < n * n; i++) all[i] = i / n == i % n;
    for (int layer = 0; layer < x->layers; layer++) {
        for (int i = 0; i < n; i++) {
            double sum = 0;
            for (int j = 0; j < n; j++) next[i * n + j] = 0;
            for (int k = 0; k < n; k++) {
                double a = i == k ? 0.5 : 0;
                for (int h = 0; h < H; h++) a += 0.5 * map_at(x, layer, h, i, k) / H;
                sum += a;
                for (int j = 0; j < n; j++) next[i * n + j] += a * all[k * n + j];
            }
            for (int j = 0; j < n; j++) next[i * n + j] /= sum;
        }
        memcpy(all, next, (size_t)(n * n) * sizeof *next);
    }
    lra_free(next);
}

static const struct {
    const lra_model *model;
    const char *variant;
} families[] = {{&lra_model_transformer, ""},
                {&lra_model_las, "alpha=geo average=3"},
                {&lra_model_las, "alpha=geo smoothing=centred-renorm average=3 chunk=5"},
                {&lra_model_local, "block=5"},
                {&lra_model_local, "layout=strided block=4"},
                {&lra_model_mega, ""},
                {&lra_model_bigbird, ""}};
enum { FAMILIES = sizeof families / sizeof *families };

static lra_train_spec family(int i, lra_config **config)
{
    lra_train_spec spec = trained.run.spec;
    *config = model_tiny(families[i].model, families[i].variant);
    spec.model = families[i].model, spec.model_config = *config;
    return spec;
}

TEST(rollout_is_the_product_of_maps)
{
    for (int f = 0; f < FAMILIES; f++) {
        lra_config *config;
        lra_train_spec spec = family(f, &config);
        maps x;
        open_maps(&x, &spec);
        assert_true(x.length > 10 && x.layers > 0);
        double *all = lra_alloc_array((size_t)(x.length * x.length), sizeof *all);
        roll(&x, all);
        for (int p = 0; p < LRA_ROLLOUT_ROWS && p < x.length; p++) {
            double sum = 0;
            for (int j = 0; j < x.length; j++) {
                double is = (double)x.rolled[j * LRA_ROLLOUT_ROWS + p];
                if (!(fabs(is - all[p * x.length + j]) < 1e-5))
                    fail_msg("family %d, row %d, column %d: %g, expected %g", f, p, j, is,
                             all[p * x.length + j]);
                sum += is;
            }
            assert_true(fabs(sum - 1) < 1e-5);
        }
        lra_free(all);
        lra_free(x.map);
        lra_free(x.rolled);
        lra_config_free(config);
    }
}

/* ---- what is measured ------------------------------------------------------------------------ */

/* Returns the mean attention mass on a relation over the rows that have such a token, from the
 * map. */
static double related_mass(const maps *x, const lra_tree *t, lra_relation r, int layer, int head)
{
    double sum = 0, rows = 0;
    for (int i = 0; i < x->length; i++) {
        double all = 0, on = 0, n = 0;
        for (int j = 0; j < x->length; j++) {
            double a = map_at(x, layer, head, i, j);
            all += a;
            if (a > 0 && lra_tree_is(t, r, i, j)) on += a, n++;
        }
        if (n > 0) sum += on / all, rows++;
    }
    return sum / rows;
}

static double value_of(const lra_profile *p, const char *id)
{
    lra_measurement list[LRA_PROFILE_MEASUREMENTS];
    int n = lra_profile_measurements(p, &(lra_profile_options){.key = 1}, list);
    const lra_measurement *f = lra_measurement_find(n, list, id);
    return f ? f->value : NAN;
}

TEST(maps_are_measured)
{
    for (int f = 0; f < FAMILIES; f++) {
        lra_err e = {{0}};
        lra_config *config;
        lra_train_spec spec = family(f, &config);
        maps x;
        lra_maps got;
        lra_heads heads;
        open_maps(&x, &spec);
        const lra_weights_kind initial = LRA_INITIAL_WEIGHTS;
        if (lra_heads_measure(&spec, &trained.device, initial, 0, 0, &heads, &e) != 0 ||
            lra_maps_measure(&spec, &trained.device, initial, 0, heads.n_heads, NULL, &got, &e) !=
                0)
            fail_msg("%s", e.msg);
        assert_int_equal(got.n_heads, x.layers * x.heads);
        assert_int_equal(heads.n_heads, got.n_heads);
        assert_true(got.related && !got.shares); /* 6 examples are too few for shares */
        lra_tree t = lra_tree_new(x.token, x.length);
        for (int i = 0; i < got.n_heads; i++) {
            for (int r = 0; r < LRA_RELATIONS; r++) {
                double is = got.head[i].related[r][x.row].mass;
                double wanted = related_mass(&x, &t, (lra_relation)r, i / x.heads, i % x.heads);
                assert_true(fabs(is - wanted) < 1e-5 || (isnan(is) && isnan(wanted)));
            }
            assert_int_equal(got.head[i].T, x.length);
        }
        /* value-weighted maps exist if a linear layer follows the heads */
        bool gated = spec.model == &lra_model_mega;
        for (int k = 0; k < heads.n_layers; k++)
            assert_int_equal(heads.layer[k].value == NULL, gated);
        lra_tree_free(&t);
        lra_maps_free(&got);
        lra_heads_free(&heads);
        lra_free(x.map);
        lra_free(x.rolled);
        lra_config_free(config);
    }
}

static bool with_sink, looking_back;

/* Sets features for equal weights on all keys; with_sink: about 1e-4 of the weight is distributed
 * evenly over all keys, the rest is on the third token. */
static void fill_key(const lra_fill *f, double *v)
{
    for (int64_t i = 0; i < lra_shape_elements(f->shape); i++)
        v[i] = with_sink && i / f->shape.d[3] % f->shape.d[1] == 2 ? 3 : 0;
}

static lra_tensor *encode_sink(const lra_build *b, lra_tensor *x)
{
    char name[32];
    lra_shape s = LRA_SHAPE(1, b->T, 1, lra_width(x));
    const lra_param_spec key = {LRA_FILL(fill_key)};
    snprintf(name, sizeof name, "key%d", (int)b->T);
    lra_tensor *v = lra_reshape(x, LRA_SHAPE(b->B, b->T, 1, lra_width(x)));
    lra_tensor *zeros = lra_affine(v, 0, 0), *ones = lra_affine(v, 0, 1);
    lra_tensor *k = lra_add(zeros,
                            lra_cast(lra_constant(b->graph, name, s, &key), lra_elem(b->graph)));
    const lra_attention_spec spec = {.scale = 1, .causal = looking_back};
    return lra_reshape(lra_attention(ones, k, v, b->length, &spec), lra_tensor_shape(x));
}

/* Returns the mean distance of equal weights on all keys except the third, for the test
 * examples. */
static double without_third(void)
{
    const lra_sequences *q = &trained.run.data->split[LRA_TEST_SPLIT];
    double sum = 0;
    for (int64_t b = 0; b < q->n; b++) {
        int64_t n = lra_sequences_length(q, b);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++)
                if (j != 2) sum += fabs((double)(i - j)) / (double)(n * (n - 1) * q->n);
    }
    return sum;
}

TEST(sinks_are_left_out)
{
    lra_err e = {{0}};
    lra_train_spec spec = trained.run.spec;
    lra_model sink = lra_model_resconv;
    lra_heads h;
    with_sink = true;
    sink.encode = encode_sink, spec.model = &sink;
    OK(lra_heads_measure(&spec, &trained.device, LRA_INITIAL_WEIGHTS, 0, 0, &h, &e));
    assert_int_equal(h.n_heads, 1);
    assert_int_equal(h.head[0].sink_at[0], 2);
    assert_true(h.head[0].sink[0] > 0.99);
    assert_non_null(h.head[0].nosink);
    assert_true(fabs(value_of(h.head[0].nosink, "range.mean") - without_third()) < 1e-4);
    assert_true(fabs(value_of(h.head[0].tokens, "range.mean") - without_third()) > 0.1);
    lra_heads_free(&h);
}

/* Distances in pixels: rows are images, weights are equal. */
TEST(distances_in_pixels)
{
    lra_err e = {{0}};
    lra_train_spec spec = trained.run.spec;
    lra_model equal = lra_model_resconv;
    lra_task task = *trained.run.data->task;
    lra_dataset images = *trained.run.data;
    lra_heads h;
    const lra_sequences *q = &images.split[LRA_TEST_SPLIT];
    double sum = 0;
    task.input.image = true, images.task = &task, spec.data = &images;
    const int64_t W = lra_dataset_grid(&images);
    with_sink = false, equal.encode = encode_sink, spec.model = &equal;
    OK(lra_heads_measure(&spec, &trained.device, LRA_INITIAL_WEIGHTS, 0, 0, &h, &e));
    for (int64_t b = 0; b < q->n; b++) {
        int64_t n = lra_sequences_length(q, b);
        for (int64_t k = 0; k < n * n; k++)
            sum += (double)lra_profile_distance(W, k / n, k % n) / (double)(n * n * q->n);
    }
    assert_non_null(h.head[0].pixels);
    assert_null(h.head[0].nosink);
    assert_true(fabs(value_of(h.head[0].pixels, "range.mean") - sum) < 1e-5);
    assert_true(fabs(value_of(h.head[0].pixels, "range.mean.rel") - 1) < 1e-5);
    lra_heads_free(&h);
}

/* Equal weights, also of causal heads, have the distances of the uniform baseline, in tokens and in
 * pixels. */
TEST(equal_weights_are_their_null)
{
    for (int k = 0; k < 2; k++) {
        lra_err e = {{0}};
        lra_train_spec spec = trained.run.spec;
        lra_model equal = lra_model_resconv;
        lra_task task = *trained.run.data->task;
        lra_dataset images = *trained.run.data;
        lra_heads h;
        task.input.image = true, images.task = &task, spec.data = &images;
        with_sink = false, looking_back = k == 1;
        equal.encode = encode_sink, spec.model = &equal;
        OK(lra_heads_measure(&spec, &trained.device, LRA_INITIAL_WEIGHTS, 0, 0, &h, &e));
        const lra_profile *both[] = {h.head[0].tokens, h.head[0].pixels};
        for (int p = 0; p < 2; p++) {
            lra_measurement list[LRA_PROFILE_MEASUREMENTS];
            int n = lra_profile_measurements(both[p], &(lra_profile_options){.key = 1}, list);
            static const char *const id[] = {"self", "dist.mean", "dist.q95"};
            assert_true(fabs(lra_measurement_find(n, list, "dist.mean.rel")->value - 1) < 1e-5);
            for (int i = 0; i < 3; i++) {
                const lra_measurement *f = lra_measurement_find(n, list, id[i]);
                assert_true(fabs(f->value - f->null[LRA_NULL_UNIFORM]) < 1e-5);
                assert_int_equal(f->undefined, 0);
            }
        }
        lra_heads_free(&h);
    }
    looking_back = false;
}

/* Sets the rows of a table to waves whose products depend only on the distance of the rows; noise:
 * to random numbers. */
static bool noise;
static void fill_table(const lra_fill *f, double *v)
{
    int64_t D = f->shape.d[1];
    for (int64_t i = 0; i < lra_shape_elements(f->shape); i++) {
        double angle = (double)(i / D) / pow(3, (double)(i % D / 2));
        v[i] = noise ? sin(1e4 * (double)(i * i % 97)) : i % 2 ? sin(angle) : cos(angle);
    }
}

static lra_tensor *encode_placed(const lra_build *b, lra_tensor *x)
{
    const lra_param_spec spec = {LRA_FILL(fill_table)};
    lra_push(b->graph, "positions");
    lra_tensor *table = lra_param(b->graph, "table", LRA_SHAPE(b->T_max, lra_width(x)), &spec);
    lra_pop(b->graph);
    return encode_sink(b, lra_add(x, lra_slice(table, 0, 0, b->T)));
}

TEST(products_of_positions)
{
    lra_err e = {{0}};
    lra_train_spec spec = trained.run.spec;
    lra_model model = lra_model_resconv;
    spec.model = &model;
    with_sink = false;
    for (int k = 0; k < 3; k++) {
        lra_heads h;
        noise = k == 1, model.encode = k < 2 ? encode_placed : encode_sink;
        OK(lra_heads_measure(&spec, &trained.device, LRA_INITIAL_WEIGHTS, 0, 0, &h, &e));
        assert_int_equal(h.placed, k < 2);
        if (k == 0) assert_true(fabs(h.places.r2 - 1) < 1e-5 && fabs(h.places.off - 1) < 1e-5);
        if (k == 1) assert_true(h.places.off < 0.5);
        lra_heads_free(&h);
    }
}

GROUP(tiny_set_up, tiny_tear_down);
