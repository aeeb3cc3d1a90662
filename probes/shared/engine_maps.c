/* Computes attention matrices of a loaded model in blocks of rows (engine_maps.h). The rows of an
 * attention op are gradients: with one-hot vectors u of the rows,
 *   a_ij = sum_r a_rj u_r,  the gradient of u . (a x) with respect to the values x,
 * so that memory grows linearly with the length. Matrices of other families are evaluated row by
 * row on the host (mixing_matrix.h). */
#include "probes/shared/engine_maps.h"

#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/os/file.h"
#include "kernels/graph/op.h"
#include "kernels/ops/attention/attention_statistics.h"
#include "models/training/session.h"
#include "probes/shared/attention_nodes.h"
#include "probes/shared/subject.h"

/* maximum number of values in the rows of all layers of one graph */
static const double most_numbers = 1 << 24;

/* The graph of one length. */
typedef struct {
    lra_attention_nodes nodes;
    int64_t C;            /* rows per run of the graph; 0: no layer is an attention op */
    lra_tensor *position; /* (n,C) int32, input: rows, -1: none */
    /* rows (n,keys,H,C): computed rows of each layer; lists: key lists of sparse attention */
    lra_tensor *rows[LRA_ATTENTION_LAYERS], *lists[LRA_ATTENTION_LAYERS];
} map_graph;

struct lra_engine_maps {
    lra_loaded_model model;
    map_graph *graph; /* one for each graph of `model` */
    int n_layers;
    uint64_t inputs; /* hash of the inputs and rows of `block` */
    bool filled;
    lra_answer *block; /* (n_layers) answers to the previous request */
};

/* ---- graphs ---------------------------------------------------------------------------------- */

static lra_tensor *rows_of(const lra_tensor *node, lra_tensor *position, int64_t C)
{
    lra_graph *g = position->graph;
    int64_t n = position->shape.d[0], T = lra_attention_positions(node);
    int64_t H = lra_attention_heads(node);
    /* one-hot vectors of the requested rows, (n,C,T) */
    lra_tensor *u = lra_cast(lra_one_hot(position, T), lra_elem(g)), *dx;
    u = lra_reshape(lra_permute(u, 3, (int[]){0, 2, 1}), LRA_SHAPE(n, T, 1, C));
    lra_shape all = LRA_SHAPE(n, T, H, C);
    lra_tensor *x = lra_zeros(g, lra_elem(g), all);
    lra_tensor *seed = lra_mul(lra_ones(g, lra_elem(g), all), u);
    lra_grad(lra_attention_apply(node, x), seed, 1, &x, &dx);
    return lra_cast(dx, lra_real(g));
}

static int add_graph(lra_engine_maps *m, int i, lra_err *e)
{
    lra_length_graph *v = m->model.view[i];
    map_graph *x = &m->graph[i];
    int rc = lra_attention_nodes_of(v, &x->nodes, e);
    if (rc != 0) return rc;
    double per_row = 0;
    int64_t most = 0, n = v->network.n;
    for (int k = 0; k < x->nodes.n; k++) {
        if (x->nodes.matrix[k].family) continue;
        int64_t T = lra_attention_layer_positions(&x->nodes, k);
        per_row += (double)(n * T * lra_attention_layer_heads(&x->nodes, k));
        most = T > most ? T : most;
    }
    if (most) {
        double C = floor(most_numbers / per_row);
        x->C = C < 1 ? 1 : C < (double)most ? (int64_t)C : most;
        x->position = lra_input(v->network.graph, "rows", LRA_I32, LRA_SHAPE(n, x->C));
    }
    for (int k = 0; k < x->nodes.n; k++) {
        if (x->nodes.matrix[k].family) {
            lra_matrix_add_outputs(v, &x->nodes.matrix[k]);
            continue;
        }
        x->rows[k] = rows_of(x->nodes.node[k], x->position, x->C);
        x->lists[k] = lra_attention_lists(x->nodes.node[k]);
        lra_length_graph_output(v, x->rows[k]);
        if (x->lists[k]) lra_length_graph_output(v, x->lists[k]);
    }
    m->n_layers = x->nodes.n;
    return 0;
}

