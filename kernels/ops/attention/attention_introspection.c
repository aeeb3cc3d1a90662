/* Introspection of the attention nodes of a graph, for probes. Implements
 * attention_statistics.h. */
#include "kernels/ops/attention/attention_statistics.h"

#include "kernels/base/core/mem.h"
#include "kernels/ops/attention/attention_statistics_body.h"
#include "kernels/ops/dense/product.h"

#if LRA_RECORD
/* The tensor that x copies, casts, reshapes or (renorm) normalises; NULL: x is another
 * operation. */
static const lra_tensor *producer_of(const lra_tensor *x)
{
    bool same = x->op->flags & LRA_ALIAS || x->op == &lra_op_slice_copy || x->op == &lra_op_cast;
    bool renormalised = x->op == &lra_op_div && x->n_src == 2;
    return same || renormalised ? x->src[0] : NULL;
}

static const lra_tensor *node_of(const lra_tensor *y)
{
    while (y && y->op != &lra_op_attention) y = producer_of(y);
    if (!y) LRA_BUG("statistics of a node that is not attention");
    return y;
}

int64_t lra_attention_heads(const lra_tensor *attention)
{
    const lra_tensor *y = node_of(attention);
    return attention_sizes_of(y, 0, 3).H / ((const attention_args *)y->args)->stride;
}

double lra_attention_scale(const lra_tensor *attention)
{
    return ((const attention_args *)node_of(attention)->args)->scale;
}

double lra_attention_decay(const lra_tensor *attention, int64_t head)
{
    return ((const attention_args *)node_of(attention)->args)->decay[head];
}

lra_tensor *lra_attention_bias(const lra_tensor *attention)
{
    const lra_tensor *y = node_of(attention);
    int bias = attention_source(y->args, ATTENTION_BIAS, 3);
    return bias < 0 ? NULL : y->src[bias];
}

lra_tensor *lra_attention_key_length(const lra_tensor *attention)
{
    const lra_tensor *y = node_of(attention);
    const attention_args *a = y->args;
    int length = attention_source(a, a->cross ? ATTENTION_KEY_LENGTH : ATTENTION_LENGTH, 3);
    return length < 0 ? NULL : y->src[length];
}

/* ---- statistics ------------------------------------------------------------------------------ */

lra_tensor *lra_attention_statistics_of(const lra_tensor *attention,
                                        const lra_attention_statistics_spec *spec)
{
    const lra_tensor *y = node_of(attention);
    attention_args a = *(const attention_args *)y->args;
    lra_tensor *src[2 + ATTENTION_OPTIONS] = {y->src[0], y->src[1]};
    int n = 2;
    a.dropout = 0;
    for (int i = 3; i < y->n_src; i++) src[n++] = y->src[i];
    if (spec && spec->without) src[n++] = spec->without, a.has |= 1u << ATTENTION_WITHOUT;
    if (spec && spec->gram) src[n++] = spec->gram, a.has |= 1u << ATTENTION_GRAM;
    if (spec) a.columns = spec->columns;
    return lra_node(&lra_op_attention_statistics, y->graph, n, src, &a, sizeof a);
}

