/* Measures attention heads (heads.h). */
#include "probes/attention/heads.h"

#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/graph/op.h"
#include "kernels/ops/attention/attention_statistics.h"
#include "models/training/session.h"
#include "probes/attention/uniform_baseline.h"
#include "probes/attention/position_table.h"

enum { GROWN = 256 };

/* Arrays that are requested for one layer in one graph: statistics of each head; value-weighted
 * statistics of all heads together; key lists of sparse attention; input with the excluded key of
 * each head. */
typedef struct {
    lra_tensor *each, *together, *lists, *without; /* NULL: not requested */
} question;

typedef struct {
    const lra_loaded_model *m;
    lra_heads *heads;
    int64_t rows; /* maximum number of evaluated rows of an example's matrix, 0: all */
    bool again;   /* second pass: excludes the sinks that the first pass found */
    lra_attention_nodes nodes[LRA_MAX_BUCKETS];
    question requested[LRA_MAX_BUCKETS][LRA_ATTENTION_LAYERS];
    lra_uniform_baseline masks;
    int64_t done; /* number of examples in earlier batches */
} work;

double lra_head_sink(const lra_attention_head *h, double *equal)
{
    double sum = 0;
    *equal = 0;
    for (int64_t i = 0; i < h->examples; i++) {
        *equal += h->sink_equal[i] / (double)h->examples;
        sum += h->sink[i] / (double)h->examples;
    }
    return sum;
}

/* ---- an example ------------------------------------------------------------------------------ */

static void add_sink(lra_attention_head *h, int64_t T, const lra_matrix_columns *c)
{
    int64_t at = 0;
    for (int64_t j = 1; j < T; j++)
        if (c->choice[j] > c->choice[at]) at = j;
    if (h->examples % GROWN == 0) {
        size_t n = (size_t)(h->examples + GROWN);
        h->sink = lra_resize(h->sink, n * sizeof *h->sink);
        h->sink_equal = lra_resize(h->sink_equal, n * sizeof *h->sink_equal);
        h->sink_at = lra_resize(h->sink_at, n * sizeof *h->sink_at);
    }
    h->sink[h->examples] = c->mean[at];
    h->sink_equal[h->examples] = c->equal[at];
    h->sink_at[h->examples++] = at;
}

/* The (query, key) pairs that a row of statistics covers: those of one head, or of all heads if
 * `head` is -1. */
typedef struct {
    const lra_tensor *node;
    const int32_t *list;
    int64_t head;
} pairs;

/* Computes s->self, the mean weight of a position's own token, and `equal` (m->n): the uniform
 * baseline, by distance, of the other keys in the rows that define p', the profile without the own
 * token. Rows whose complete weight is on their own token and rows without weights do not define
 * p'; their uniform weights are subtracted, which is cheap because they are rare. own (T): see
 * attention_statistics.h. */
static void set_own(const pairs *of, const lra_profile_mask *m, int64_t T, const float *own,
                    double *equal, lra_profile_sums *s)
{
    uint8_t *allowed = lra_alloc_array((size_t)T + 1, 1);
    double sum = 0, rows = 0;
    s->lone = 0;
    memcpy(equal, m->other, (size_t)m->n * sizeof *equal);
    for (int64_t i = 0; i < T; i++) {
        if (own[i] >= 0 && own[i] < 1) {
            sum += (double)own[i], rows++;
            continue;
        }
        int64_t n = 0;
        lra_attention_masks_row(of->node, T, of->head, i, of->list, allowed);
        for (int64_t j = 0; j < T; j++) n += allowed[j] && j != i;
        if (n == 0) continue;
        if (own[i] >= 0) sum += 1, rows++, s->lone++;
        for (int64_t j = 0; j < T; j++) {
            int64_t d = lra_profile_distance(m->columns, i, j);
            if (allowed[j] && j != i) equal[d] = fmax(equal[d] - 1 / (double)n, 0);
        }
    }
    s->self = sum / rows;
    s->other_equal = equal;
    lra_free(allowed);
}

/* Adds the statistics x that a node produced for one example of length T to the distance profiles.
 * at[0]: number of positions of the node; at[1], at[2]: offsets in x of the masses without the own
 * token, by distance in tokens and in pixels. Nullable: tokens, pixels */
