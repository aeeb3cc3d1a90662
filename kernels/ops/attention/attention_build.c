/* Builders of attention. They translate a spec into the nodes before the core op (rotary embedding
 * of q and k, moving averages of v) and into the arguments and optional sources of the core op. */
#include <stdio.h>

#include "kernels/base/os/file.h"
#include "kernels/graph/distance_limit.h"
#include "kernels/graph/mixing.h"
#include "kernels/ops/attention/attention_windowed.h"

#if LRA_RECORD
int64_t attention_parts(const lra_graph *g)
{
    return lra_elem(g) == LRA_BF16 ? 3 : 1;
}

static attention_args args_of(const lra_attention_spec *s, int64_t H, int64_t K)
{
    attention_args a = {.causal = s->causal,
                        .cross = s->cross,
                        .laplace = s->laplace,
                        .scale = s->scale > 0 ? s->scale
                                 : s->laplace ? 1
                                              : 1 / sqrt((double)K),
                        .chunk = s->chunk,
                        .neighbours = s->neighbours,
                        .window = s->window,
                        .ahead = s->ahead ? s->ahead : s->window,
                        .stride = s->stride > 1 ? s->stride : 1,
                        .block = s->block,
                        .smooth = s->smooth > 1 ? s->smooth : 1,
                        .smooth_past = s->causal && !s->centred,
                        .renorm = s->renorm};
    /* number of positions between adjacent tokens of one residue */
    double step = (double)a.stride;
    for (int64_t h = 0; h < H && h < LRA_MAX_HEADS; h++) {
        a.decay[h] = s->decay ? step * s->decay[h] : 0;
        a.slope[h] = s->slope ? step * s->slope[h] : 0;
    }
    return a;
}

/* Reshapes (B,T,H,K) to (B,T/stride,stride H,K), with a head for each residue of the positions
 * modulo the stride. T is padded with zeros to a multiple of the stride. */
static lra_tensor *by_residue(lra_tensor *x, int64_t stride)
{
    const int64_t *d = x->shape.d, rows = (d[1] + stride - 1) / stride, more = rows * stride - d[1];
    lra_tensor *both[] = {x, NULL};
    if (more > 0) {
        both[1] = lra_zeros(x->graph, x->type, LRA_SHAPE(d[0], more, d[2], d[3]));
        x = lra_concat(2, both, 1);
    }
    d = x->shape.d;
    return lra_reshape(x, LRA_SHAPE(d[0], rows, stride * d[2], d[3]));
}

/* Adds an attention node with n required sources x. Rotary embedding and moving average are applied
 * to x first. The optional sources follow. */
static lra_tensor *core(const lra_op *op, int n, lra_tensor *const *x, lra_tensor *length,
                        const lra_attention_spec *s)
{
    lra_tensor *src[3 + ATTENTION_OPTIONS];
    lra_tensor *option[ATTENTION_OPTIONS] = {[ATTENTION_LENGTH] = length,
                                             [ATTENTION_KEY_LENGTH] = s->key_length,
                                             [ATTENTION_BIAS] = s->bias,
                                             [ATTENTION_LIMIT] = s->limit,
                                             [ATTENTION_BLOCKS] = s->blocks};
    bool drops = op == &lra_op_attention && s->dropout != 0 &&
                 lra_graph_mode(x[0]->graph) == LRA_TRAIN;
    bool heads = x[0]->shape.n == 4;
    attention_args a = args_of(s, heads ? x[0]->shape.d[2] : 1, heads ? x[0]->shape.d[3] : 1);
    a.T = heads ? x[0]->shape.d[1] : 1;
    if (s->limit) a.limits = lra_elements(s->limit);
    if (drops) a.dropout = s->dropout, option[ATTENTION_STEP] = lra_step_input(x[0]->graph);
    for (int i = 0; i < n; i++)
        src[i] = i < 2 && s->rotary_base > 0 ? lra_rotary(x[i], s->rotary_base, s->rotary_half)
                                             : x[i];
    for (int i = 0; i < 2 && heads && a.stride > 1; i++) src[i] = by_residue(src[i], a.stride);
    if (n > 2 && heads) src[2] = attention_values(&a, x[2], s->cross ? s->key_length : length);
    for (int i = 0; i < ATTENTION_OPTIONS; i++)
        if (option[i]) src[n++] = option[i], a.has |= 1u << i;
    lra_tensor *y = lra_node(op, x[0]->graph, n, src, &a, sizeof a);
    if (drops) ((attention_args *)(uintptr_t)y->args)->key = lra_hash32(lra_tensor_path(y));
    return y;
}

