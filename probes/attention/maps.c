/* Whole maps. */
#include "probes/attention/maps.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/graph/op.h"
#include "kernels/ops/attention_statistics.h"
#include "probes/attention/nodes.h"
#include "probes/influence/sample_rows.h"

static const double most_numbers = 1 << 25;    /* of the maps of a batch */
static const double most_bytes = 2147483648.0; /* of what shares are made of */

typedef struct {
    const lra_opened *m;
    lra_maps *out;
    lra_shares **shares; /* (heads); NULL: none */
    int64_t *place;      /* of rows of the split among those of the sample */
    int64_t parts, best; /* sequences of a row; positions of the map that is kept */
    int64_t best_row;
    struct {
        lra_attention_nodes nodes;
        lra_tensor *map[LRA_ATTENTION_LAYERS], *lists[LRA_ATTENTION_LAYERS];
    } view[LRA_MAX_BUCKETS];
} work;

/* ---- a row of a map ----------------------------------------------------------------------------------------- */

/* A map of an example: row i at row(i), tree of its tokens. */
typedef struct {
    const lra_tensor *node;
    int64_t example, T, head, extra;
    const float *first; /* row 0; the next one is `step` behind */
    int64_t step;
    const int32_t *list;
    const lra_tree *tree; /* NULL: none */
} map_of;

typedef struct {
    double mass, equal;
    int64_t rows;
} sums;

/* Mass of row i on those that are related to its token. */
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