static void add_profiles(const pairs *of, const lra_attention_mask *mask, int64_t T,
                         const int64_t at[3], const float *x, lra_profile *tokens,
                         lra_profile *pixels)
{
    const int64_t D = at[0];
    const float *mass = x + D - 1, *number = x + 3 * D - 1, *near = number + LRA_ATTENTION_NUMBERS;
    const float *other = x + at[1], *near_other = x + at[2];
    double *others = lra_alloc_array(2 * (size_t)T + 2, sizeof *others), *equal = others + T + 1;
    double *by_distance = lra_alloc_array((size_t)T, sizeof *by_distance), past = 0, future = 0;
    by_distance[0] = (double)mass[0];
    for (int64_t d = 1; d < T; d++) {
        past += (double)mass[d], future += (double)mass[-d];
        by_distance[d] = (double)mass[d] + (double)mass[-d];
    }
    bool several = number[LRA_ATTENTION_SEVERAL] > 0;
    lra_profile_sums s = {.mask = mask->tokens,
                          .mass = by_distance,
                          .past = past,
                          .future = future,
                          .entropy = (double)number[LRA_ATTENTION_ENTROPY],
                          .entropy_rel = several ? (double)number[LRA_ATTENTION_ENTROPY_REL] : NAN,
                          .participation = (double)number[LRA_ATTENTION_SUPPORT],
                          .undefined = (int64_t)number[LRA_ATTENTION_UNDEFINED]};
    s.other = others;
    for (int64_t d = 0; d < T; d++) others[d] = (double)other[d];
    if (tokens) {
        set_own(of, s.mask, T, other + D, equal, &s);
        lra_profile_add(tokens, &s);
    }
    if (pixels) {
        s.mask = mask->pixels;
        for (int64_t d = 0; d < s.mask->n; d++)
            by_distance[d] = (double)near[d], others[d] = (double)near_other[d];
        set_own(of, s.mask, T, other + D, equal, &s);
        lra_profile_add(pixels, &s);
    }
    lra_free(by_distance);
    lra_free(others);
}

/* Results of one layer for a batch: statistics (sequences,H,W) of each head, in the second pass
 * without the sinks. */
typedef struct {
    int64_t H, D, W, W_together;
    int64_t at[3], at_together[3]; /* argument `at` of add_profiles() */
    float *each, *together;
    int32_t *lists;
    int64_t listed; /* number of entries of the key list of one example */
} layer;

static void set_places(const lra_tensor *statistics, int64_t at[3])
{
    at[0] = lra_attention_statistics_length(statistics);
    at[1] = lra_attention_statistics_other(statistics);
    at[2] = at[1] + 2 * at[0];
}

static int read_layer(const lra_length_graph *v, const question *q, int64_t H, layer *out,
                      lra_err *e)
{
    *out = (layer){.H = H,
                   .D = lra_attention_statistics_length(q->each),
                   .W = lra_width(q->each),
                   .each = lra_alloc_array((size_t)lra_elements(q->each), sizeof *out->each)};
    set_places(q->each, out->at);
    int rc = lra_get(v->plan, q->each, out->each, e);
    if (rc == 0 && q->together) {
        out->W_together = lra_width(q->together);
        set_places(q->together, out->at_together);
        out->together = lra_alloc_array((size_t)lra_elements(q->together), sizeof *out->together);
        rc = lra_get(v->plan, q->together, out->together, e);
    }
    if (rc == 0 && q->lists) {
        out->listed = lra_elements(q->lists) / v->network.n;
        out->lists = lra_alloc_array((size_t)lra_elements(q->lists), sizeof *out->lists);
        rc = lra_get(v->plan, q->lists, out->lists, e);
    }
    return rc;
}

static void free_layer(layer *x)
{
    lra_free(x->each);
    lra_free(x->together);
    lra_free(x->lists);
}

/* Adds the statistics of layer k for sequence s of the batch, which has T positions. first: index
 * of the layer's first head. */
