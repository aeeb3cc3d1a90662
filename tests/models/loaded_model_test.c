/* Opening a trained model: its outputs are those of the run; initial, selected and last weights
 * differ as expected; nodes are found by their operation in every bucket; additional tensors are
 * computed with the outputs. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/graph/op.h"
#include "models/training/loaded_model.h"
#include "tests/fixtures/folder.h"
#include "tests/fixtures/tiny_model.h"
#include "tests/fixtures/tiny_run.h"

enum { LAYERS = 2 };

/* Trains three epochs of three steps. */
static int set_up(void **state)
{
    return make_folder(state) != 0 ||
                   tiny_train(folder, "layers=2 width=4 hidden=6 kernel=3", 3) != 0
               ? -1
               : 0;
}

static int tear_down(void **state)
{
    tiny_forget();
    return remove_folder(state);
}

TEST(answers_are_those_of_the_run)
{
    lra_err e = {{0}};
    float best[TINY_ROWS * TINY_CLASSES], initial[TINY_ROWS * TINY_CLASSES];
    lra_sums row[TINY_ROWS];
    assert_int_equal(trained.report.n_rows, TINY_ROWS);
    OK(lra_evaluate(&trained.run.spec, &trained.device, LRA_BEST_WEIGHTS, LRA_TEST_SPLIT, best, row,
                    &e));
    assert_memory_equal(best, trained.report.output, sizeof best);
    for (int i = 0; i < TINY_ROWS; i++) assert_true(row[i].loss == trained.report.row[i].loss);
    OK(lra_evaluate(&trained.run.spec, &trained.device, LRA_INITIAL_WEIGHTS, LRA_TEST_SPLIT,
                    initial, NULL, &e));
    assert_memory_not_equal(best, initial, sizeof best);
}

/* ---- which weights --------------------------------------------------------------------------- */

static uint64_t hash_of(lra_weights_kind which, int64_t *step)
{
    lra_err e = {{0}};
    lra_loaded_model m;
    OK(lra_load_model(&m, &trained.run.spec, &trained.device, which, &e));
    lra_loaded_buckets(&m);
    for (int i = 0; i < m.n_views; i++)
        lra_length_graph_output(m.view[i], m.view[i]->network.output);
    OK(lra_loaded_plan(&m, &e));
    uint64_t hash = lra_params_hash(m.params);
    *step = m.step;
    lra_loaded_free(&m);
    return hash;
}

TEST(weights_are_told_apart)
{
    int64_t step[3];
    uint64_t initial = hash_of(LRA_INITIAL_WEIGHTS, &step[0]);
    uint64_t best = hash_of(LRA_BEST_WEIGHTS, &step[1]), last = hash_of(LRA_LAST_WEIGHTS, &step[2]);
    assert_true(step[0] == -1 && step[1] == -1 && step[2] == 9);
    assert_true(initial != best && initial != last);
    assert_true((trained.report.training.best_epoch == 3) == (best == last));
}

/* ---- nodes, outputs and gradients ------------------------------------------------------------ */

/* Results over the batches: the rows that occurred, and the largest difference between d(sum of
 * logits)/d(last features) and the weights of the head. */
typedef struct {
    int n_rows;
    bool seen[TINY_ROWS];
    double off;
    lra_tensor *grad[LRA_MAX_BUCKETS], *conv[LRA_MAX_BUCKETS];
    const lra_loaded_model *m;
} probe;

static int look(const lra_length_graph *v, const lra_batch *b, void *context, lra_err *e)
{
    probe *p = context;
    int i = 0;
    while (p->m->view[i] != v) i++;
    int64_t n = lra_elements(p->grad[i]), D = lra_width(p->grad[i]);
    float *grad = lra_alloc_array((size_t)n, sizeof *grad), w[4 * TINY_CLASSES];
    assert_int_equal(lra_get(v->plan, p->grad[i], grad, e), 0);
    assert_int_equal(lra_params_get(p->m->params, "head/w", w, e), 0);
    for (int64_t k = 0; k < v->rows; k++) {
        if (b->row[k] < 0) continue;
        p->n_rows++;
        p->seen[b->row[k]] = true;
        /* pooling by the mean over n tokens divides the gradient by n */
        for (int64_t d = 0; d < D; d++) {
            double sum = 0;
            for (int c = 0; c < TINY_CLASSES; c++) sum += (double)w[d * TINY_CLASSES + c];
            double got = (double)grad[(k * v->T) * D + d];
            p->off = fmax(p->off, fabs(got - sum / (double)b->length[k]));
        }
    }
    lra_free(grad);
    return 0;
}

