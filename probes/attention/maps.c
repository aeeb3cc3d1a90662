/* Measures statistics that need complete attention maps (maps.h). */
#include "probes/attention/maps.h"

#include <math.h>
#include <string.h>

#include "datasets/listops/tree.h"
#include "kernels/base/core/mem.h"
#include "kernels/graph/op.h"
#include "kernels/ops/attention/attention_statistics.h"
#include "probes/shared/attention_nodes.h"
#include "probes/shared/sample_rows.h"

static const double most_numbers = 1 << 25; /* maximum number of values in the maps of a batch */
/* maximum number of (query, key) pairs in the fit of the lifts of a head */
static const double most_pairs = 4e6;
enum {
    FEWEST_LIFTED = 16
}; /* minimum number of examples in the fit of the lifts, whatever their number of pairs */
/* maximum size in bytes of the arrays from which shares are computed */
static const double most_bytes = 2147483648.0;

typedef lra_maps_work work;
typedef lra_map_of map_of;

/* A loaded model, with the attention nodes and the requested maps of each of its graphs. */
typedef struct {
    work w;
    const lra_loaded_model *m;
    struct {
        lra_attention_nodes nodes;
        lra_tensor *map[LRA_ATTENTION_LAYERS], *lists[LRA_ATTENTION_LAYERS];
    } view[LRA_MAX_BUCKETS];
} engine;

/* ---- a row of a map -------------------------------------------------------------------------- */

typedef struct {
    double mass, equal;
    int64_t rows;
} sums;

/* Adds, for each relation, the attention weight that row i puts on keys with that relation to the
 * query, and its uniform baseline. */
static void relate(const map_of *m, int64_t i, const double *share, const uint8_t *allowed,
                   double keys, sums to[LRA_RELATIONS])
{
    for (int r = 0; r < LRA_RELATIONS; r++) {
        double mass = 0, n = 0;
        for (int64_t j = m->extra; j < m->T; j++)
            if (allowed[j] && lra_tree_is(m->tree, (lra_relation)r, i - m->extra, j - m->extra))
                mass += share[j], n++;
        if (n == 0) continue;
        to[r].mass += mass, to[r].equal += n / keys, to[r].rows++;
    }
}

/* Reads row i: share (T), weights normalised to sum 1; allowed (T): 1 if the key is unmasked; keys
 * outside [from, to) are masked. Returns the sum of the weights before normalisation. */
static double read_row(const map_of *m, int64_t i, double *share, uint8_t *allowed, int64_t *from,
                       int64_t *to)
{
    double sum = 0;
    *from = 0, *to = m->T;
    if (m->rows) {
        m->rows->of->family->row(m->rows, m->sequence, m->head, i, m->T, share);
        for (int64_t j = 0; j < m->T; j++) {
            bool may = !isnan(share[j]);
            allowed[j] = may, share[j] = fabs(share[j]);
        }
    } else {
        lra_attention_allowed(m->node, m->T, m->head, i, m->list, allowed);
        lra_attention_span(m->node, m->T, i, from, to);
        for (int64_t j = 0; j < m->T; j++) share[j] = (double)m->first[i * m->step + j];
    }
    for (int64_t j = 0; j < m->T; j++) sum += share[j] = allowed[j] ? share[j] : 0;
    for (int64_t j = 0; j < m->T; j++) share[j] = sum > 0 ? share[j] / sum : 0;
    return sum;
}

/* ---- content-blind heads --------------------------------------------------------------------- */

/* Token class: 0 operator, 1 digit, 2 closing bracket, 3 other. */
static uint8_t class_of(int32_t token)
{
    if (token >= LISTOPS_MIN) return 0;
    if (token >= LISTOPS_DIGIT) return 1;
    return token == LISTOPS_CLOSE ? 2 : 3;
}

