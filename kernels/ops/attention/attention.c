/* Attention, head by head, without a (T,T) array:
 *   y_i = sum_j a_ij v_j,  a_i = softmax over the visible keys j of
 *   s_ij = scale exp(-alpha |i-j|) q_i k_j - m |i-j| + c_(j-i)
 *   alpha: the exponential decay of LaS (Viewing Transformers Through the Lens of Long Convolution
 *     Layers, eq. 4),
 *   m: the slope of ALiBi, c: a learned bias (MEGA; Shaw et al. 2018)
 * Laplace attention (MEGA, eq. 16) has a_ij = f(s_ij), where the scale is divided by the number of
 * visible keys of i.
 * Rotary position embedding is applied to q and k before this op (rotary.c). LaS averages the rows
 * of a over P columns. This equals a moving average of v over P positions, and the latter is what
 * moving_average.c computes.
 * The softmax is computed online: a maximum and a sum per row are carried from tile to tile
 * (Milakov & Gimelshein 2018, Dao et al. 2022). The logarithm of the sum is stored after y, so that
 * the backward pass need not compute the sum again. */
#include "kernels/ops/attention/attention_tiles_forward_template.h"
#include "kernels/ops/attention/attention_whole_forward_template.h"

static inline int64_t thread_scratch(const attention_sizes *s)
{
    int64_t reals = s->Tk * (s->K + s->V) + ATTENTION_QUERIES * (s->K + s->V + 2);
    int64_t tiles = attention_tiles_scratch(s);
    return attention_padded((reals > tiles ? reals : tiles) + 2 * attention_offsets(s)) +
           (s->dropped ? 2 : 1) * ATTENTION_TILE;
}

/* Computes the weights of a tile (for a softmax without the factor 1/sum) and adds weights times v
 * to y. */
static inline void attend_tile(attention_forward *f, const attention_place *p)
{
    const attention_head *h = &f->h;
    const attention_sizes *s = &h->s;
#if ATTENTION_WHOLE
    if (aw_attend(f, p)) return;
#endif
    ap_product(p->keys, p->lanes, s->K, (ap_left){f->k + p->j0 * s->K, s->K, 1}, f->queries,
               ATTENTION_QUERIES, false, h->tile, ATTENTION_QUERIES);
    attention_distances(h, p, h->tile);
    attention_hide(h, p, -INFINITY, h->tile);
    attention_weigh(f, p);
    if (h->kept) attention_draw(h, p), attention_drop(h, p, h->tile);
    ap_product(s->V, p->lanes, p->keys, (ap_left){f->v + p->j0 * s->V, 1, s->V}, h->tile,
               ATTENTION_QUERIES, true, f->y_t, ATTENTION_QUERIES);
}

/* Computes the outputs of queries i0 .. i0 + n - 1 in a loop over tiles of keys. */
static void attend(attention_forward *f, int64_t i0, int64_t n)
{
    attention_head *h = &f->h;
    const attention_sizes *s = &h->s;
    attention_place p = {.i0 = i0, .queries = n, .lanes = attention_lanes(n)};
    attention_columns(f->q + i0 * s->H * s->K, n, s->H, s->K, f->queries);
    for (int64_t i = 0; i < s->V * ATTENTION_QUERIES; i++) f->y_t[i] = 0;
    for (int l = 0; l < ATTENTION_QUERIES; l++) f->max[l] = -INFINITY, f->sum[l] = 0;
    attention_walk w = attention_walk_of(h, &p);
    attention_ahead ahead = {f->q, s->H * s->K, s->K, i0 + n, h->mask.n_q};
    const int64_t rows = attention_fetched(&w, &p);
    while (attention_next(&w, &p)) {
        attention_fetch(&ahead, rows);
        for (int i = 0; i < 2; i++) attention_fetch(&f->next[i], rows);
        attend_tile(f, &p);
    }
    attention_finish(f, i0, n);
}

/* State of the forward pass of head `at` (0 .. B H - 1), with the addresses of its rows in q and
 * y. */
static attention_forward of_head(const lra_call *c, const attention_sizes *s, int64_t at)
{
    int64_t b = at / s->H, head = at % s->H, rows = s->B * s->H * s->Tq;
    elem *y = c->out;
    return (attention_forward){.q = (const elem *)c->in[0] + (b * s->Tq * s->H + head) * s->K,
                               .y = y + (b * s->Tq * s->H + head) * s->V,
                               .left = y + rows * s->V + at * s->Tq,
                               .rows = rows};
}