TEST(nodes_and_gradients_of_every_bucket)
{
    lra_err e = {{0}};
    lra_loaded_model m;
    probe p = {.m = &m};
    bool wanted[TINY_ROWS] = {true, false, true, true, false, false};
    OK(lra_load_model(&m, &trained.run.spec, &trained.device, LRA_BEST_WEIGHTS, &e));
    lra_loaded_buckets(&m);
    assert_int_equal(m.n_views, m.buckets.n);
    for (int i = 0; i < m.n_views; i++) {
        lra_length_graph *v = m.view[i];
        lra_tensor *node[LAYERS + 1];
        assert_int_equal(lra_graph_nodes(v->network.graph, &lra_op_conv, LAYERS + 1, node), LAYERS);
        assert_string_equal(lra_tensor_path(node[1]), "encoder/layer1/conv/conv");
        assert_int_equal(lra_graph_nodes(v->network.graph, &lra_op_attention, 1, node), 0);
        p.conv[i] = node[0];
        lra_grad(v->network.output, NULL, 1, &v->network.features, &p.grad[i]);
        lra_length_graph_output(v, p.conv[i]);
        lra_length_graph_output(v, p.grad[i]);
    }
    OK(lra_loaded_plan(&m, &e));
    OK(lra_loaded_run(&m, LRA_TEST_SPLIT, wanted, look, &p, &e));
    assert_int_equal(p.n_rows, 3);
    assert_memory_equal(p.seen, wanted, sizeof wanted);
    assert_true(p.off < 1e-6);
    p.n_rows = 0;
    OK(lra_loaded_run(&m, LRA_VAL_SPLIT, NULL, look, &p, &e));
    assert_int_equal(p.n_rows, 4);
    lra_loaded_free(&m);
}

/* ---- profiles -------------------------------------------------------------------------------- */

/* Checks that the weights of a head add up to 1 in every row. */
static int add_up(const lra_length_graph *v, const lra_batch *b, void *context, lra_err *e)
{
    int *n = context;
    const lra_tensor *x = v->out[0];
    int64_t H = x->shape.d[1];
    float *mass = lra_alloc_array((size_t)lra_elements(x), sizeof *mass);
    assert_int_equal(lra_get(v->plan, x, mass, e), 0);
    for (int64_t k = 0; k < v->rows; k++)
        for (int64_t h = 0; h < H && b->row[k] >= 0; h++, ++*n) {
            double sum = 0;
            for (int64_t d = 0; d < v->T; d++) {
                double m = (double)mass[(k * H + h) * v->T + d];
                assert_true(d < b->length[k] || m == 0);
                sum += m;
            }
            assert_true(fabs(sum - 1) < 1e-5);
        }
    lra_free(mass);
    return 0;
}

TEST(profiles_of_attention)
{
    lra_err e = {{0}};
    lra_loaded_model m;
    lra_train_spec spec = trained.run.spec;
    lra_config *c = model_tiny(&lra_model_transformer, "");
    int n = 0;
    spec.model = &lra_model_transformer, spec.model_config = c;
    OK(lra_load_model(&m, &spec, &trained.device, LRA_INITIAL_WEIGHTS, &e));
    lra_loaded_buckets(&m);
    for (int i = 0; i < m.n_views; i++) {
        lra_tensor *node[LAYERS];
        assert_int_equal(lra_graph_nodes(m.view[i]->network.graph, &lra_op_attention, LAYERS, node),
                         LAYERS);
        lra_length_graph_output(m.view[i], lra_attention_profile_of(node[1]));
    }
    OK(lra_loaded_plan(&m, &e));
    OK(lra_loaded_run(&m, LRA_TEST_SPLIT, NULL, add_up, &n, &e));
    assert_int_equal(n, TINY_ROWS * 2);
    lra_loaded_free(&m);
    lra_config_free(c);
}

/* ---- a limit of distance --------------------------------------------------------------------- */

/* Logits of the test split for one setting of the limits. */
typedef struct {
    float logits[TINY_ROWS * TINY_CLASSES];
} answers;

