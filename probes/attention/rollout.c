/* Computes attention rollout (rollout.h). */
#include "probes/attention/rollout.h"

#include "kernels/base/core/mem.h"
#include "kernels/graph/op.h"
#include "kernels/ops/attention/attention_statistics.h"
#include "models/training/session.h"
#include "probes/shared/attention_nodes.h"
#include "probes/shared/jacobian.h"

/* ---- the graph ------------------------------------------------------------------------------- */

/* Builds a^T u, averaged over heads: (n,T,P). u: (n,T,P). */
static lra_tensor *transposed(const lra_tensor *node, lra_tensor *u)
{
    const int64_t *d = u->shape.d, H = lra_attention_heads(node);
    lra_shape s = LRA_SHAPE(d[0], d[1], H, d[2]);
    lra_tensor *x = lra_zeros(u->graph, u->type, s), *dx;
    lra_tensor *seed = lra_mul(lra_ones(u->graph, u->type, s),
                               lra_reshape(u, LRA_SHAPE(d[0], d[1], 1, d[2])));
    lra_grad(lra_attention_apply(node, x), seed, 1, &x, &dx);
    dx = lra_reduce_sum(dx, LRA_SHAPE(d[0], d[1], 1, d[2]));
    return lra_reshape(lra_affine(dx, 1 / (double)H, 0), u->shape);
}

/* Builds the row sums of the mean attention matrix over heads: (n,T,1). */
static lra_tensor *row_sums(const lra_tensor *node, lra_tensor *like)
{
    const int64_t *d = like->shape.d, H = lra_attention_heads(node);
    lra_tensor *ones = lra_ones(like->graph, like->type, LRA_SHAPE(d[0], d[1], H, 1));
    ones = lra_reduce_sum(lra_attention_apply(node, ones), LRA_SHAPE(d[0], d[1], 1, 1));
    return lra_reshape(lra_affine(ones, 1 / (double)H, 0), LRA_SHAPE(d[0], d[1], 1));
}

lra_tensor *lra_rollout(int n_nodes, const lra_tensor *const *node, lra_tensor *position)
{
    lra_graph *g = position->graph;
    int64_t T = lra_attention_positions(node[0]);
    /* (n,P,T) one-hot vectors of the P positions */
    lra_tensor *r = lra_cast(lra_one_hot(position, T), lra_elem(g));
    r = lra_permute(r, 3, (int[]){0, 2, 1});
    for (int k = n_nodes - 1; k >= 0; k--) {
        lra_tensor *sum = lra_affine(row_sums(node[k], r), 0.5, 0.5);
        lra_tensor *u = lra_div(r, sum);
        r = lra_affine(lra_add(transposed(node[k], u), u), 0.5, 0);
    }
    return r;
}

/* ---- a sample -------------------------------------------------------------------------------- */

typedef struct {
    const lra_loaded_model *m;
    lra_profile *profile;
    bool by_rows; /* true if the layers' weights are computed row by row (mixing_matrix.h) */
    struct {
        lra_tensor *position, *rows;
        lra_attention_nodes nodes;
        int64_t T;
    } view[LRA_MAX_BUCKETS];
} work;

/* Writes the range of keys [from, to) that row i of the last layer can reach through all layers. */
static void reach(const lra_attention_nodes *n, int64_t T, int64_t i, int64_t *from, int64_t *to)
{
    *from = i, *to = i + 1;
    for (int k = n->n - 1; k >= 0; k--) {
        int64_t low, high, ends[] = {*from, *to - 1};
        for (int e = 0; e < 2; e++) {
            lra_attention_span(n->node[k], T, ends[e], &low, &high);
            if (high > low && low < *from) *from = low;
            if (high > low && high > *to) *to = high;
        }
    }
}

static void add_example(work *w, int view, int64_t s, int64_t T, const int32_t *at, const float *x)
{
    const lra_attention_nodes *nodes = &w->view[view].nodes;
    double *row = lra_alloc_array((size_t)T, sizeof *row);
    bool sparse = false;
    for (int k = 0; k < nodes->n; k++) sparse |= lra_attention_is_sparse(nodes->node[k]);
    lra_profile_begin(w->profile, T);
    for (int p = 0; p < LRA_ROLLOUT_ROWS; p++) {
        int64_t from, to, i = at[s * LRA_ROLLOUT_ROWS + p];
        if (i < 0) continue;
        reach(nodes, T, i, &from, &to);
        for (int64_t j = from; j < to; j++) {
            double v = (double)x[(s * w->view[view].T + j) * LRA_ROLLOUT_ROWS + p];
            row[j] = sparse && v == 0 ? -1 : v;
        }
        lra_profile_row(w->profile, i, from, to - from, row + from);
    }
    lra_profile_end(w->profile);
    lra_free(row);
}

void lra_rollout_add(lra_profile *profile, lra_roll *x, int64_t T, const int32_t *at)
{
    double *r = lra_roll_finish(x);
    lra_profile_begin(profile, T);
    for (int p = 0; p < LRA_ROLLOUT_ROWS; p++)
        if (at[p] >= 0) lra_profile_row(profile, at[p], 0, T, r + p * T);
    lra_profile_end(profile);
    lra_free(r);
}

