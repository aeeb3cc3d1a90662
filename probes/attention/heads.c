/* Attention heads. */
#include "probes/attention/heads.h"

#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/graph/op.h"
#include "kernels/ops/attention_statistics.h"

enum { MOST_LAYERS = 256, GROWN = 256 };

/* Of the views: what was asked of each node. */
typedef struct {
    const lra_opened *m;
    lra_heads *heads;
    int n_layers, n_views;
    lra_tensor *asked[LRA_MAX_BUCKETS][MOST_LAYERS];
    const lra_tensor *node[MOST_LAYERS]; /* of the first view */
    lra_profile_mask *mask[MOST_LAYERS]; /* of examples of mask_T */
    double *equal[MOST_LAYERS]; /* (mask_T) what equal weights give a key, mean over rows */
    int64_t mask_T;
} work;

/* ---- masks ------------------------------------------------------------------------------------------- */

static void free_masks(work *w)
{
    for (int k = 0; k < w->n_layers; k++) {
        lra_profile_mask_free(w->mask[k]);
        lra_free(w->equal[k]);
        w->mask[k] = NULL, w->equal[k] = NULL;
    }
}

static void make_masks(work *w, int64_t T)
{
    if (T == w->mask_T) return; /* examples come in order of length */
    free_masks(w);
    w->mask_T = T;
    for (int k = 0; k < w->n_layers; k++) {
        w->mask[k] = lra_profile_mask_new(T, 0);
        double *share = w->equal[k] = lra_alloc_array((size_t)T + 2, sizeof(double));
        int64_t rows = 0;
        for (int64_t i = 0; i < T; i++) { /* differences first, then their sums */
            int64_t from, to;
            lra_attention_columns(w->node[k], T, i, &from, &to);
            if (to <= from) continue;
            lra_profile_mask_row(w->mask[k], i, from, to);
            share[from] += 1 / (double)(to - from);
            share[to] -= 1 / (double)(to - from);
            rows++;
        }
        for (int64_t j = 1; j < T; j++) share[j] += share[j - 1];
        for (int64_t j = 0; j < T && rows > 0; j++) share[j] /= (double)rows;
    }
}

/* ---- an example of a head ------------------------------------------------------------------------------ */

static void add_sink(work *w, lra_attention_head *h, int64_t T, const float *column)
{
    int64_t at = 0;
    for (int64_t j = 1; j < T; j++)
        if (column[j] > column[at]) at = j;
    if (h->examples % GROWN == 0) {
        size_t n = (size_t)(h->examples + GROWN);
        h->sink = lra_resize(h->sink, n * sizeof *h->sink);
        h->sink_equal = lra_resize(h->sink_equal, n * sizeof *h->sink_equal);
        h->sink_at = lra_resize(h->sink_at, n * sizeof *h->sink_at);
    }
    h->sink[h->examples] = (double)column[at];
    h->sink_equal[h->examples] = w->equal[h->layer][at];
    h->sink_at[h->examples++] = at;
}

static void add_example(work *w, lra_attention_head *h, int64_t T, int64_t D, const float *x)
{
    const float *mass = x + D - 1, *number = x + 3 * D - 1;
    double *by_distance = lra_alloc_array((size_t)T, sizeof *by_distance), past = 0, future = 0;
    by_distance[0] = (double)mass[0];
    for (int64_t d = 1; d < T; d++) {
        past += (double)mass[d], future += (double)mass[-d];
        by_distance[d] = (double)mass[d] + (double)mass[-d];
    }
    const lra_profile_sums s = {.mask = w->mask[h->layer],
                                .mass = by_distance,
                                .past = past,
                                .future = future,
                                .entropy = (double)number[LRA_ATTENTION_ENTROPY],
                                .entropy_rel = (double)number[LRA_ATTENTION_ENTROPY_REL],
                                .participation = (double)number[LRA_ATTENTION_SUPPORT],
                                .undefined = (int64_t)number[LRA_ATTENTION_UNDEFINED]};
    lra_profile_add(h->profile, &s);
    add_sink(w, h, T, x + 2 * D - 1);
    lra_free(by_distance);
}

static int take_batch(const lra_view *v, const lra_batch *b, void *context, lra_err *e)
{
    work *w = context;
    int view = 0, at = 0, rc = 0;
    while (w->m->view[view] != v) view++;
    for (int k = 0; k < w->n_layers && rc == 0; k++) {
        const lra_tensor *x = w->asked[view][k];
        int64_t H = lra_tensor_shape(x).d[1], W = lra_width(x);
        int64_t D = lra_attention_statistics_length(x), extra = D - v->T; /* CLS */
        float *all = lra_alloc_array((size_t)lra_elements(x), sizeof *all);
        rc = lra_get(v->plan, x, all, e);
        for (int64_t s = 0; s < v->network.n && rc == 0; s++) {
            int64_t T = b->length[s] + extra;
            if (b->row[s % v->rows] < 0 || b->length[s] <= 0) continue;
            make_masks(w, T);
            for (int64_t h = 0; h < H; h++)
                add_example(w, &w->heads->head[at + h], T, D, all + (s * H + h) * W);
        }
        lra_free(all);
        at += (int)H;
    }
    return rc;
}