static void add_map(work *w, const map_of *m, int at)
{
    lra_head_maps *h = &w->out->head[at];
    double *share = lra_alloc_array((size_t)m->T, sizeof *share);
    uint8_t *allowed = lra_alloc_array((size_t)m->T, 1);
    sums related[LRA_RELATIONS] = {{0}};
    for (int64_t i = 0; i < m->T; i++) {
        double sum = 0, keys = 0;
        int64_t from, to;
        lra_attention_allowed(m->node, m->T, m->head, i, m->list, allowed);
        lra_attention_span(m->node, m->T, i, &from, &to);
        for (int64_t j = 0; j < m->T; j++) {
            share[j] = allowed[j] ? (double)m->first[i * m->step + j] : 0;
            sum += share[j], keys += allowed[j];
        }
        for (int64_t j = 0; j < m->T; j++) share[j] = sum > 0 ? share[j] / sum : 0;
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
    lra_free(share);
    lra_free(allowed);
}

/* Makes room for the maps of an example, where it is longer than those that are kept, and not too long. */
static void keep(work *w, int64_t example, int64_t row, int64_t T)
{
    lra_maps *out = w->out;
    if (T > LRA_MAPS_KEPT || T <= out->head[0].T) return;
    w->best_row = example, out->kept_row = row;
    for (int i = 0; i < out->n_heads; i++) {
        out->head[i].T = T;
        out->head[i].map = lra_resize(out->head[i].map, (size_t)(T * T) * sizeof(double));
    }
}

static lra_tree tree_of(const work *w, const lra_batch *b, const lra_view *v, int64_t s)
{
    if (!w->out->related) return (lra_tree){0};
    return lra_tree_new(b->token + s * v->T, b->length[s]);
}

static int take_layer(work *w, const lra_view *v, const lra_batch *b, int view, int k, int first,
                      lra_err *e)
{
    const lra_tensor *map = w->view[view].map[k], *lists = w->view[view].lists[k];
    const int64_t *d = map->shape.d, T = d[1], H = d[2];
    float *x = lra_alloc_array((size_t)lra_elements(map), sizeof *x);
    int64_t listed = lists ? lra_elements(lists) : 0;
    int32_t *list = lra_alloc_array((size_t)listed + 1, sizeof *list);
    int rc = lra_get(v->plan, map, x, e);
    if (rc == 0 && lists) rc = lra_get(v->plan, lists, list, e);
    for (int64_t s = 0; s < v->network.n && rc == 0; s++) {
        int64_t row = b->row[s % v->rows], extra = T - v->T;
        if (row < 0 || b->length[s] <= 0) continue;
        int64_t example = w->place[row] * w->parts + s / v->rows, own = b->length[s] + extra;
        lra_tree tree = tree_of(w, b, v, s);
        if (k == 0) keep(w, example, row, own);
        for (int64_t h = 0; h < H; h++) {
            const map_of m = {.node = w->view[view].nodes.node[k],
                              .example = example,
                              .T = own,
                              .head = h,
                              .extra = extra,
                              .first = x + (s * T * H + h) * T,
                              .step = H * T,
                              .list = lists ? list + s * (listed / v->network.n) : NULL,
                              .tree = w->out->related ? &tree : NULL};
            add_map(w, &m, first + (int)h);
        }
        lra_tree_free(&tree);
    }
    lra_free(x);
    lra_free(list);
    return rc;
}

static int take_batch(const lra_view *v, const lra_batch *b, void *context, lra_err *e)
{
    work *w = context;
    int view = 0, first = 0, rc = 0;
    while (w->m->view[view] != v) view++;
    for (int k = 0; k < w->view[view].nodes.n && rc == 0; k++) {
        rc = take_layer(w, v, b, view, k, first, e);
        first += (int)lra_attention_heads(w->view[view].nodes.node[k]);
    }
    return rc;
}

/* ---- the graph ------------------------------------------------------------------------------------------------ */

static void fill_unit(const lra_fill *f, double *v)
{
    int64_t T = f->shape.d[0];
    for (int64_t i = 0; i < T * T; i++) v[i] = i % T == i / T;
}

lra_tensor *lra_attention_map(const lra_tensor *node)
{
    const lra_param_spec spec = {LRA_FILL(fill_unit)};
    lra_graph *g = node->graph;
    int64_t T = lra_attention_positions(node), B = node->src[0]->shape.d[0];
    char name[40];
    snprintf(name, sizeof name, "unit%lld", (long long)T);
    lra_tensor *unit = lra_find(g, name); /* of another layer */
    if (!unit) unit = lra_constant(g, name, LRA_SHAPE(T, T), &spec);
    unit = lra_reshape(lra_cast(unit, lra_elem(g)), LRA_SHAPE(1, T, 1, T));
    lra_tensor *zeros = lra_zeros(g, lra_elem(g), LRA_SHAPE(B, T, lra_attention_heads(node), T));
    return lra_attention_apply(node, lra_add(zeros, unit));
}

static int ask_view(work *w, int i, lra_err *e)
{
    lra_view *v = w->m->view[i];
    int rc = lra_attention_nodes_of(v, &w->view[i].nodes, e);
    if (rc != 0) return rc;
    for (int k = 0; k < w->view[i].nodes.n; k++) {
        const lra_tensor *node = w->view[i].nodes.node[k];
        w->view[i].lists[k] = lra_attention_lists(node);
        w->view[i].map[k] = lra_attention_map(node);
        lra_view_ask(v, w->view[i].map[k]);
        if (w->view[i].lists[k]) lra_view_ask(v, w->view[i].lists[k]);
    }
    return 0;
}

/* Lengths of the sequences of the sample, by their number. */
static int64_t lengths_of(const lra_opened *m, const int64_t *index, int64_t rows, int64_t parts,
                          int64_t extra, int64_t *length)
{
    const lra_sequences *q = &m->run->data->split[LRA_TEST_SPLIT];
    for (int64_t i = 0; i < rows; i++) {
        int64_t all = lra_sequences_length(q, index[i]);
        length[i * parts] = (parts > 1 ? q->middle[index[i]] : all) + extra;
        if (parts > 1) length[i * parts + 1] = all - q->middle[index[i]] + extra;
    }
    return rows * parts;
}

static void open_heads(work *w, int64_t rows, const int64_t *index)
{
    lra_maps *out = w->out;
    const lra_attention_nodes *nodes = &w->view[0].nodes;
    int64_t extra = lra_attention_positions(nodes->node[0]) - w->m->view[0]->T;
    int64_t *length = lra_alloc_array((size_t)(rows * w->parts) + 1, sizeof *length);
    int64_t n = lengths_of(w->m, index, rows, w->parts, extra, length);
    out->n_layers = nodes->n;
    for (int k = 0; k < nodes->n; k++) out->n_heads += (int)lra_attention_heads(nodes->node[k]);
    out->head = lra_alloc_array((size_t)out->n_heads, sizeof *out->head);
    double T = (double)lra_shares_positions(n, length);
    out->shares = T > 0 && 16 * T * T * out->n_heads <= most_bytes;
    if (out->shares) w->shares = lra_alloc_array((size_t)out->n_heads, sizeof(lra_shares *));
    for (int i = 0; i < out->n_heads; i++) {
        if (out->shares) w->shares[i] = lra_shares_new(n, length);
        for (int r = 0; r < LRA_RELATIONS && out->related; r++)
            out->head[i].related[r] = lra_alloc_array((size_t)n + 1, sizeof(lra_related));
        out->head[i].n_related = out->related ? n : 0;
    }
    lra_free(length);
}

/* So many rows that the maps of a batch have their place. */
static int64_t rows_of(const lra_train_spec *run, int64_t T, int n_heads)
{
    double rows = floor(most_numbers / ((double)(T * T) * n_heads));
    return rows < 1 ? 1 : rows < (double)run->batch ? (int64_t)rows : run->batch;
}

static int measure(lra_opened *m, work *w, lra_err *e)
{
    int64_t *index = NULL;
    int rc = 0;
    lra_open_buckets(m);
    for (int i = 0; i < m->n_views && rc == 0; i++) rc = ask_view(w, i, e);
    if (rc == 0) rc = lra_open_plan(m, e);
    if (rc == 0) {
        int64_t rows = lra_sample_rows(m, &index, &w->place);
        w->parts = m->view[0]->network.n / m->view[0]->rows;
        open_heads(w, rows, index);
        rc = lra_open_run(m, LRA_TEST_SPLIT, NULL, take_batch, w, e);
    }
    for (int i = 0; i < w->out->n_heads && w->shares; i++) {
        lra_shares_findings(w->shares[i], w->out->head[i].share);
        lra_shares_free(w->shares[i]);
    }
    lra_free(w->shares);
    lra_free(w->place);
    lra_free(index);
    return rc;
}

int lra_maps_measure(const lra_train_spec *run, lra_device *dev, lra_open_weights weights,
                     int64_t sample, int n_heads, lra_maps *out, lra_err *e)
{
    lra_opened m;
    lra_train_spec own = *run;
    work *w = lra_alloc(sizeof *w);
    *w = (work){.m = &m, .out = out, .best_row = -1};
    *out = (lra_maps){.kept_row = -1, .related = strncmp(run->data->task->name, "listops", 7) == 0};
    own.batch = rows_of(run, run->data->max_length, n_heads);
    int rc = 0;
    if (run->data->max_length < LRA_MAPS_LONGEST + 1) {
        rc = lra_open(&m, &own, dev, weights, e);
        m.sample = sample;
        m.type = LRA_F32;
        if (rc == 0) rc = measure(&m, w, e);
        lra_open_close(&m);
    }
    lra_free(w);
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