static void add_example(work *w, int view, int k, int first, int64_t s, int64_t T, const layer *x)
{
    const int32_t *list = x->lists ? x->lists + s * x->listed : NULL;
    double *column = lra_alloc_array((size_t)T + 1, sizeof *column);
    pairs of = {.node = w->nodes[view].node[k], .list = list, .head = -1};
    lra_uniform_baseline_make(&w->masks, k, of.node, T, list);
    for (int64_t h = 0; h < x->H; h++) {
        lra_attention_head *own = &w->heads->head[first + h];
        const lra_attention_mask *mask = lra_attention_mask_at(&w->masks, k, h);
        const float *left = x->each + (s * x->H + h) * x->W;
        of.head = h;
        if (w->again) {
            add_profiles(&of, mask, T, x->at, left, own->nosink, NULL);
            continue;
        }
        add_profiles(&of, mask, T, x->at, left, own->tokens, own->pixels);
        for (int64_t j = 0; j < T; j++) column[j] = (double)left[2 * x->D - 1 + j];
        add_sink(own, T, &(lra_matrix_columns){column, column, mask->equal});
    }
    lra_free(column);
    of.head = -1;
    if (x->together)
        add_profiles(&of, lra_attention_mask_at(&w->masks, k, -1), T, x->at_together,
                     x->together + s * x->W_together, w->heads->layer[k].value, NULL);
}

void lra_head_begin(lra_head_rows *x, lra_attention_head *own, bool again, int64_t most,
                    int64_t example, int64_t T)
{
    *x = (lra_head_rows){.head = own, .again = again};
    x->profiles = (lra_matrix_profiles){.T = T, .rows = {most, example}, .hole = -1};
    if (again) {
        x->profiles.hole = own->nosink ? own->sink_at[example] : -1;
        x->profiles.tokens = own->nosink;
    } else {
        double *of_keys = lra_alloc_array((size_t)(3 * T) + 1, sizeof *of_keys);
        x->columns = (lra_matrix_columns){of_keys, of_keys + T, of_keys + 2 * T};
        x->profiles.tokens = own->tokens, x->profiles.pixels = own->pixels;
        x->profiles.columns = &x->columns;
    }
    if (x->profiles.tokens) lra_matrix_profile_begin(&x->profiles);
}

void lra_head_add(lra_head_rows *x, const lra_matrix_values *v, int64_t s, int64_t head,
                  int64_t from, int64_t to)
{
    if (x->profiles.tokens) lra_matrix_profile_rows(&x->profiles, v, s, head, from, to);
}

void lra_head_end(lra_head_rows *x)
{
    if (x->profiles.tokens) lra_matrix_profile_end(&x->profiles);
    if (!x->again) add_sink(x->head, x->profiles.T, &x->columns);
    lra_free(x->columns.choice);
}

/* Adds a sequence for a head whose weights are computed row by row (mixing_matrix.h). */
static void add_rows(const work *w, lra_attention_head *own, const lra_matrix_values *x, int64_t h,
                     int64_t s, int64_t example, int64_t T)
{
    lra_head_rows rows;
    lra_head_begin(&rows, own, w->again, w->rows, example, T);
    lra_head_add(&rows, x, s, h, 0, lra_matrix_n_rows(&rows.profiles.rows, T));
    lra_head_end(&rows);
}

/* True if sequence s of the batch belongs to the sample. */
static bool counts(const lra_length_graph *v, const lra_batch *b, int64_t s)
{
    return b->row[s % v->rows] >= 0 && b->length[s] > 0;
}

static int take_rows(work *w, const lra_length_graph *v, const lra_batch *b, int k,
                     const lra_matrix *of, int first, lra_err *e)
{
    lra_matrix_values x;
    int rc = lra_matrix_read(v, of, &x, e);
    for (int64_t s = 0, example = w->done; s < v->network.n && rc == 0; s++) {
        if (!counts(v, b, s)) continue;
        int64_t T = b->length[s] + lra_attention_extra(v);
        const lra_matrix_rows rows = {.most = w->rows, .example = example};
        w->heads->sampled = w->heads->sampled || lra_matrix_n_rows(&rows, T) < T;
#pragma omp parallel for schedule(dynamic)
        for (int64_t h = x.gram ? -1 : 0; h < of->heads; h++)
            if (h < 0)
                lra_matrix_value_profile(&x, s, T, &rows, w->heads->layer[k].value);
            else
                add_rows(w, &w->heads->head[first + h], &x, h, s, example, T);
        example++;
    }
    lra_matrix_free(&x);
    return rc;
}

/* Second pass: sets the excluded key (the sink) of each head and example, and evaluates the batch
 * again. */