/* Appends a channel of ones to v. Attention turns this channel into the sum of a row's remaining
 * weights. */
static lra_tensor *append_ones(lra_tensor *v)
{
    const int64_t *d = v->shape.d;
    lra_tensor *both[] = {v, lra_ones(v->graph, v->type, LRA_SHAPE(d[0], d[1], d[2], 1))};
    return lra_concat(2, both, 3);
}
/* Divides the other channels by the last one, the sum of weights. This sum is at least 1/width, or
 * 0, like the other channels, where no key is visible. */
static lra_tensor *divide_by_ones(lra_tensor *y, int width)
{
    const int64_t n = lra_width(y) - 1;
    lra_tensor *sum = lra_slice(y, 3, n, 1);
    sum = lra_add(sum, lra_relu(lra_affine(sum, -2.0 * width, 1)));
    return lra_div(lra_slice(y, 3, 0, n), sum);
}

lra_tensor *attention_values(const attention_args *a, lra_tensor *v, lra_tensor *length)
{
    if (v->shape.n != 4) return v; /* invalid shape: the op reports the error */
    if (a->renorm && a->smooth > 1) v = append_ones(v);
    if (a->smooth > 1) v = lra_moving_average(v, length, a->smooth, a->smooth_past, a->chunk);
    return a->stride > 1 ? by_residue(v, a->stride) : v;
}

lra_tensor *attention_result(lra_tensor *y, int64_t T)
{
    const attention_args *a = y->args;
    if (y->shape.n != 1) return y; /* invalid node: the op has reported the error */
    attention_sizes n = attention_sizes_of(y, 0, 3);
    lra_shape of_y = LRA_SHAPE(n.B, n.Tq * a->stride, n.H / a->stride, n.V);
    y = lra_reshape(lra_slice(y, 0, 0, lra_shape_elements(of_y)), of_y);
    if (a->stride > 1) y = lra_slice(y, 1, 0, T);
    return a->renorm && a->smooth > 1 ? divide_by_ones(y, a->smooth) : y;
}

/* Returns the spec with the graph's distance limits, one per head, if the graph has any. If weights
 * are averaged, the limits are returned in of_result instead, because they are then applied to the
 * result. */
static lra_attention_spec limited(const lra_tensor *q, const lra_attention_spec *s,
                                  lra_tensor **of_result)
{
    lra_attention_spec own = *s;
    lra_graph *g = q->graph;
    lra_tensor *limit = lra_next_limits(g, q->shape.n == 4 ? q->shape.d[2] : 1);
    bool plain = !s->window && !s->neighbours && !s->blocks && !s->bias && !s->laplace &&
                 s->stride < 2 && s->rotary_base == 0;
    *of_result = s->smooth > 1 ? limit : NULL;
    if (limit && (s->limit || s->cross || (*of_result && !plain)))
        lra_graph_fail(g, "a distance limit is undefined for attention %s",
                       s->limit   ? "with a distance limit of its own"
                       : s->cross ? "to another sequence"
                                  : "with smoothed weights and more than decay, slope and chunk");
    if (limit && !*of_result) own.limit = limit;
    return own;
}

/* Applies the distance limit to y, the result of attention with averaged weights. */
static lra_tensor *near(lra_tensor *y, lra_tensor *q, lra_tensor *k, lra_tensor *v,
                        lra_tensor *limit, lra_tensor *length, const lra_attention_spec *s)
{
    /* invalid shapes: the op has reported the error */
    if (y->shape.n != 4 || q->shape.n != 4) return y;
    const attention_windowed_args a = {.a = args_of(s, q->shape.d[2], q->shape.d[3]),
                                       .remask = s->remask};
    return attention_pairs_windowed(y, q, k, v, limit, length, &a);
}

lra_tensor *lra_attention(lra_tensor *q, lra_tensor *k, lra_tensor *v, lra_tensor *length,
                          const lra_attention_spec *s)
{
    lra_tensor *limit = NULL, *y = NULL;
    const lra_attention_spec own = limited(q, s, &limit);
    if (s->remask && s->smooth > 1) {
        if (s->causal && s->dropout == 0 && s->centred && q->shape.n == 4 && !s->window &&
            !s->neighbours && !s->blocks && !s->bias && !s->cross && s->rotary_base == 0 &&
            s->stride < 2)
            y = attention_remasked(q, k, v, s);
        else
            lra_graph_fail(
                q->graph,
                "a masked average needs causal attention with centred averages, and only scale, "
                "decay, slope and chunk");
    }
    if (!y) {
        y = core(&lra_op_attention, 3, (lra_tensor *[]){q, k, v}, length, &own);
        const lra_mixing m = {.kind = LRA_MIX_SOFTMAX, .query = q, .key = k, .value = v};
        if (!s->cross) lra_declare_mixing(y, &m);
        y = attention_result(y, q->shape.n > 1 ? q->shape.d[1] : 0);
    }
    return limit ? near(y, q, k, v, limit, length, s) : y;
}

