/* Convolution over time as a matrix product with overlapping rows. Shared by lra_conv() and its
 * gradient with respect to x, which is the same convolution with reversed taps and exchanged
 * channels.
 *
 * Row t of the left matrix is x[t - (K-1)/2 .. t + (K-1)/2], K n_in adjacent numbers; row t+1
 * starts n_in numbers later. A block of rows of one group is copied, with the rows around it, into
 * the thread's scratch (zeros outside [0,length)). It is multiplied tile by tile with the packed
 * weights, and finished with bias and activation. Taps that read only zeros are skipped.
 *
 * With dilation d, the rows p, p + d, p + 2d, .. of a sample (p < d) do not interact with other
 * rows. They form a sequence that is convolved without dilation. A sample is thus d sequences with
 * a row stride of d, which are gathered as they are copied. The code after the copy is independent
 * of the dilation. */
#ifndef LRA_OPS_CONV_CONV_TEMPLATE_H
#define LRA_OPS_CONV_CONV_TEMPLATE_H

#include <omp.h>

#include "kernels/ops/dense/product_template.h"
#include "kernels/ops/dense/tile_template.h"

enum {
    CONV_ROWS = 126, /* maximum number of rows of a block */
    /* rows that are processed with one common range of taps near the ends of a sample */
    CONV_EDGE = 24
};

/* B sequences of at most T rows; n_in, n_out: channels of one group; sample_rows: rows of a sample,
 * before the division by the dilation. */
typedef struct {
    int64_t B, T, K, groups, n_in, n_out, dilation, sample_rows;
} conv_sizes;

/* A sequence has n rows; rows [0, len) are below the length of its sample. Its row 0 is row `first`
 * of the (B T) rows, and the next one is `dilation` rows later. */
typedef struct {
    int64_t first, n, len;
} conv_sequence;

/* Layout of the weights: w[k][i][o] of a group is at w[start + k * tap + i * in + o * out]. `start`
 * advances by `group` from one group to the next. */
typedef struct {
    int64_t start, tap, in, out, group;
} conv_weight_steps;

typedef struct {
    const elem *x, *w;
    conv_weight_steps step;
    const real *bias;      /* NULL: no bias */
    const int32_t *length; /* (B) lengths; NULL: no padding */
    lra_act act;
    elem *y;
} conv_job;

static inline int64_t conv_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}
static inline int64_t conv_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Sizes of a convolution of samples (B,T).  A dilation of more than T is equivalent to T; with one
 * tap the dilation has no effect. */
static inline conv_sizes conv_sizes_of(int64_t B, int64_t T, int64_t K, int64_t groups,
                                       int64_t n_in, int64_t n_out, int64_t dilation)
{
    int64_t d = K == 1 ? 1 : conv_max(1, conv_min(dilation, T));
    return (conv_sizes){B * d, (T + d - 1) / d, K, groups, n_in, n_out, d, T};
}

static inline conv_sequence conv_sequence_at(const conv_sizes *s, const int32_t *length, int64_t at)
{
    int64_t d = s->dilation, sample = at / d, phase = at % d, rows = s->sample_rows;
    int64_t len = length ? conv_min(length[sample], rows) : rows;
    return (conv_sequence){.first = sample * rows + phase,
                           .n = (rows - phase + d - 1) / d,
                           .len = (len - phase + d - 1) / d};
}

/* Clears rows [from, end) of a sequence in y; width: elements per row. */
static inline void conv_clear_rows(const conv_sizes *s, const conv_sequence *q, int64_t from,
                                   int64_t end, int64_t width, elem *y)
{
    if (s->dilation == 1 && end > from)
        memset(y + (q->first + from) * width, 0, (size_t)((end - from) * width) * sizeof *y);
    else
        for (int64_t t = from; t < end; t++)
            memset(y + (q->first + t * s->dilation) * width, 0, (size_t)width * sizeof *y);
}

static inline int64_t conv_blocks(const conv_sizes *s)
{
    return (s->T + CONV_ROWS - 1) / CONV_ROWS;
}
static inline int64_t conv_block_rows(const conv_sizes *s)
{
    return (s->T + conv_blocks(s) - 1) / conv_blocks(s);
}