static statistics_sizes sizes_of(const lra_tensor *statistics)
{
    attention_sizes s = attention_sizes_of(statistics, 0, 2);
    return statistics_sizes_of(statistics->args, &s);
}
int64_t lra_attention_statistics_length(const lra_tensor *statistics)
{
    return sizes_of(statistics).D;
}
int64_t lra_attention_statistics_other(const lra_tensor *statistics)
{
    return sizes_of(statistics).other;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* The values v as the layer computed them, before attention_values() averages them. */
static lra_tensor *values_of(const lra_tensor *y)
{
    const attention_args *a = y->args;
    lra_tensor *v = y->src[2];
    if (a->stride > 1) v = v->src[0];
    if (a->stride > 1 && v->op == &lra_op_concat) v = v->src[0];
    if (a->smooth > 1) v = v->src[0];
    return a->renorm && a->smooth > 1 ? v->src[0] : v;
}

/* The matrix (H V,D) of the linear layer that reads the concatenated heads; NULL: no linear layer
 * reads them. */
static lra_tensor *weights_behind(const lra_tensor *y, int64_t inputs)
{
    int n = lra_graph_nodes(y->graph, &lra_op_linear, 0, NULL);
    lra_tensor **list = lra_alloc_array((size_t)n + 1, sizeof *list), *w = NULL;
    lra_graph_nodes(y->graph, &lra_op_linear, n, list);
    for (int i = 0; i < n && !w; i++) {
        const lra_tensor *x = list[i]->src[0];
        while (x && x != y) x = x->n_src ? producer_of(x) : NULL;
        if (x && list[i]->src[1]->shape.d[0] == inputs) w = list[i]->src[1];
    }
    lra_free(list);
    return w;
}

lra_tensor *lra_values_gram(lra_tensor *v, lra_tensor *w)
{
    const int64_t *d = v->shape.d, B = d[0], T = d[1], H = d[2], V = d[3], D = lra_width(w);
    w = lra_reshape(lra_as_elem(w), LRA_SHAPE(H, V, D));
    v = lra_reshape(lra_permute(v, 4, (int[]){2, 0, 1, 3}), LRA_SHAPE(H, B * T, V));
    v = lra_permute(lra_matmul(v, w), 3, (int[]){1, 0, 2}); /* v is now (B T,H,D) */
    v = lra_cast(lra_matmul_t(v, false, v, true), lra_real(v->graph));
    return lra_reshape(v, LRA_SHAPE(B, T, H, H));
}

lra_tensor *lra_attention_gram(const lra_tensor *attention)
{
    const lra_tensor *y = node_of(attention);
    const attention_args *a = y->args;
    lra_tensor *v = values_of(y), *w = weights_behind(y, v->shape.d[2] * v->shape.d[3]);
    return w && !a->cross ? lra_values_gram(v, w) : NULL;
}

lra_tensor *lra_attention_apply(const lra_tensor *attention, lra_tensor *x)
{
    const lra_tensor *y = node_of(attention);
    const attention_args *a = y->args;
    lra_tensor *src[3 + ATTENTION_OPTIONS] = {y->src[0], y->src[1]};
    src[2] = attention_values(a, x, lra_attention_key_length(y));
    for (int i = 3; i < y->n_src; i++) src[i] = y->src[i];
    lra_tensor *own = lra_node(&lra_op_attention, y->graph, y->n_src, src, a, sizeof *a);
    return attention_result(own, a->T);
}

bool lra_attention_is_softmax(const lra_tensor *attention)
{
    const attention_args *a = node_of(attention)->args;
    const unsigned lengths = 1u << ATTENTION_LENGTH | 1u << ATTENTION_KEY_LENGTH;
    bool distant = a->causal || a->chunk > 0 || a->window > 0 || a->stride > 1 || a->smooth > 1;
    for (int h = 0; h < LRA_MAX_HEADS; h++)
        distant = distant || a->decay[h] != 0 || a->slope[h] != 0;
    return !distant && !a->laplace && (a->has & ~lengths) == 0;
}

lra_tensor *lra_attention_map_of(const lra_tensor *attention)
{
    const lra_tensor *y = node_of(attention);
    const attention_args *a = y->args;
    const lra_type wide = lra_real(y->graph);
    if (!lra_attention_is_softmax(y)) LRA_BUG("a map of attention that is more than a softmax");
    lra_tensor *q = lra_permute(lra_cast(y->src[0], wide), 4, (int[]){0, 2, 1, 3});
    lra_tensor *k = lra_permute(lra_cast(y->src[1], wide), 4, (int[]){0, 2, 1, 3});
    lra_tensor *score = lra_matmul_t(lra_affine(q, a->scale, 0), false, k, true);
    lra_tensor *length = lra_attention_key_length(y);
    if (!length) return lra_softmax(score);
    const int64_t B = k->shape.d[0], T = k->shape.d[2];
    /* finite: with -infinity, an example without any key would give NaN */
    const double least = 1e30;
    lra_tensor *seen = lra_ones(y->graph, lra_elem(y->graph), LRA_SHAPE(B, T, 1));
    seen = lra_cast(lra_moving_average(seen, length, 1, false, 0), wide);
    seen = lra_reshape(seen, LRA_SHAPE(B, 1, 1, T));
    return lra_softmax(lra_add(score, lra_affine(seen, least, -least)));
}

/* ---- pairs ----------------------------------------------------------------------------------- */

lra_tensor *lra_attention_lists(const lra_tensor *attention)
{
    const lra_tensor *y = node_of(attention);
    int blocks = attention_source(y->args, ATTENTION_BLOCKS, 3);
    return blocks < 0 ? NULL : y->src[blocks];
}

int64_t lra_attention_positions(const lra_tensor *attention)
{
    return ((const attention_args *)node_of(attention)->args)->T;
}

bool lra_attention_is_sparse(const lra_tensor *attention)
{
    const attention_args *a = node_of(attention)->args;
    return a->stride > 1 || a->has >> ATTENTION_BLOCKS & 1u;
}

void lra_attention_span(const lra_tensor *attention, int64_t T, int64_t i, int64_t *from,
                        int64_t *to)
{
    const lra_tensor *y = node_of(attention);
    const attention_args *a = y->args;
    int64_t S = a->stride, r = i % S;
    attention_sizes s = attention_sizes_of(y, 0, 3);
    attention_mask m = attention_mask_of(a, r * (s.H / S), s.H, T, T, NULL);
    attention_range keys = statistics_spread(a, &m, i / S, attention_keys_of(&m, i / S));
    *from = keys.from * S + r;
    *to = keys.to > keys.from ? (keys.to - 1) * S + r + 1 : *from;
}

void lra_attention_allowed(const lra_tensor *attention, int64_t T, int64_t head, int64_t i,
                           const int32_t *list, uint8_t *allowed)
{
    const lra_tensor *y = node_of(attention);
    const attention_args *a = y->args;
    attention_sizes s = attention_sizes_of(y, 0, 3);
    int64_t S = a->stride, r = i % S;
    attention_mask m = attention_mask_of(a, r * (s.H / S) + head, s.H, T, T, NULL);
    attention_list own = attention_list_at(a, &s, head, list);
    attention_range keys = statistics_spread(a, &m, i / S, attention_keys_of(&m, i / S));
    memset(allowed, 0, (size_t)T);
    for (int64_t j = keys.from; j < keys.to; j++)
        allowed[j * S + r] = attention_listed(&own, i / S, j);
}

/* ---- test cases ------------------------------------------------------------------------------ */

lra_tensor *attention_statistics_sample(lra_graph *g, int i)
{
    static const struct {
        int attention; /* index of a sample of lra_op_attention */
        bool without, together;
        int64_t columns;
    } sample[] = {{1, false, false, 0}, {4, true, false, 0},   {4, false, true, 0},
                  {6, true, false, 17}, {10, false, true, 15}, {5, true, false, 0},
                  {8, false, false, 0}, {15, true, false, 0},  {15, false, true, 0},
                  {19, true, false, 2}, {19, false, true, 11}, {20, false, true, 0},
                  {21, true, false, 7}, {21, false, true, 10}};
    if (i >= (int)(sizeof sample / sizeof *sample)) return NULL;
    const lra_tensor *y = node_of(attention_sample(g, sample[i].attention));
    const lra_tensor *v = values_of(y);
    const int64_t *d = v->shape.d, B = d[0], T = d[1], H = d[2];
    lra_attention_statistics_spec spec = {.columns = sample[i].columns};
    if (sample[i].without)
        spec.without = lra_sample_input(g, "without", "index:11", LRA_SHAPE(B, H));
    if (sample[i].together) {
        lra_tensor *u = lra_sample_input(g, "u", "normal", LRA_SHAPE(B * T, H, 3));
        u = lra_cast(lra_matmul_t(u, false, u, true), lra_real(g));
        spec.gram = lra_reshape(u, LRA_SHAPE(B, T, H, H));
    }
    return lra_attention_statistics_of(y, &spec);
}
#endif