/* ---- all --------------------------------------------------------------------------------------------- */

/* "layer0" of a node in "encoder/layer0/..", else "layer" and its number. */
static char *layer_name(const lra_tensor *node, int k)
{
    const char *at = strstr(lra_tensor_path(node), "layer");
    return at ? lra_format("%.*s", (int)strcspn(at, "/"), at) : lra_format("layer%d", k);
}

static void leave_out(lra_heads *out, const lra_tensor *node, int k)
{
    char *name = layer_name(node, k), *before = out->left_out;
    out->left_out = lra_format("%s%s%s", before ? before : "", before ? " " : "", name);
    lra_free(before);
    lra_free(name);
}

/* Asks for the statistics of every node of view i whose keys are its own sequence. */
static int ask_view(work *w, int i, lra_err *e)
{
    lra_view *v = w->m->view[i];
    lra_tensor *node[MOST_LAYERS];
    int n = lra_graph_nodes(v->network.graph, &lra_op_attention, MOST_LAYERS, node), kept = 0;
    if (n == 0) return lra_fail_usage(e, "model '%s' has no attention", v->network.model->name);
    if (n > MOST_LAYERS) return lra_fail(e, "%d layers of attention, at most %d", n, MOST_LAYERS);
    for (int k = 0; k < n; k++) {
        if (lra_attention_crosses(node[k])) {
            if (i == 0) leave_out(w->heads, node[k], k);
            continue;
        }
        if (i == 0) w->node[kept] = node[k];
        w->asked[i][kept] = lra_attention_statistics_of(node[k]);
        lra_view_ask(v, w->asked[i][kept++]);
    }
    w->n_layers = kept;
    if (kept == 0)
        return lra_fail_usage(e,
                              "keys of all attention of model '%s' are another sequence, "
                              "which has no distances",
                              v->network.model->name);
    return 0;
}

static void open_heads(work *w)
{
    lra_heads *out = w->heads;
    int64_t longest = 1;
    for (int k = 0; k < w->n_layers; k++) {
        int64_t D = lra_attention_statistics_length(w->asked[w->m->n_views - 1][k]);
        longest = D > longest ? D : longest;
        out->n_heads += (int)lra_tensor_shape(w->asked[0][k]).d[1];
    }
    out->n_layers = w->n_layers;
    out->head = lra_alloc_array((size_t)out->n_heads, sizeof *out->head);
    int at = 0;
    for (int k = 0; k < w->n_layers; k++) {
        char *layer = layer_name(w->node[k], k);
        for (int64_t h = 0; h < lra_tensor_shape(w->asked[0][k]).d[1]; h++) {
            lra_attention_head *x = &out->head[at++];
            x->name = lra_format("%s.head%d", layer, (int)h), x->layer = k;
            x->profile = lra_profile_new(longest, 0);
        }
        lra_free(layer);
    }
}

int lra_heads_measure(const lra_train_spec *run, lra_device *dev, lra_open_weights weights,
                      int64_t sample, lra_heads *out, lra_err *e)
{
    lra_opened m;
    work w = {.m = &m, .heads = out};
    *out = (lra_heads){0};
    int rc = lra_open(&m, run, dev, weights, e);
    m.sample = sample;
    if (rc == 0) lra_open_buckets(&m);
    for (int i = 0; i < m.n_views && rc == 0; i++) rc = ask_view(&w, i, e);
    if (rc == 0) open_heads(&w);
    if (rc == 0) rc = lra_open_plan(&m, e);
    if (rc == 0) rc = lra_open_run(&m, LRA_TEST_SPLIT, NULL, take_batch, &w, e);
    free_masks(&w);
    lra_open_close(&m);
    return rc;
}

void lra_heads_free(lra_heads *h)
{
    for (int i = 0; i < h->n_heads; i++) {
        lra_free(h->head[i].name);
        lra_profile_free(h->head[i].profile);
        lra_free(h->head[i].sink);
        lra_free(h->head[i].sink_equal);
        lra_free(h->head[i].sink_at);
    }
    lra_free(h->head);
    lra_free(h->left_out);
    *h = (lra_heads){0};
}