/* The key with the largest mean share. */
static int64_t sink_of(const map_of *m, double *share, uint8_t *allowed)
{
    double *column = lra_alloc_array((size_t)m->T, sizeof *column);
    int64_t from, to, at = 0;
    for (int64_t i = 0; i < m->T; i++) {
        read_row(m, i, share, allowed, &from, &to);
        for (int64_t j = 0; j < m->T; j++) column[j] += share[j];
    }
    for (int64_t j = 1; j < m->T; j++)
        if (column[j] > column[at]) at = j;
    lra_free(column);
    return at;
}

/* Adds the keys of row i that have a relation to its query, for each relation. */
static void add_related(lra_blind *b, const map_of *m, int64_t i, const uint8_t *allowed,
                        int32_t *key)
{
    for (int r = 0; r < LRA_RELATIONS && i >= m->extra; r++) {
        int64_t n = 0;
        for (int64_t j = m->extra; j < m->T; j++)
            if (allowed[j] && lra_tree_is(m->tree, (lra_relation)r, i - m->extra, j - m->extra))
                key[n++] = (int32_t)j;
        if (n > 0) lra_blind_related(b, r, n, key);
    }
}

/* Adds the rows of an example to the content-blind fit. sink: the key with the largest mean share
 * is excluded; rows without other weights are skipped. */
static void add_blind(lra_blind *b, const map_of *m, bool sink, double *share, uint8_t *allowed)
{
    const double least = 1e-6;
    int32_t *key = lra_alloc_array((size_t)m->T, sizeof *key);
    int64_t from, to, hole = sink ? sink_of(m, share, allowed) : -1;
    lra_blind_example(b, m->T, m->class);
    for (int64_t i = 0; i < m->T; i++) {
        double left = 0;
        if (!(read_row(m, i, share, allowed, &from, &to) > 0)) continue;
        if (hole >= 0) share[hole] = 0, allowed[hole] = 0;
        for (int64_t j = 0; j < m->T; j++) left += share[j];
        if (!(left > least)) continue;
        for (int64_t j = 0; j < m->T; j++) share[j] /= left;
        lra_blind_row(b, i, share, allowed);
        add_related(b, m, i, allowed, key);
    }
    lra_free(key);
}

void lra_maps_add(work *w, const map_of *m, int at)
{
    lra_head_maps *h = &w->out->head[at];
    double *share = lra_alloc_array((size_t)m->T, sizeof *share);
    uint8_t *allowed = lra_alloc_array((size_t)m->T, 1);
    sums related[LRA_RELATIONS] = {{0}};
    for (int64_t i = 0; i < m->T; i++) {
        int64_t from, to;
        double sum = read_row(m, i, share, allowed, &from, &to), keys = 0;
        for (int64_t j = 0; j < m->T; j++) keys += allowed[j];
        if (w->shares)
            lra_shares_row(w->shares[at], m->example, i, from, to - from, share + from,
                           allowed + from);
        if (m->tree && i >= m->extra && sum > 0) relate(m, i, share, allowed, keys, related);
        if (h->T == m->T && h->map && w->best_row == m->example)
            memcpy(h->map + i * m->T, share, (size_t)m->T * sizeof *share);
    }
    for (int r = 0; r < LRA_RELATIONS && m->tree; r++) {
        double n = (double)related[r].rows;
        h->related[r][m->example] = (lra_related){n > 0 ? related[r].mass / n : NAN,
                                                  n > 0 ? related[r].equal / n : NAN};
    }
    if (w->blind && m->example % w->every == 0)
        add_blind(w->blind[at], m, w->sink && w->sink[at], share, allowed);
    lra_free(share);
    lra_free(allowed);
}

void lra_maps_keep(work *w, int64_t example, int64_t row, int64_t T)
{
    lra_maps *out = w->out;
    if (T > LRA_MAPS_KEPT || T <= out->head[0].T) return;
    w->best_row = example, out->kept_row = row;
    for (int i = 0; i < out->n_heads; i++) {
        out->head[i].T = T;
        out->head[i].map = lra_resize(out->head[i].map, (size_t)(T * T) * sizeof(double));
    }
}