/* Merges the residues of a profile, (B,stride H,T/stride), into (B,H,T). A distance of 1 within a
 * residue is a distance of `stride` positions. */
static lra_tensor *over_residues(lra_tensor *m)
{
    const attention_args *a = m->args;
    int64_t S = a->stride, B = m->shape.d[0], H = m->shape.d[1] / S, steps = lra_width(m);
    if (S == 1 || m->shape.n != 3) return m;
    m = lra_reduce_sum(lra_reshape(m, LRA_SHAPE(B, S, H, steps)), LRA_SHAPE(B, 1, H, steps));
    lra_tensor *apart[] = {lra_reshape(m, LRA_SHAPE(B, H, steps, 1)),
                           lra_zeros(m->graph, m->type, LRA_SHAPE(B, H, steps, S - 1))};
    m = lra_reshape(lra_concat(2, apart, 3), LRA_SHAPE(B, H, steps * S));
    return lra_slice(m, 2, 0, a->T);
}

lra_tensor *lra_attention_profile(lra_tensor *q, lra_tensor *k, lra_tensor *length,
                                  const lra_attention_spec *s)
{
    return over_residues(core(&lra_op_attention_profile, 2, (lra_tensor *[]){q, k}, length, s));
}

lra_tensor *lra_attention_profile_of(const lra_tensor *y)
{
    while (y->op->flags & LRA_ALIAS) y = y->src[0];
    if (y->op != &lra_op_attention) LRA_BUG("the profile of a node that is not attention");
    lra_tensor *src[2 + ATTENTION_OPTIONS] = {y->src[0], y->src[1]};
    for (int i = 3; i < y->n_src; i++) src[i - 1] = y->src[i];
    attention_args a = *(const attention_args *)y->args;
    a.dropout = 0;
    return over_residues(
        lra_node(&lra_op_attention_profile, y->graph, y->n_src - 1, src, &a, sizeof a));
}

/* ---- gradients ------------------------------------------------------------------------------- */

lra_tensor *attention_grad_node(lra_tensor *y, lra_tensor *dy)
{
    lra_tensor *src[5 + ATTENTION_OPTIONS] = {dy, y->src[0], y->src[1], y->src[2], y};
    for (int i = 3; i < y->n_src; i++) src[i + 2] = y->src[i];
    return lra_node(&lra_op_attention_grad, y->graph, y->n_src + 2, src, y->args,
                    sizeof(attention_args));
}

void attention_gradients(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    lra_tensor *all = attention_grad_node(y, dy), *part[3];
    int64_t at = 0, parts = attention_parts(y->graph);
    int bias = attention_source(y->args, ATTENTION_BIAS, 3);
    for (int i = 0; i < 3; i++) {
        int64_t n = lra_elements(y->src[i]);
        dx[i] = lra_reshape(lra_slice(all, 0, at, n), y->src[i]->shape);
        at += n;
    }
    if (bias < 0) return;
    lra_shape s = y->src[bias]->shape;
    int64_t n = lra_shape_elements(s);
    for (int64_t p = 0; p < parts; p++, at += n)
        part[p] = lra_reshape(lra_cast(lra_slice(all, 0, at, n), lra_real(y->graph)), s);
    dx[bias] = parts > 1 ? lra_add_n((int)parts, part) : part[0];
}

/* ---- test cases ------------------------------------------------------------------------------ */

enum { SAMPLES = 28 };

/* Test samples: every field of the spec, alone and combined; more keys than a tile; different
 * numbers of queries and keys, and of channels of k and v. */