lra_engine_maps *lra_engine_maps_open(const lra_train_spec *run, lra_device *device,
                                      lra_weights_kind weights, int64_t B, lra_err *e)
{
    lra_engine_maps *m = lra_alloc(sizeof *m);
    *m = (lra_engine_maps){.filled = false};
    int rc = lra_load_model(&m->model, run, device, weights, e);
    m->model.type = LRA_F32;
    int n = rc == 0 ? m->model.buckets.n : 0;
    m->graph = lra_alloc_array((size_t)n + 1, sizeof *m->graph);
    for (int i = 0; i < n && rc == 0; i++) {
        lra_loaded_graph(&m->model, B, m->model.buckets.length[i]);
        rc = add_graph(m, i, e);
    }
    if (rc == 0) rc = lra_loaded_plan(&m->model, e);
    m->block = lra_alloc_array((size_t)m->n_layers + 1, sizeof *m->block);
    if (rc == 0) return m;
    lra_engine_maps_close(m);
    return NULL;
}

static void drop(lra_engine_maps *m)
{
    for (int k = 0; k < m->n_layers && m->block; k++) {
        lra_free(m->block[k].value);
        m->block[k] = (lra_answer){.rank = 0};
    }
    m->filled = false;
}

void lra_engine_maps_close(lra_engine_maps *m)
{
    if (!m) return;
    drop(m);
    lra_loaded_free(&m->model);
    lra_free(m->graph);
    lra_free(m->block);
    lra_free(m);
}

/* ---- one run --------------------------------------------------------------------------------- */

/* A request for rows from .. to-1, of which the batch rows from `first` on are evaluated by one
 * graph. */
typedef struct {
    const lra_length_graph *v;
    const map_graph *x;
    const lra_request *q;
    int64_t first, from, to;
    int64_t extra; /* positions before the first token */
} part;

/* Converts the index s of a sequence in the graph's batch to its index in the request; -1: the
 * request has no such sequence. */
static int64_t sequence_at(const part *p, int64_t s)
{
    int64_t row = p->first + s % p->v->rows;
    return row < p->q->B ? s / p->v->rows * p->q->B + row : -1;
}

/* Number of positions of sequence `own` of the request; 0: it is empty. */
static int64_t positions_of(const part *p, int64_t own)
{
    return p->q->length[own] > 0 ? p->q->length[own] + p->extra : 0;
}

static int set_inputs(const part *p, lra_err *e)
{
    const lra_request *q = p->q;
    const lra_length_graph *v = p->v;
    size_t n = (size_t)v->network.n, size;
    lra_request_tokens(q, 0, &size);
    char *tokens = lra_alloc_array(n * (size_t)v->T, size);
    int32_t *length = lra_alloc_array(n, sizeof *length);
    for (int64_t s = 0; s < v->network.n; s++) {
        int64_t own = sequence_at(p, s);
        if (own < 0) continue;
        memcpy(tokens + (size_t)(s * v->T) * size, lra_request_tokens(q, own, &size),
               (size_t)q->T * size);
        length[s] = q->length[own];
    }
    lra_batch b = {.n = v->network.n, .length = length};
    if (q->token)
        b.token = (int32_t *)(void *)tokens;
    else
        b.value = (float *)(void *)tokens;
    int rc = lra_session_set_inputs(&v->network, v->plan, &b, e);
    lra_free(tokens);
    lra_free(length);
    return rc;
}