lra_map_example lra_maps_example(const work *w, const int32_t *token, int64_t length, int64_t extra)
{
    lra_map_example x = {.class = lra_alloc_array((size_t)(length + extra) + 1, 1)};
    /* without trees, the inputs can be real numbers, which cannot be passed as tokens */
    if (!w->out->related) return x;
    x.tree = lra_tree_new(token, length);
    for (int64_t i = 0; i < length + extra; i++)
        x.class[i] = i < extra ? 3 : class_of(token[i - extra]);
    return x;
}

void lra_maps_example_free(lra_map_example *x)
{
    lra_tree_free(&x->tree);
    lra_free(x->class);
}

/* Results of a layer after a forward pass: complete maps (B,T,H,T) and key lists, or arrays from
 * which rows are computed. */
typedef struct {
    float *map;
    int32_t *list;
    int64_t listed; /* number of entries of the key list of one example */
    lra_matrix_values rows;
} left;

static int read_left(const engine *w, const lra_length_graph *v, int view, int k, left *x,
                     lra_err *e)
{
    const lra_matrix *matrix = &w->view[view].nodes.matrix[k];
    const lra_tensor *map = w->view[view].map[k], *lists = w->view[view].lists[k];
    *x = (left){.map = NULL};
    if (matrix->family) return lra_matrix_read(v, matrix, &x->rows, e);
    x->map = lra_alloc_array((size_t)lra_elements(map), sizeof *x->map);
    int rc = lra_get(v->plan, map, x->map, e);
    if (!lists || rc != 0) return rc;
    x->listed = lra_elements(lists) / v->network.n;
    x->list = lra_alloc_array((size_t)lra_elements(lists), sizeof *x->list);
    return lra_get(v->plan, lists, x->list, e);
}

static void free_left(left *x)
{
    lra_matrix_free(&x->rows);
    lra_free(x->map);
    lra_free(x->list);
}

static int take_layer(engine *g, const lra_length_graph *v, const lra_batch *b, int view, int k,
                      int first, lra_err *e)
{
    work *w = &g->w;
    const lra_attention_nodes *nodes = &g->view[view].nodes;
    int64_t H = lra_attention_layer_heads(nodes, k), T = lra_attention_layer_positions(nodes, k);
    left x;
    int rc = read_left(g, v, view, k, &x, e);
    for (int64_t s = 0; s < v->network.n && rc == 0; s++) {
        int64_t row = b->row[s % v->rows], extra = lra_attention_extra(v);
        if (row < 0 || b->length[s] <= 0) continue;
        int64_t example = w->place[row] * w->parts + s / v->rows, own = b->length[s] + extra;
        lra_map_example about = lra_maps_example(w, b->token ? b->token + s * v->T : NULL,
                                                 b->length[s], extra);
        if (k == 0) lra_maps_keep(w, example, row, own);
        for (int64_t h = 0; h < H; h++) {
            const map_of m = {.rows = x.map ? NULL : &x.rows,
                              .sequence = s,
                              .node = nodes->node[k],
                              .example = example,
                              .T = own,
                              .head = h,
                              .extra = extra,
                              .first = x.map ? x.map + (s * T * H + h) * T : NULL,
                              .step = H * T,
                              .list = x.list ? x.list + s * x.listed : NULL,
                              .tree = w->out->related ? &about.tree : NULL,
                              .class = about.class};
            lra_maps_add(w, &m, first + (int)h);
        }
        lra_maps_example_free(&about);
    }
    free_left(&x);
    return rc;
}

static int take_batch(const lra_length_graph *v, const lra_batch *b, void *context, lra_err *e)
{
    engine *w = context;
    int view = 0, first = 0, rc = 0;
    while (w->m->view[view] != v) view++;
    for (int k = 0; k < w->view[view].nodes.n && rc == 0; k++) {
        rc = take_layer(w, v, b, view, k, first, e);
        first += (int)lra_attention_layer_heads(&w->view[view].nodes, k);
    }
    return rc;
}