static int leave_sinks_out(work *w, const lra_length_graph *v, int view, const lra_batch *b,
                           lra_err *e)
{
    int rc = lra_session_set(w->m->run, &v->network, v->plan, b, e), first = 0;
    for (int k = 0; k < w->nodes[view].n && rc == 0; k++) {
        const question *q = &w->requested[view][k];
        int64_t H = lra_attention_layer_heads(&w->nodes[view], k), n = v->network.n;
        first += (int)H;
        if (!q->without) continue;
        int32_t *hole = lra_alloc_array((size_t)(n * H), sizeof *hole);
        for (int64_t h = 0; h < H; h++) {
            const lra_attention_head *own = &w->heads->head[first - H + h];
            int64_t at = w->done;
            for (int64_t s = 0; s < n; s++)
                hole[s * H + h] = own->nosink && counts(v, b, s) ? (int32_t)own->sink_at[at++] : -1;
        }
        rc = lra_set(v->plan, q->without, hole, e);
        lra_free(hole);
    }
    return rc == 0 ? lra_length_graph_run(w->m, v, e) : rc;
}

static int take_batch(const lra_length_graph *v, const lra_batch *b, void *context, lra_err *e)
{
    work *w = context;
    int view = 0, first = 0, rc = 0;
    while (w->m->view[view] != v) view++;
    if (w->again) rc = leave_sinks_out(w, v, view, b, e);
    for (int k = 0; k < w->nodes[view].n && rc == 0; k++) {
        const lra_matrix *rows = &w->nodes[view].matrix[k];
        int64_t H = lra_attention_layer_heads(&w->nodes[view], k);
        layer x = {.H = 0};
        if (rows->family)
            rc = take_rows(w, v, b, k, rows, first, e);
        else
            rc = read_layer(v, &w->requested[view][k], H, &x, e);
        for (int64_t s = 0; s < v->network.n && rc == 0 && !rows->family; s++)
            if (counts(v, b, s))
                add_example(w, view, k, first, s, b->length[s] + lra_attention_extra(v), &x);
        first += (int)H;
        free_layer(&x);
    }
    for (int64_t s = 0; s < v->network.n; s++) w->done += counts(v, b, s);
    return rc;
}

/* ---- all ------------------------------------------------------------------------------------- */

/* Requests the statistics of every layer of graph i. */
static int evaluate_graph(work *w, int i, lra_err *e)
{
    lra_length_graph *v = w->m->view[i];
    int rc = lra_attention_nodes_of(v, &w->nodes[i], e);
    if (rc != 0) return rc;
    for (int k = 0; k < w->nodes[i].n; k++) {
        const lra_tensor *node = w->nodes[i].node[k];
        question *q = &w->requested[i][k];
        *q = (question){0}; /* requests of the first pass were freed with its graphs */
        if (w->nodes[i].matrix[k].family) {
            lra_matrix_add_outputs(v, &w->nodes[i].matrix[k]);
            if (!w->again) lra_matrix_add_value_outputs(v, &w->nodes[i].matrix[k]);
            continue;
        }
        lra_attention_statistics_spec ask = {.columns = w->masks.columns};
        char *name = lra_format("without%d", k);
        if (w->again)
            ask.without = q->without = lra_input(
                v->network.graph, name, LRA_I32,
                LRA_SHAPE(v->network.n, lra_attention_heads(node)));
        lra_free(name);
        q->lists = lra_attention_lists(node);
        q->each = lra_attention_statistics_of(node, &ask);
        lra_length_graph_output(v, q->each);
        if (q->lists) lra_length_graph_output(v, q->lists);
        if (w->again) continue;
        ask = (lra_attention_statistics_spec){.gram = lra_attention_gram(node)};
        if (!ask.gram) continue;
        q->together = lra_attention_statistics_of(node, &ask);
        lra_length_graph_output(v, q->together);
    }
    return 0;
}

static void name_layers(work *w)
{
    lra_heads *out = w->heads;
    const lra_attention_nodes *nodes = &w->nodes[0];
    out->n_layers = nodes->n;
    out->layer = lra_alloc_array((size_t)nodes->n, sizeof *out->layer);
    for (int k = 0; k < nodes->n; k++) {
        out->layer[k].name = lra_attention_layer_name(nodes->node[k], k);
        out->n_heads += (int)lra_attention_layer_heads(nodes, k);
        if (nodes->matrix[k].family) out->family = nodes->matrix[k].family;
    }
    for (int k = 0; k < nodes->n_left_out; k++) {
        char *name = lra_attention_layer_name(nodes->left_out[k], k), *before = out->left_out;
        out->left_out = lra_format("%s%s%s", before ? before : "", before ? " " : "", name);
        lra_free(before);
        lra_free(name);
    }
}