lra_tensor *attention_sample(lra_graph *g, int i)
{
    static const double decay[] = {0, 0.3, 0.05}, slope[] = {0.5, 0.25, 0.125};
    static const struct {
        int64_t T, keys, H, K, V, R; /* R: entries of a learned bias per head */
        bool padded;
        int limits;
        lra_attention_spec spec;
    } sample[SAMPLES] = {
        {11, 11, 3, 4, 4, 0, false, 0, {.scale = 0}},
        {11, 11, 3, 4, 4, 0, true, 0, {.causal = true}},
        {11,
         11,
         3,
         4,
         4,
         0,
         false,
         0,
         {.causal = true, .rotary_base = 100, .rotary_half = LRA_HALF_SLOW}},
        {11, 11, 3, 4, 4, 0, true, 0, {.slope = slope, .window = 3}},
        {11, 11, 3, 4, 4, 0, true, 0, {.causal = true, .decay = decay, .smooth = 3, .chunk = 4}},
        {11, 11, 3, 4, 4, 0, true, 0, {.decay = decay, .smooth = 5, .scale = 0.7}},
        {300, 300, 2, 2, 2, 0, false, 0, {.causal = true, .slope = slope}},
        {7, 13, 2, 4, 6, 0, true, 0, {.cross = true}},
        {13, 5, 2, 4, 2, 9, true, 0, {.cross = true, .smooth = 3, .window = 6}},
        {11, 11, 2, 4, 3, 21, true, 0, {.decay = decay}},
        {90, 90, 2, 2, 2, 31, false, 2, {.causal = true}},
        {12, 12, 2, 4, 4, 0, true, 1, {.rotary_base = 10, .rotary_half = LRA_HALF_FAST}},
        {9, 9, 2, 4, 5, 7, false, 1, {.chunk = 5, .slope = slope}},
        {1, 1, 1, 3, 3, 1, false, 1, {.causal = true}},
        {5, 1, 2, 17, 1, 0, false, 0, {.cross = true}},
        {70, 70, 1, 4, 6, 139, true, 0, {.laplace = true}},
        {11,
         11,
         2,
         4,
         4,
         9,
         true,
         2,
         {.laplace = true, .causal = true, .chunk = 6, .decay = decay}},
        {23, 23, 2, 4, 4, 0, true, 0, {.chunk = 5, .neighbours = 1}},
        {23, 23, 2, 4, 4, 5, true, 0, {.window = 6, .ahead = 2}},
        {23, 23, 2, 4, 4, 5, true, 0, {.window = 2, .ahead = 3}},
        {11, 11, 2, 4, 3, 0, true, 2, {.stride = 3}},
        {11, 11, 2, 4, 4, 0, true, 0, {.causal = true, .centred = true, .smooth = 3}},
        {70, 70, 2, 2, 2, 0, true, 0, {.block = 4}},
        {200, 200, 1, 2, 2, 7, true, 1, {.block = 80}},
        {70, 70, 2, 4, 6, 9, true, 0, {.dropout = 0.3}},
        {23, 23, 2, 4, 4, 0, true, 0, {.dropout = 0.5, .causal = true, .stride = 2}},
        {70, 70, 2, 2, 2, 0, true, 2, {.dropout = 0.1, .block = 4}},
        {11, 9, 2, 4, 4, 5, true, 0, {.dropout = 0.3, .laplace = true, .cross = true}},
    };
    if (i >= SAMPLES) return NULL;
    char fill[32];
    const int64_t B = 2, T = sample[i].T, H = sample[i].H, K = sample[i].K;
    lra_attention_spec s = sample[i].spec;
    lra_tensor *q = lra_sample_input(g, "q", "normal", LRA_SHAPE(B, T, H, K)), *length = NULL;
    lra_tensor *k = lra_sample_input(g, "k", "normal", LRA_SHAPE(B, sample[i].keys, H, K));
    lra_tensor *v = lra_sample_input(g, "v", "normal",
                                     LRA_SHAPE(B, sample[i].keys, H, sample[i].V));
    snprintf(fill, sizeof fill, "length:%d", (int)T);
    if (sample[i].padded) length = lra_sample_input(g, "length", fill, LRA_SHAPE(B));
    snprintf(fill, sizeof fill, "length:%d", (int)sample[i].keys);
    if (sample[i].padded && s.cross) s.key_length = lra_sample_input(g, "keys", fill, LRA_SHAPE(B));
    if (sample[i].limits)
        s.limit = lra_sample_input(g, "limit", "index:8", LRA_SHAPE(sample[i].limits));
    if (s.block) s.blocks = lra_bigbird_blocks(length, T, H, s.block, 2, i);
    if (sample[i].R > 0)
        s.bias = lra_cast(lra_sample_input(g, "bias", "normal", LRA_SHAPE(H, sample[i].R)),
                          lra_real(g));
    return lra_attention(q, k, v, length, &s);
}
#endif