/* ---- the graph ------------------------------------------------------------------------------- */

lra_tensor *lra_attention_map(const lra_tensor *node)
{
    int64_t T = lra_attention_positions(node), B = node->src[0]->shape.d[0];
    return lra_attention_apply(node, lra_matrix_unit(node->graph, B, T, lra_attention_heads(node)));
}

static int evaluate_graph(engine *w, int i, lra_err *e)
{
    lra_length_graph *v = w->m->view[i];
    int rc = lra_attention_nodes_of(v, &w->view[i].nodes, e);
    if (rc != 0) return rc;
    for (int k = 0; k < w->view[i].nodes.n; k++) {
        const lra_tensor *node = w->view[i].nodes.node[k];
        const lra_matrix *matrix = &w->view[i].nodes.matrix[k];
        if (matrix->family) {
            lra_matrix_add_outputs(v, matrix);
            continue;
        }
        w->view[i].lists[k] = lra_attention_lists(node);
        w->view[i].map[k] = lra_attention_map(node);
        lra_length_graph_output(v, w->view[i].map[k]);
        if (w->view[i].lists[k]) lra_length_graph_output(v, w->view[i].lists[k]);
    }
    return 0;
}

/* Length of a test row in tokens; of a stream (language modelling), of its window i. */
static int64_t length_of(const lra_dataset *data, int64_t i)
{
    const lra_sequences *q = &data->split[LRA_TEST_SPLIT];
    if (data->task->goal != LRA_GOAL_NEXT) return lra_sequences_length(q, i);
    int64_t rest = q->start[1] - 1 - i * data->max_length;
    return rest < 1 ? 1 : rest < data->max_length ? rest : data->max_length;
}

/* Writes the number of positions of each sequence of the sample; returns the number of
 * sequences. */
static int64_t lengths_of(const lra_dataset *data, const int64_t *index, int64_t rows,
                          int64_t parts, int64_t extra, int64_t *length)
{
    const lra_sequences *q = &data->split[LRA_TEST_SPLIT];
    for (int64_t i = 0; i < rows; i++) {
        int64_t all = length_of(data, index[i]);
        length[i * parts] = (parts > 1 ? q->middle[index[i]] : all) + extra;
        if (parts > 1) length[i * parts + 1] = all - q->middle[index[i]] + extra;
    }
    return rows * parts;
}

/* Stride k such that every k-th of n examples together have few enough pairs for the fits. */
static int64_t every_of(int64_t n, const int64_t *length)
{
    double pairs = 0;
    for (int64_t i = 0; i < n; i++) pairs += (double)length[i] * (double)length[i];
    int64_t every = (int64_t)ceil(pairs / most_pairs), most = n / FEWEST_LIFTED;
    every = every < most ? every : most;
    return every < 1 ? 1 : every;
}

void lra_maps_open(work *w, const lra_dataset *data, int n_layers, int n_heads, int64_t extra,
                   int64_t rows, const int64_t *index)
{
    lra_maps *out = w->out;
    int64_t *length = lra_alloc_array((size_t)(rows * w->parts) + 1, sizeof *length);
    int64_t n = lengths_of(data, index, rows, w->parts, extra, length);
    out->n_layers = n_layers, out->n_heads = n_heads;
    out->head = lra_alloc_array((size_t)out->n_heads, sizeof *out->head);
    double T = (double)lra_shares_positions(n, length);
    out->shares = T > 0 && 16 * T * T * out->n_heads <= most_bytes;
    if (out->shares) w->shares = lra_alloc_array((size_t)out->n_heads, sizeof(lra_shares *));
    if (out->related) w->blind = lra_alloc_array((size_t)out->n_heads, sizeof(lra_blind *));
    w->every = every_of(n, length);
    out->lifts_sampled = w->every > 1;
    for (int i = 0; i < out->n_heads; i++) {
        if (out->shares) w->shares[i] = lra_shares_new(n, length);
        if (out->related) w->blind[i] = lra_blind_new();
        for (int r = 0; r < LRA_RELATIONS && out->related; r++)
            out->head[i].related[r] = lra_alloc_array((size_t)n + 1, sizeof(lra_related));
        out->head[i].n_related = out->related ? n : 0;
    }
    lra_free(length);
}