static void open_heads(work *w)
{
    lra_heads *out = w->heads;
    int last = w->m->n_views - 1;
    const question *longest = w->requested[last];
    name_layers(w);
    out->head = lra_alloc_array((size_t)out->n_heads, sizeof *out->head);
    out->n_heads = 0;
    for (int k = 0; k < out->n_layers; k++) {
        int64_t D = lra_attention_layer_positions(&w->nodes[last], k);
        if (longest[k].together || w->nodes[last].matrix[k].gram)
            out->layer[k].value = lra_profile_new(D, 0);
        for (int64_t h = 0; h < lra_attention_layer_heads(&w->nodes[0], k); h++) {
            lra_heads_add_head(out, k, h, D, w->masks.columns);
            out->head[out->n_heads - 1].decay = lra_attention_layer_decay(&w->nodes[0], k, h);
        }
    }
}

bool lra_heads_open_sinks(lra_heads *heads)
{
    bool any = false;
    for (int i = 0; i < heads->n_heads; i++) {
        lra_attention_head *h = &heads->head[i];
        double equal, sink = lra_head_sink(h, &equal);
        if (!(sink > LRA_SINK_FACTOR * equal)) continue;
        h->nosink = lra_profile_new(lra_profile_distances(h->tokens), 0);
        any = true;
    }
    return any;
}

void lra_heads_add_head(lra_heads *heads, int k, int64_t head, int64_t T, int64_t columns)
{
    lra_attention_head *x = &heads->head[heads->n_heads++];
    *x = (lra_attention_head){.layer = k};
    x->name = lra_format("%s.head%d", heads->layer[k].name, (int)head);
    x->tokens = lra_profile_new(T, 0);
    lra_profile_period(x->tokens, columns);
    if (columns) x->pixels = lra_profile_new(T, columns);
}

static int one_pass(work *w, lra_loaded_model *m, const lra_train_spec *run, lra_device *dev,
                    lra_weights_kind weights, int64_t sample, lra_err *e)
{
    int rc = lra_load_model(m, run, dev, weights, e);
    w->m = m, m->sample = sample, w->done = 0;
    if (rc == 0) lra_loaded_buckets(m);
    for (int i = 0; i < m->n_views && rc == 0; i++) rc = evaluate_graph(w, i, e);
    if (rc == 0 && !w->again) open_heads(w);
    if (rc == 0) rc = lra_loaded_plan(m, e);
    if (rc == 0 && !w->again)
        w->heads->placed = lra_position_table_share(m->params, run->data->max_length,
                                                    &w->heads->places, e);
    if (rc == 0) rc = lra_loaded_run(m, LRA_TEST_SPLIT, NULL, take_batch, w, e);
    lra_uniform_baseline_free(&w->masks);
    lra_loaded_free(m);
    return rc;
}

int lra_heads_measure(const lra_train_spec *run, lra_device *dev, lra_weights_kind weights,
                      int64_t sample, int64_t rows, lra_heads *out, lra_err *e)
{
    lra_loaded_model m;
    work *w = lra_alloc(sizeof *w);
    *out = (lra_heads){0};
    w->heads = out, w->rows = rows;
    w->masks.columns = lra_attention_columns(run);
    int rc = one_pass(w, &m, run, dev, weights, sample, e);
    w->again = rc == 0 && lra_heads_open_sinks(out);
    w->masks.columns = 0;
    if (w->again) rc = one_pass(w, &m, run, dev, weights, sample, e);
    lra_free(w);
    return rc;
}

void lra_heads_free(lra_heads *h)
{
    for (int i = 0; i < h->n_heads && h->head; i++) {
        lra_attention_head *x = &h->head[i];
        lra_free(x->name);
        lra_profile_free(x->tokens);
        lra_profile_free(x->pixels);
        lra_profile_free(x->nosink);
        lra_free(x->sink);
        lra_free(x->sink_equal);
        lra_free(x->sink_at);
    }
    for (int k = 0; k < h->n_layers; k++) {
        lra_free(h->layer[k].name);
        lra_profile_free(h->layer[k].value);
    }
    lra_free(h->head);
    lra_free(h->layer);
    lra_free(h->left_out);
    *h = (lra_heads){0};
}