/* Sources: q, k, v, optional sources. Scratch: one segment per thread. */
LRA_BODY(attention)
{
    attention_sizes s = attention_sizes_of(c->y, 0, 3);
#pragma omp parallel for num_threads(c->n_threads) schedule(dynamic)
    for (int64_t at = 0; at < s.B * s.H; at++) {
        int64_t keys = at / s.H * s.Tk * s.H + at % s.H;
        const elem *k = (const elem *)c->in[1] + keys * s.K,
                   *v = (const elem *)c->in[2] + keys * s.V;
        attention_forward f = of_head(c, &s, at);
        real *own = (real *)c->scratch + omp_get_thread_num() * thread_scratch(&s);
        own = attention_open_draws(&f.h, c, 3, attention_open(&f.h, c, 0, 3, at, own));
        int64_t n_q = f.h.mask.n_q, n_k = f.h.mask.n_k;
        attention_no_rows(&f);
#if ATTENTION_TILES
        if (lra_tiles_usable()) {
            ax_forward a = {.f = f};
            ax_take(&a, own);
            ax_head(&a, k, v);
            continue;
        }
#endif
        int64_t next = at + c->n_threads < s.B * s.H ? at + c->n_threads : at;
        next = next / s.H * s.Tk * s.H + next % s.H;
        f.next[0] = (attention_ahead){(const elem *)c->in[1] + next * s.K, s.H * s.K, s.K, 0, s.Tk};
        f.next[1] = (attention_ahead){(const elem *)c->in[2] + next * s.V, s.H * s.V, s.V, 0, s.Tk};
        attention_take(&f, own);
        attention_gather(k, n_k, s.H, s.K, s.K, f.k);
        attention_gather(v, n_k, s.H, s.V, s.V, f.v);
        for (int64_t i = 0, n; i < n_q; i += n) attend(&f, i, n = attention_queries_at(&f.h, i));
        lanes_streamed();
    }
}

#if LRA_RECORD
LRA_DECLARE(attention)

attention_sizes attention_sizes_of(const lra_tensor *y, int q, int n)
{
    const lra_tensor *queries = y->src[q], *keys = y->src[q + 1];
    const int64_t *d = queries->shape.d;
    int bias = attention_source(y->args, ATTENTION_BIAS, n);
    int blocks = attention_source(y->args, ATTENTION_BLOCKS, n);
    attention_sizes s = {.B = d[0], .Tq = d[1], .H = d[2], .K = d[3], .V = d[3]};
    s.dropped = ((const attention_args *)y->args)->dropout > 0;
    s.Tk = keys->shape.d[1];
    if (q + 2 < n) s.V = y->src[q + 2]->shape.d[3];
    if (bias >= 0) s.R = y->src[bias]->shape.d[1];
    if (blocks >= 0) s.blocks = y->src[blocks]->shape.d[2], s.listed = y->src[blocks]->shape.d[3];
    return s;
}

/* Checks the list of key blocks: (B,H,query blocks,most) int32. Nullable: blocks */
static int check_blocks(const lra_tensor *y, const lra_shape *q, const lra_tensor *blocks,
                        lra_err *e)
{
    const attention_args *a = y->args;
    if (!blocks) return 0;
    if (a->block < 1 || a->cross || a->stride > 1 || a->smooth > 1)
        return lra_fail(e, "a list of blocks needs their size, one sequence, no stride and no "
                           "smoothing");
    if (blocks->type != LRA_I32 || blocks->shape.n != 4 || blocks->shape.d[3] < 1)
        return lra_fail(e, "blocks must be int32 (B,H,query blocks,most)");
    int64_t n = (q->d[1] + a->block - 1) / a->block;
    return lra_expect_shape(blocks, LRA_SHAPE(q->d[0], q->d[2], n, blocks->shape.d[3]), "blocks",
                            e);
}

/* Checks the optional sources: lengths, the learned bias, the distance limit, the list of
 * blocks. */
static int check_options(const lra_tensor *y, const lra_shape *q, int n, lra_err *e)
{
    const attention_args *a = y->args;
    const lra_tensor *option[ATTENTION_OPTIONS];
    for (int i = 0; i < ATTENTION_OPTIONS; i++) {
        int at = attention_source(a, i, n);
        option[i] = at < 0 ? NULL : y->src[at];
    }
    const lra_tensor *bias = option[ATTENTION_BIAS], *limit = option[ATTENTION_LIMIT];
    if (a->chunk < 0 || a->neighbours < 0 || a->window < 0 || a->ahead < 0)
        return lra_fail(e, "chunk and window must not be negative");
    if (!(a->dropout >= 0 && a->dropout < 1))
        return lra_fail(e, "dropout %g is not in [0,1)", a->dropout);
    if (a->dropout > 0 && (a->smooth > 1 || a->block % 4))
        return lra_fail(
            e, "dropout of weights cannot be combined with smoothing, or with a block size that is "
               "not a multiple of 4");
    if (a->laplace && (a->block || a->stride > 1))
        return lra_fail(e, "laplace attention allows no list of blocks and no stride");
    if (a->stride > 1 && (a->chunk || a->window || a->cross || bias || a->smooth > 1))
        return lra_fail(e, "a stride excludes chunk, window, bias, smoothing and cross attention");
    if (check_blocks(y, q, option[ATTENTION_BLOCKS], e) != 0) return LRA_FAILED;
    if (option[ATTENTION_KEY_LENGTH] && !a->cross)
        return lra_fail(e, "key_length without cross: the keys have the lengths of the queries");
    if (bias && bias->type != lra_real(y->graph)) return lra_fail(e, "bias must be real");
    if (bias && (bias->shape.n != 2 || bias->shape.d[0] != q->d[2] || bias->shape.d[1] % 2 == 0))
        return lra_fail(e, "bias must be (%lld,2R-1): entries of distances for every head",
                        (long long)q->d[2]);
    int64_t heads = q->d[2] / a->stride;
    if (limit && (limit->type != LRA_I32 || limit->shape.n != 1 ||
                  (limit->shape.d[0] != 1 && limit->shape.d[0] != heads)))
        return lra_fail(e, "the distance limit must be one int32, or one for each of %lld heads",
                        (long long)heads);
    if (lra_expect_length(option[ATTENTION_LENGTH], q->d[0], e) != 0) return LRA_FAILED;
    return lra_expect_length(option[ATTENTION_KEY_LENGTH], q->d[0], e);
}