static int keep_logits(const lra_length_graph *v, const lra_batch *b, void *context, lra_err *e)
{
    answers *a = context;
    float *batch = lra_alloc_array((size_t)v->rows * TINY_CLASSES, sizeof *batch);
    assert_int_equal(lra_get(v->plan, v->network.output, batch, e), 0);
    for (int64_t k = 0; k < v->rows; k++)
        if (b->row[k] >= 0)
            memcpy(a->logits + b->row[k] * TINY_CLASSES, batch + k * TINY_CLASSES,
                   TINY_CLASSES * sizeof(float));
    lra_free(batch);
    return 0;
}

TEST(one_plan_serves_every_limit)
{
    lra_err e = {{0}};
    lra_loaded_model m;
    float whole[TINY_ROWS * TINY_CLASSES];
    answers at[5]; /* no limit; a large limit; 0 in both layers; 0 in one layer; no limit again */
    static const int32_t limits[5][LAYERS] = {
        {LRA_NO_LIMIT, LRA_NO_LIMIT}, {1, 1}, {0, 0}, {0, 1}, {70000, 70000}};
    OK(lra_evaluate(&trained.run.spec, &trained.device, LRA_BEST_WEIGHTS, LRA_TEST_SPLIT, whole,
                    NULL, &e));
    OK(lra_load_model(&m, &trained.run.spec, &trained.device, LRA_BEST_WEIGHTS, &e));
    assert_int_equal(lra_loaded_limit(&m, &e), 0);
    lra_loaded_buckets(&m);
    for (int i = 0; i < m.n_views; i++)
        lra_length_graph_output(m.view[i], m.view[i]->network.output);
    assert_int_equal(m.n_limits, LAYERS);
    assert_int_equal(m.limit[0], LRA_NO_LIMIT);
    OK(lra_loaded_plan(&m, &e));
    for (int i = 0; i < 5; i++) {
        for (int l = 0; l < LAYERS; l++) m.limit[l] = limits[i][l];
        OK(lra_loaded_run(&m, LRA_TEST_SPLIT, NULL, keep_logits, &at[i], &e));
    }
    lra_loaded_free(&m);
    /* Kernels of 3 taps reach one position to each side, so that this limit has no effect. */
    assert_memory_equal(at[0].logits, whole, sizeof whole);
    assert_memory_equal(at[1].logits, whole, sizeof whole);
    assert_memory_not_equal(at[2].logits, whole, sizeof whole);
    assert_memory_not_equal(at[3].logits, at[2].logits, sizeof whole);
    assert_memory_not_equal(at[3].logits, whole, sizeof whole);
    assert_memory_equal(at[4].logits, whole, sizeof whole);
}

TEST(a_model_without_limits_is_undefined)
{
    lra_err e = {{0}};
    lra_loaded_model m;
    lra_train_spec spec = trained.run.spec;
    lra_model lstm = lra_model_resconv;
    lstm.name = "lstm", lstm.no_limit_reason = "its state comes from all steps before";
    spec.model = &lstm;
    OK(lra_load_model(&m, &spec, &trained.device, LRA_INITIAL_WEIGHTS, &e));
    assert_int_equal(lra_loaded_limit(&m, &e), LRA_USAGE);
    assert_string_equal(e.msg, "a distance limit is undefined for model 'lstm': its state comes "
                               "from all steps before");
    lra_loaded_free(&m);
}

/* ---- what cannot be opened ------------------------------------------------------------------- */

TEST(missing_weights_are_named)
{
    lra_err e = {{0}};
    lra_train_spec spec = trained.run.spec;
    float output[TINY_ROWS * TINY_CLASSES];
    spec.folder = "no-such-folder";
    assert_int_equal(
        lra_evaluate(&spec, &trained.device, LRA_LAST_WEIGHTS, LRA_TEST_SPLIT, output, NULL, &e),
        -1);
    assert_string_equal(e.msg, "'no-such-folder' has no checkpoint");
    assert_int_equal(
        lra_evaluate(&spec, &trained.device, LRA_BEST_WEIGHTS, LRA_TEST_SPLIT, output, NULL, &e),
        -1);
    assert_non_null(strstr(e.msg, "no-such-folder/best.h5"));
}

GROUP(set_up, tear_down);