/* Scratch in reals: packed weights of a group; slab of x of a thread; sums of a thread. */
static inline int64_t conv_packed_size(const conv_sizes *s)
{
    return s->K * s->n_in * tile_padded(s->n_out);
}
static inline int64_t conv_slab_size(const conv_sizes *s)
{
    int64_t rows = conv_min(conv_block_rows(s) + s->K - 1, s->T + 2 * CONV_EDGE);
    return tile_padded(rows * s->n_in);
}
static inline int64_t conv_sum_size(const conv_sizes *s)
{
    return conv_block_rows(s) * tile_padded(s->n_out);
}
/* Packs the weights of tap k of group g into panels. */
static inline void conv_pack_tap(const conv_sizes *s, const conv_job *job, int64_t g, int64_t k,
                                 real *packed)
{
    const elem *w = job->w + job->step.start + g * job->step.group + k * job->step.tap;
    for (int64_t at = 0; at < s->n_out;) {
        int width = tile_panel_vectors(at, s->n_out) * TILE_LANES;
        int64_t n = conv_min(width, s->n_out - at);
        real *to = packed + at * s->K * s->n_in + k * s->n_in * width;
        for (int64_t i = 0; i < s->n_in; i++) {
            const elem *from = w + i * job->step.in + at * job->step.out;
            for (int64_t o = 0; o < n; o++) to[i * width + o] = e_load(from[o * job->step.out]);
            for (int64_t o = n; o < width; o++) to[i * width + o] = 0;
        }
        at += width;
    }
}

/* Copies rows [lo, hi) of one sequence and group, `width` elements apart in x, to rows `ld` apart.
 * Rows outside of [0, len) become zeros. */
static inline void conv_copy_rows(const elem *x, int64_t n_in, int64_t width, int64_t lo,
                                  int64_t hi, int64_t len, int64_t ld, real *slab)
{
    for (int64_t t = lo; t < hi; t++) {
        real *to = slab + (t - lo) * ld;
        const elem *from = x + t * width;
        if (t < 0 || t >= len)
            memset(to, 0, (size_t)n_in * sizeof *to);
        else
            for (int64_t i = 0; i < n_in; i++) to[i] = e_load(from[i]);
    }
}

/* A block of one sequence: rows [t0, t0+n) of y, all below len. Row lo of x is the first row of the
 * slab. */
typedef struct {
    int64_t t0, n, len, lo;
} conv_block;

/* sum += slab times packed weights, for one panel of V vectors, tile by tile. */
static inline void conv_panel(const conv_sizes *s, const conv_block *b, const real *slab,
                              const real *panel, int V, real *sum, int64_t ld_sum)
{
    int64_t P = (s->K - 1) / 2, depth = s->K * s->n_in;
    for (int64_t k0 = 0; k0 < depth; k0 += TILE_DEPTH) {
        for (int64_t r = 0; r < b->n; r += TILE_ROWS) {
            int n_rows = (int)conv_min(TILE_ROWS, b->n - r);
            int64_t t = b->t0 + r; /* taps outside [first, end) read only zeros */
            int64_t first = conv_max(0, P - (t + n_rows - 1)), end = conv_min(s->K, P + b->len - t);
            int64_t from = conv_max(k0, first * s->n_in);
            int64_t n = conv_min(k0 + TILE_DEPTH, end * s->n_in) - from;
            if (n <= 0) continue;
            tile_rows a = {slab + (t - P - b->lo) * s->n_in + from, s->n_in, 1};
            tile_any(n_rows, V, a, n, panel + from * V * TILE_LANES, V * TILE_LANES, true,
                     sum + r * ld_sum, ld_sum);
        }
    }
}