int attention_check(const lra_tensor *y, int q, int n, lra_err *e)
{
    const attention_args *a = y->args;
    const lra_shape *s = &y->src[q]->shape;
    static const char *const name[] = {"q", "k", "v"};
    for (int i = 0; i < 3 && q + i < n; i++) {
        const lra_tensor *x = y->src[q + i];
        if (x->type != lra_elem(y->graph)) return lra_fail(e, "q, k and v must be elem");
        if (x->shape.n != 4)
            return lra_fail(e, "%s has rank %d, expected (B,T,H,K)", name[i], x->shape.n);
        lra_shape like = LRA_SHAPE(s->d[0], i == 1 && a->cross ? x->shape.d[1] : s->d[1], s->d[2],
                                   i == 2 ? x->shape.d[3] : s->d[3]);
        if (i == 2) like.d[1] = y->src[q + 1]->shape.d[1];
        if (lra_expect_shape(x, like, name[i], e) != 0) return LRA_FAILED;
    }
    if (s->d[2] / a->stride > LRA_MAX_HEADS)
        return lra_fail(e, "%lld heads, at most %d", (long long)(s->d[2] / a->stride),
                        LRA_MAX_HEADS);
    return check_options(y, s, n, e);
}

double attention_pairs(const lra_tensor *y, const attention_sizes *s)
{
    const attention_args *a = y->args;
    attention_mask m = attention_mask_of(a, 0, s->H, attention_steps(a, s->Tq),
                                         attention_steps(a, s->Tk), NULL);
    /* most: largest number of keys of a query if the key blocks are listed */
    double pairs = 0, most = (double)(s->listed * a->block);
    for (int64_t i = 0; i < s->Tq; i++) {
        attention_range k = attention_keys_of(&m, i);
        double n = (double)(k.to - k.from);
        pairs += s->listed && n > most ? most : n;
    }
    return pairs;
}

double attention_score_flops(const lra_tensor *y)
{
    attention_sizes s = attention_sizes_of(y, 0, 2);
    return 2.0 * (double)(s.B * s.H * s.K) * attention_pairs(y, &s);
}

/* The result is one flat array: the B T H V elements of y, then the softmax statistics of every
 * row. */
static int shape(lra_tensor *y, lra_err *e)
{
    if (attention_check(y, 0, 3, e) != 0) return LRA_FAILED;
    attention_sizes s = attention_sizes_of(y, 0, 3);
    y->shape = LRA_SHAPE(s.B * s.H * s.Tq * (s.V + attention_parts(y->graph)));
    y->type = y->src[0]->type;
    return 0;
}

/* For every pair of query and key: one product over K channels and one over V channels. */
static double flops(const lra_tensor *y)
{
    attention_sizes s = attention_sizes_of(y, 0, 3);
    return 2.0 * (double)(s.B * s.H * (s.K + s.V)) * attention_pairs(y, &s);
}

static int64_t scratch(const lra_tensor *y, int n_threads)
{
    attention_sizes s = attention_sizes_of(y, 0, 3);
    return n_threads * thread_scratch(&s) * (int64_t)lra_type_size(lra_real(y->graph));
}

/* dy: gradient of the result: that of y, followed by zeros for the softmax statistics. */
static void grad(lra_tensor *y, lra_tensor *dy, lra_tensor **dx)
{
    attention_sizes s = attention_sizes_of(y, 0, 3);
    lra_shape of_y = LRA_SHAPE(s.B, s.Tq, s.H, s.V);
    dy = lra_reshape(lra_slice(dy, 0, 0, lra_shape_elements(of_y)), of_y);
    attention_gradients(y, dy, dx);
}

const lra_op lra_op_attention = {.name = "attention",
                                 .shape = shape,
                                 .grad = grad,
                                 .flops = flops,
                                 .scratch = scratch,
                                 .cuda_scratch = lra_no_scratch,
                                 .cpu = LRA_BODIES(attention),
                                 .sample = attention_sample};
#endif