void lra_maps_finish(work *w)
{
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < w->out->n_heads; i++) {
        if (!w->blind) continue;
        lra_blind_lifts(w->blind[i], false, LRA_RELATIONS, w->out->head[i].lift);
        lra_blind_lifts(w->blind[i], true, LRA_RELATIONS, w->out->head[i].lift_by_class);
        lra_blind_free(w->blind[i]);
    }
    lra_free(w->blind);
    for (int i = 0; i < w->out->n_heads && w->shares; i++) {
        lra_shares_measurements(w->shares[i], w->out->head[i].share);
        lra_shares_free(w->shares[i]);
    }
    lra_free(w->shares);
    lra_free(w->place);
}

/* Largest number of rows of a batch whose maps fit into memory. */
static int64_t rows_of(const lra_train_spec *run, int64_t T, int n_heads)
{
    double rows = floor(most_numbers / ((double)(T * T) * n_heads));
    return rows < 1 ? 1 : rows < (double)run->batch ? (int64_t)rows : run->batch;
}

static int measure(lra_loaded_model *m, engine *g, lra_err *e)
{
    int64_t *index = NULL;
    int rc = 0, n_heads = 0;
    lra_loaded_buckets(m);
    for (int i = 0; i < m->n_views && rc == 0; i++) rc = evaluate_graph(g, i, e);
    if (rc == 0) rc = lra_loaded_plan(m, e);
    if (rc == 0) {
        int64_t rows = lra_sample_rows(m, &index, &g->w.place);
        const lra_attention_nodes *nodes = &g->view[0].nodes;
        g->w.parts = m->view[0]->network.n / m->view[0]->rows;
        for (int k = 0; k < nodes->n; k++) n_heads += (int)lra_attention_layer_heads(nodes, k);
        lra_maps_open(&g->w, m->run->data, nodes->n, n_heads, lra_attention_extra(m->view[0]), rows,
                      index);
        rc = lra_loaded_run(m, LRA_TEST_SPLIT, NULL, take_batch, g, e);
    }
    lra_maps_finish(&g->w);
    lra_free(index);
    return rc;
}

lra_maps lra_maps_empty(const lra_dataset *data)
{
    return (lra_maps){.kept_row = -1,
                      .related = data->task->data.grammar == LRA_GRAMMAR_EXPRESSION};
}

int lra_maps_measure(const lra_train_spec *run, lra_device *dev, lra_weights_kind weights,
                     int64_t sample, int n_heads, const bool *sink, lra_maps *out, lra_err *e)
{
    lra_loaded_model m;
    lra_train_spec own = *run;
    engine *g = lra_alloc(sizeof *g);
    *g = (engine){.w = {.out = out, .sink = sink, .best_row = -1}, .m = &m};
    *out = lra_maps_empty(run->data);
    own.batch = rows_of(run, run->data->max_length, n_heads);
    int rc = 0;
    if (run->data->max_length < LRA_MAPS_LONGEST + 1) {
        rc = lra_load_model(&m, &own, dev, weights, e);
        m.sample = sample;
        m.type = LRA_F32;
        if (rc == 0) rc = measure(&m, g, e);
        lra_loaded_free(&m);
    }
    lra_free(g);
    return rc;
}

void lra_maps_free(lra_maps *m)
{
    for (int i = 0; i < m->n_heads; i++) {
        for (int r = 0; r < LRA_RELATIONS; r++) lra_free(m->head[i].related[r]);
        lra_free(m->head[i].map);
    }
    lra_free(m->head);
    *m = (lra_maps){0};
}
