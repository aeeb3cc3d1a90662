/* The convolution of conv_fn.h where the processor multiplies bf16 itself: the same blocks, but rows of x
 * are read where they stand; copied are blocks that touch the ends of a sequence, between zeros, and
 * rows that do not stand side by side (groups, dilation).
 * Part of conv_fn.h, pass 16 only; its scratch is that of conv_fn.h, which is larger. */
#ifndef LRA_OPS_CONV_BF16_FN_H
#define LRA_OPS_CONV_BF16_FN_H

/* Pairs of channels must not straddle groups; narrow groups waste most of a register of 16 sums. */
static inline bool conv_fits_bf16(const conv_sizes *s)
{
    return lra_gemm_bf16_fast() && s->n_in % 2 == 0 && s->n_out >= 8;
}

/* Rows [t, t+n) of a block near an end of the sequence: taps that see nothing but zeros are left out. */
static inline void conv_edge_bf16(const conv_sizes *s, const conv_block *b, const elem *slab,
                                  const elem *packed, int64_t r, int64_t n, real *sum)
{
    int64_t P = (s->K - 1) / 2, t = b->t0 + r;
    int64_t first = conv_max(0, P - (t + n - 1)), end = conv_min(s->K, P + b->len - t);
    lra_pairs_bf16 a = {slab + (t - P + first - b->lo) * s->n_in, s->n_in, 2};
    lra_gemm_bf16(n, s->n_out, (end - first) * s->n_in, a, packed + first * s->n_in * 16,
                  16 * s->K * s->n_in, false, sum + r * s->n_out, s->n_out);
}

/* Rows [lo, hi) of x, `width` apart, side by side; zeros outside [0, len). */
static inline void conv_copy_bf16(const elem *x, int64_t n_in, int64_t width, int64_t lo,
                                  int64_t hi, int64_t len, elem *slab)
{
    for (int64_t t = lo; t < hi; t++, slab += n_in) {
        if (t < 0 || t >= len)
            memset(slab, 0, (size_t)n_in * sizeof *slab);
        else
            memcpy(slab, x + t * width, (size_t)n_in * sizeof *slab);
    }
}

/* All taps of all rows in one product: where at most a quarter of them sees zeros, and the slab holds these. */
static inline bool conv_is_whole(const conv_sizes *s, const conv_block *b)
{
    int64_t P = (s->K - 1) / 2, before = conv_max(0, P - b->t0);
    int64_t after = conv_max(0, b->t0 + b->n + P - b->len);
    return P < CONV_EDGE && 2 * (before * (before + 1) + after * (after + 1)) <= b->n * s->K;
}

static inline void conv_group_bf16(const conv_sizes *s, const conv_job *job, const conv_sequence *q,
                                   int64_t g, conv_block b, const elem *packed, elem *slab,
                                   real *sum)
{
    int64_t P = (s->K - 1) / 2, in = s->groups * s->n_in, out = s->groups * s->n_out;
    const elem *x = job->x + q->first * in + g * s->n_in, *from = slab;
    bool inside = b.t0 >= P && b.t0 + b.n + P <= b.len;
    b.lo = conv_max(b.t0 - P, 1 - CONV_EDGE);
    if (inside && s->groups == 1 && s->dilation == 1)
        from = x + b.lo * in;
    else
        conv_copy_bf16(x, s->n_in, s->dilation * in, b.lo,
                       conv_min(b.t0 + b.n + P, b.len + CONV_EDGE - 1), b.len, slab);
    bool whole = inside || conv_is_whole(s, &b);
    if (whole)
        lra_gemm_bf16(b.n, s->n_out, s->K * s->n_in, (lra_pairs_bf16){from, s->n_in, 2}, packed,
                      16 * s->K * s->n_in, false, sum, s->n_out);
    for (int64_t r = 0; r < b.n && !whole; r += CONV_EDGE)
        conv_edge_bf16(s, &b, slab, packed, r, conv_min(CONV_EDGE, b.n - r), sum);
    elem *y = job->y + (q->first + b.t0 * s->dilation) * out + g * s->n_out;
    for (int64_t r = 0; r < b.n; r++)
        finish_row(s->n_out, sum + r * s->n_out, job->bias ? job->bias + g * s->n_out : NULL,
                   job->act, NULL, y + r * s->dilation * out);
}

static inline void conv_run_bf16(const conv_sizes *s, const conv_job *job, real *scratch,
                                 int n_threads)
{
    int64_t n_blocks = conv_blocks(s), rows = conv_block_rows(s);
    int64_t depth = s->K * s->n_in, packed_size = lra_packed_bf16(depth, s->n_out);
    elem *packed = (elem *)scratch;
    real *threads = scratch + s->groups * conv_packed_size(s);
#pragma omp parallel num_threads(n_threads)
    {
        real *sum = threads + omp_get_thread_num() * (conv_slab_size(s) + conv_sum_size(s));
        elem *slab = (elem *)(sum + conv_sum_size(s));
#pragma omp for schedule(static)
        for (int64_t i = 0; i < s->groups * s->K; i++) {
            int64_t g = i / s->K, k = i % s->K;
            const elem *w = job->w + job->step.start + g * job->step.group + k * job->step.tap;
            lra_pack_bf16(s->n_in, s->n_out, w, job->step.in, job->step.out, 16 * depth,
                          packed + g * packed_size + k * s->n_in * 16);
        }
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < s->B * n_blocks; i++) {
            conv_sequence q = conv_sequence_at(s, job->length, i / n_blocks);
            conv_block b = conv_block_at(s, job, &q, i % n_blocks, rows);
            for (int64_t g = 0; g < s->groups && b.n > 0; g++)
                conv_group_bf16(s, job, &q, g, b, packed + g * packed_size, slab, sum);
        }
    }
}

#endif