/* Runs the graph; position rows from `at` on are requested from attention ops. */
static int run(const lra_engine_maps *m, const part *p, int64_t at, lra_err *e)
{
    int64_t n = p->v->network.n, C = p->x->C;
    int32_t *position = lra_alloc_array((size_t)(n * C) + 1, sizeof *position);
    for (int64_t k = 0; k < n * C; k++)
        position[k] = at + k % C < p->to ? (int32_t)(at + k % C) : -1;
    int rc = set_inputs(p, e);
    if (rc == 0 && C) rc = lra_set(p->v->plan, p->x->position, position, e);
    if (rc == 0) rc = lra_length_graph_run(&m->model, p->v, e);
    lra_free(position);
    return rc;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Stores the magnitudes of a row with n weights w, NAN where masked, divided by their sum unless
 * raw. */
static void store_row(int64_t n, const double *w, bool raw, int64_t P, float *to)
{
    double sum = raw ? 1 : 0;
    for (int64_t j = 0; j < n && !raw; j++)
        if (!isnan(w[j])) sum += fabs(w[j]);
    for (int64_t j = 0; j < P; j++) {
        bool masked = j >= n || isnan(w[j]);
        to[j] = masked ? LRA_MASKED_WEIGHT : sum > 0 ? (float)(fabs(w[j]) / sum) : 0;
    }
}

/* The rows of one layer after a run: those of a layer whose matrix a family computes
 * (mixing_matrix.h), or C rows of an attention op from row `at` on. */
typedef struct {
    const lra_matrix_values *family; /* NULL: the layer is an attention op */
    const lra_tensor *node;
    const float *rows; /* (n,keys,H,C) weights of C rows */
    const int32_t *list;
    int64_t keys, H, C, listed, at;
} layer_rows;

/* Row i of a sequence with n positions: w (n). */
static void read_row(const layer_rows *x, int64_t s, int64_t head, int64_t i, int64_t n,
                     uint8_t *allowed, double *w)
{
    if (x->family) {
        x->family->of->family->row(x->family, s, head, i, n, w);
        return;
    }
    lra_attention_allowed(x->node, n, head, i, x->list ? x->list + s * x->listed : NULL, allowed);
    const float *first = x->rows + (s * x->keys * x->H + head) * x->C + (i - x->at);
    for (int64_t j = 0; j < n; j++)
        w[j] = allowed[j] ? (double)first[j * x->H * x->C] : (double)NAN;
}

/* Stores rows begin .. end-1 of a layer for all sequences of a part. */
static void store_rows(const part *p, const layer_rows *x, int64_t begin, int64_t end,
                       lra_answer *out)
{
    int64_t H = out->dims[1], Q = out->dims[2], P = out->dims[3];
#pragma omp parallel for schedule(dynamic)
    for (int64_t k = 0; k < p->v->network.n * H; k++) {
        int64_t s = k / H, head = k % H, own = sequence_at(p, s);
        int64_t n = own < 0 ? 0 : positions_of(p, own);
        double *w = lra_alloc_array((size_t)P + 1, sizeof *w);
        uint8_t *allowed = lra_alloc_array((size_t)P + 1, 1);
        for (int64_t i = begin; i < end && own >= 0; i++) {
            if (i < n) read_row(x, s, head, i, n, allowed, w);
            store_row(i < n ? n : 0, w, !x->family, P,
                      out->value + ((own * H + head) * Q + i - p->from) * P);
        }
        lra_free(allowed);
        lra_free(w);
    }
}

/* Reads the rows of an attention op from row `at` on. */
static int take_op(const part *p, int k, int64_t at, lra_answer *out, lra_err *e)
{
    const lra_tensor *rows = p->x->rows[k], *lists = p->x->lists[k];
    float *own = lra_alloc_array((size_t)lra_elements(rows), sizeof *own);
    int32_t *list = lists ? lra_alloc_array((size_t)lra_elements(lists), sizeof *list) : NULL;
    int rc = lra_get(p->v->plan, rows, own, e);
    if (rc == 0 && lists) rc = lra_get(p->v->plan, lists, list, e);
    const layer_rows x = {.node = p->x->nodes.node[k],
                          .rows = own,
                          .list = list,
                          .keys = rows->shape.d[1],
                          .H = rows->shape.d[2],
                          .C = p->x->C,
                          .listed = lists ? lra_elements(lists) / p->v->network.n : 0,
                          .at = at};
    if (rc == 0) store_rows(p, &x, at, at + x.C < p->to ? at + x.C : p->to, out);
    lra_free(own);
    lra_free(list);
    return rc;
}

static int take_family(const part *p, int k, lra_answer *out, lra_err *e)
{
    lra_matrix_values values;
    int rc = lra_matrix_read(p->v, &p->x->nodes.matrix[k], &values, e);
    const layer_rows x = {.family = &values};
    if (rc == 0) store_rows(p, &x, p->from, p->to, out);
    lra_matrix_free(&values);
    return rc;
}

/* Computes the rows of all layers for the sequences of a part. */
static int take_part(lra_engine_maps *m, const part *p, lra_err *e)
{
    int64_t step = p->x->C ? p->x->C : p->to - p->from;
    int rc = 0;
    for (int64_t at = p->from; at < p->to && rc == 0; at += step) {
        rc = run(m, p, at, e);
        for (int k = 0; k < m->n_layers && rc == 0; k++)
            if (!p->x->nodes.matrix[k].family)
                rc = take_op(p, k, at, &m->block[k], e);
            else if (at == p->from)
                rc = take_family(p, k, &m->block[k], e);
    }
    return rc;
}

/* ---- a request ------------------------------------------------------------------------------- */

static uint64_t hash_of(const lra_request *q, int64_t from, int64_t to)
{
    size_t size, n = (size_t)lra_request_sequences(q);
    lra_request_tokens(q, 0, &size);
    const int64_t shape[] = {q->B, q->T, q->towers, from, to};
    uint64_t hash[] = {lra_hash64(shape, sizeof shape),
                       lra_hash64(lra_request_tokens(q, 0, &size), n * (size_t)q->T * size),
                       lra_hash64(q->length, n * sizeof *q->length)};
    return lra_hash64(hash, sizeof hash);
}

/* Index of the shortest graph for at least T tokens; -1: there is none. */
static int graph_for(const lra_engine_maps *m, int64_t T)
{
    int best = -1;
    for (int k = 0; k < m->model.n_views; k++)
        if (m->model.view[k]->T >= T && (best < 0 || m->model.view[k]->T < m->model.view[best]->T))
            best = k;
    return best;
}

static int fill(lra_engine_maps *m, const lra_request *q, int64_t from, int64_t to, lra_err *e)
{
    int i = graph_for(m, q->T), rc = 0;
    if (i < 0)
        return lra_fail(e,
                        "attention matrices are computed for at most %lld tokens, the request "
                        "has %lld",
                        (long long)m->model.view[m->model.n_views - 1]->T, (long long)q->T);
    part p = {.v = m->model.view[i], .x = &m->graph[i], .q = q, .from = from, .to = to};
    p.extra = lra_attention_extra(p.v);
    int64_t n = lra_request_sequences(q), P = q->T + p.extra;
    drop(m);
    for (int k = 0; k < m->n_layers && rc == 0; k++) {
        int64_t H = lra_attention_layer_heads(&p.x->nodes, k);
        m->block[k] = (lra_answer){.rank = 4, .dims = {n, H, to - from, P}};
        m->block[k].value = lra_try_array(n * H * (to - from) * P, sizeof(float), "attention", e);
        if (!m->block[k].value) rc = LRA_FAILED;
    }
    for (p.first = 0; p.first < q->B && rc == 0; p.first += p.v->rows) rc = take_part(m, &p, e);
    if (rc != 0)
        drop(m);
    else
        m->filled = true, m->inputs = hash_of(q, from, to);
    return rc;
}

int lra_engine_maps_rows(lra_engine_maps *m, const lra_request *q, int k, int64_t from, int64_t to,
                         lra_answer *out, lra_err *e)
{
    *out = (lra_answer){.rank = 0};
    if (!m->filled || m->inputs != hash_of(q, from, to))
        if (fill(m, q, from, to, e) != 0) return LRA_FAILED;
    const lra_answer *x = &m->block[k];
    int64_t n = x->dims[0] * x->dims[1] * x->dims[2] * x->dims[3];
    *out = *x;
    out->value = lra_try_array(n, sizeof(float), "attention", e);
    if (!out->value) return LRA_FAILED;
    memcpy(out->value, x->value, (size_t)n * sizeof(float));
    return 0;
}

/* ---- layers ---------------------------------------------------------------------------------- */

/* Unique name of layer k: a number is appended if an earlier layer has the same name. */
static char *unique_name(const lra_engine_layers *x, const lra_tensor *node, int k)
{
    char *first = lra_attention_layer_name(node, k), *name = lra_copy_text(first);
    for (int again = 2, i = 0; i < x->n; i++)
        if (strcmp(x->layer[i], name) == 0) {
            lra_free(name);
            name = lra_format("%s-%d", first, again++);
            i = -1;
        }
    lra_free(first);
    return name;
}

int lra_engine_layers_find(const lra_train_spec *run, lra_device *device, lra_engine_layers *out,
                           lra_err *e)
{
    lra_loaded_model m;
    lra_attention_nodes *nodes = lra_alloc(sizeof *nodes);
    *out = (lra_engine_layers){.softmax = true};
    int rc = lra_load_model(&m, run, device, LRA_INITIAL_WEIGHTS, e);
    if (rc == 0) {
        m.type = LRA_F32;
        const lra_length_graph *v = lra_loaded_graph(&m, 1, m.buckets.length[0]);
        rc = lra_attention_nodes_of(v, nodes, e);
        out->prepended = lra_attention_extra(v);
    }
    int n = rc == 0 ? nodes->n : 0;
    out->layer = lra_alloc_array((size_t)n + 1, sizeof *out->layer);
    for (int k = 0; k < n; k++) {
        char *name = unique_name(out, nodes->node[k], k);
        out->layer[out->n++] = name;
        bool op = !nodes->matrix[k].family;
        out->softmax = out->softmax && (!op || lra_attention_is_softmax(nodes->node[k]));
    }
    lra_loaded_free(&m);
    lra_free(nodes);
    return rc == LRA_USAGE ? 0 : rc; /* LRA_USAGE: the model has no attention */
}

void lra_engine_layers_free(lra_engine_layers *x)
{
    for (int k = 0; k < x->n; k++) lra_free(x->layer[k]);
    lra_free(x->layer);
    *x = (lra_engine_layers){.n = 0};
}