void lra_rollout_positions(uint64_t seed, int64_t row, int64_t T, int32_t at[LRA_ROLLOUT_ROWS])
{
    for (int p = 0; p < LRA_ROLLOUT_ROWS; p++)
        at[p] = p < T ? (int32_t)lra_jacobian_position(seed, row, LRA_ROLLOUT_ROWS, p, T) : -1;
}

/* Adds an example for layers whose matrices are computed row by row. */
static void add_rows(work *w, const lra_matrix_values *layer, int n_layers, int64_t s, int64_t T,
                     const int32_t *at)
{
    lra_roll *x = lra_roll_new(T, LRA_ROLLOUT_ROWS, at);
    for (int k = n_layers - 1; k >= 0; k--) {
        lra_roll_begin(x);
        lra_roll_rows(x, &layer[k], s, 0, T);
        lra_roll_end(x);
    }
    lra_rollout_add(w->profile, x, T, at);
}

static int take_rows(work *w, int view, const lra_length_graph *v, const lra_batch *b,
                     const int32_t *at, lra_err *e)
{
    const lra_attention_nodes *nodes = &w->view[view].nodes;
    lra_matrix_values *layer = lra_alloc_array((size_t)nodes->n, sizeof *layer);
    int rc = 0;
    for (int k = 0; k < nodes->n && rc == 0; k++)
        rc = lra_matrix_read(v, &nodes->matrix[k], &layer[k], e);
    for (int64_t s = 0; s < v->network.n && rc == 0; s++)
        if (b->row[s % v->rows] >= 0 && b->length[s] > 0)
            add_rows(w, layer, nodes->n, s, b->length[s] + lra_attention_extra(v),
                     at + s * LRA_ROLLOUT_ROWS);
    for (int k = 0; k < nodes->n; k++) lra_matrix_free(&layer[k]);
    lra_free(layer);
    return rc;
}

static int take_batch(const lra_length_graph *v, const lra_batch *b, void *context, lra_err *e)
{
    work *w = context;
    int view = 0;
    while (w->m->view[view] != v) view++;
    int64_t n = v->network.n, extra = lra_attention_extra(v);
    int32_t *at = lra_alloc_array((size_t)(n * LRA_ROLLOUT_ROWS), sizeof *at);
    for (int64_t s = 0; s < n; s++) {
        int64_t row = b->row[s % v->rows],
                T = row >= 0 && b->length[s] > 0 ? b->length[s] + extra : 0;
        lra_rollout_positions(w->m->run->seed, row, T, at + s * LRA_ROLLOUT_ROWS);
    }
    if (w->by_rows) {
        int failed = take_rows(w, view, v, b, at, e);
        lra_free(at);
        return failed;
    }
    float *x = lra_alloc_array((size_t)lra_elements(w->view[view].rows), sizeof *x);
    int rc = lra_session_set(w->m->run, &v->network, v->plan, b, e);
    if (rc == 0) rc = lra_set(v->plan, w->view[view].position, at, e);
    if (rc == 0) rc = lra_length_graph_run(w->m, v, e);
    if (rc == 0) rc = lra_get(v->plan, w->view[view].rows, x, e);
    for (int64_t s = 0; s < n && rc == 0; s++)
        if (b->row[s % v->rows] >= 0 && b->length[s] > 0)
            add_example(w, view, s, b->length[s] + extra, at, x);
    lra_free(at);
    lra_free(x);
    return rc;
}

static int evaluate_graph(work *w, int i, lra_err *e)
{
    lra_length_graph *v = w->m->view[i];
    int rc = lra_attention_nodes_of(v, &w->view[i].nodes, e);
    if (rc != 0) return rc;
    const lra_attention_nodes *nodes = &w->view[i].nodes;
    if (nodes->n_left_out) return 0;
    w->view[i].T = lra_attention_layer_positions(nodes, 0);
    w->by_rows = nodes->matrix[0].family != NULL;
    for (int k = 0; k < nodes->n; k++)
        if (w->by_rows) lra_matrix_add_outputs(v, &nodes->matrix[k]);
    if (w->by_rows) return 0;
    w->view[i].position = lra_input(v->network.graph, "rollout", LRA_I32,
                                    LRA_SHAPE(v->network.n, LRA_ROLLOUT_ROWS));
    w->view[i].rows = lra_rollout(nodes->n, nodes->node, w->view[i].position);
    lra_length_graph_output(v, w->view[i].rows);
    return 0;
}

int lra_rollout_measure(const lra_train_spec *run, lra_device *dev, lra_weights_kind weights,
                        int64_t sample, lra_profile **out, lra_err *e)
{
    lra_loaded_model m;
    work w = {.m = &m};
    int rc = lra_load_model(&m, run, dev, weights, e);
    m.sample = sample;
    m.type = LRA_F32; /* float32, because values are products over all layers */
    if (rc == 0) lra_loaded_buckets(&m);
    for (int i = 0; i < m.n_views && rc == 0; i++) rc = evaluate_graph(&w, i, e);
    if (rc == 0 && (w.view[0].rows || w.by_rows)) {
        w.profile = lra_profile_new(w.view[m.n_views - 1].T, 0);
        rc = lra_loaded_plan(&m, e);
        if (rc == 0) rc = lra_loaded_run(&m, LRA_TEST_SPLIT, NULL, take_batch, &w, e);
    }
    lra_loaded_free(&m);
    *out = w.profile;
    return rc;
}