/* Computes one group of a block. */
static inline void conv_group(const conv_sizes *s, const conv_job *job, const conv_sequence *q,
                              int64_t g, conv_block b, const real *packed, real *slab, real *sum)
{
    int64_t P = (s->K - 1) / 2, ld_sum = tile_padded(s->n_out);
    int64_t in = s->groups * s->n_in, out = s->groups * s->n_out;
    b.lo = conv_max(b.t0 - P, 1 - TILE_ROWS);
    int64_t hi = conv_min(b.t0 + b.n + P, b.len + TILE_ROWS - 1);
    conv_copy_rows(job->x + q->first * in + g * s->n_in, s->n_in, s->dilation * in, b.lo, hi, b.len,
                   s->n_in, slab);
    memset(sum, 0, (size_t)(b.n * ld_sum) * sizeof *sum);
    for (int64_t at = 0; at < s->n_out;) {
        int V = tile_panel_vectors(at, s->n_out);
        conv_panel(s, &b, slab, packed + at * s->K * s->n_in, V, sum + at, ld_sum);
        at += V * TILE_LANES;
    }
    elem *y = job->y + (q->first + b.t0 * s->dilation) * out + g * s->n_out;
    for (int64_t r = 0; r < b.n; r++)
        finish_row(s->n_out, sum + r * ld_sum, job->bias ? job->bias + g * s->n_out : NULL,
                   job->act, NULL, y + r * s->dilation * out);
}

/* Block number `at` of a sequence, `rows` rows each. Returns the part of it below the length, and
 * clears the rest of the block in y. */
static inline conv_block conv_block_at(const conv_sizes *s, const conv_job *job,
                                       const conv_sequence *q, int64_t at, int64_t rows)
{
    int64_t t0 = at * rows, end = conv_min(q->n, t0 + rows);
    int64_t live = conv_max(t0, conv_min(end, q->len));
    conv_clear_rows(s, q, live, end, s->groups * s->n_out, job->y);
    return (conv_block){.t0 = t0, .n = live - t0, .len = q->len};
}

/* Computes block number `at` of one sequence, all groups. */
static inline void conv_rows(const conv_sizes *s, const conv_job *job, int64_t sequence, int64_t at,
                             const real *packed, real *own)
{
    conv_sequence q = conv_sequence_at(s, job->length, sequence);
    conv_block b = conv_block_at(s, job, &q, at, conv_block_rows(s));
    for (int64_t g = 0; g < s->groups && b.n > 0; g++)
        conv_group(s, job, &q, g, b, packed + g * conv_packed_size(s), own,
                   own + conv_slab_size(s));
}

#include "kernels/ops/conv/conv_narrow_template.h"
#include "kernels/ops/conv/conv_bf16_template.h"

static inline int64_t conv_scratch(const conv_sizes *s, bool bf16, int n_threads)
{
    if (conv_is_narrow(s->groups, s->n_in, s->n_out)) return narrow_scratch(s, n_threads);
    if (bf16 && conv_fits_bf16(s)) return conv_scratch_bf16(s, n_threads);
    return s->groups * conv_packed_size(s) + n_threads * (conv_slab_size(s) + conv_sum_size(s));
}

static inline void conv_run(const conv_sizes *s, const conv_job *job, real *scratch, int n_threads)
{
    if (conv_is_narrow(s->groups, s->n_in, s->n_out)) {
        narrow_run(s, job, scratch, n_threads);
        return;
    }
#if LRA_TYPE_bf16
    if (conv_fits_bf16(s)) {
        conv_run_bf16(s, job, scratch, n_threads);
        return;
    }
#endif
    int64_t n_blocks = conv_blocks(s);
    real *threads = scratch + s->groups * conv_packed_size(s);
#pragma omp parallel num_threads(n_threads)
    {
        real *own = threads + omp_get_thread_num() * (conv_slab_size(s) + conv_sum_size(s));
#pragma omp for schedule(static)
        for (int64_t i = 0; i < s->groups * s->K; i++)
            conv_pack_tap(s, job, i / s->K, i % s->K, scratch + i / s->K * conv_packed_size(s));
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < s->B * n_blocks; i++)
            conv_rows(s, job, i / n_blocks, i % n_blocks, scratch, own);
    }
}

#endif
