/* The convolution of conv_template.h on processors with bf16 instructions. A block of rows is one
 * matrix product, whose left rows overlap and are read in place from x. Blocks that touch the ends
 * of a sequence, and rows that are not adjacent in memory (groups, dilation), are copied with zeros
 * around them. Blocks are several times longer than those of float32, because the packed weights of
 * 31 taps do not fit in the L2 cache and are streamed through it once per block. Their length is a
 * multiple of the 32 rows of a tile step.
 * Included by conv_template.h, for LRA_TYPE bf16, and f32 for the sizes of scratch. */
#ifndef LRA_OPS_CONV_CONV_BF16_TEMPLATE_H
#define LRA_OPS_CONV_CONV_BF16_TEMPLATE_H

enum { CONV_STRIP = 32, CONV_ROWS_BF16 = 512, CONV_PIECES_BF16 = 32 };

/* True if the bf16 code supports the sizes: pairs of channels must not cross a group border, and
 * narrow groups would waste most of a register of 16 sums. */
static inline bool conv_fits_bf16(const conv_sizes *s)
{
    return lra_gemm_bf16_fast() && s->n_in % 2 == 0 && s->n_out >= 8;
}

/* Number of rows of a block. It depends on the shape only, and gives enough blocks for all threads
 * of a small machine. */
static inline int64_t conv_block_rows_bf16(const conv_sizes *s)
{
    int64_t rows = conv_max(2 * CONV_STRIP,
                            conv_min(CONV_ROWS_BF16, s->B * s->T / CONV_PIECES_BF16));
    rows = (rows + CONV_STRIP - 1) / CONV_STRIP * CONV_STRIP;
    int64_t n_blocks = (s->T + rows - 1) / rows;
    return ((s->T + n_blocks - 1) / n_blocks + CONV_STRIP - 1) / CONV_STRIP * CONV_STRIP;
}

/* Size of a thread's slab of x, in reals. */
static inline int64_t conv_slab_size_bf16(const conv_sizes *s)
{
    int64_t rows = conv_min(conv_block_rows_bf16(s) + s->K - 1, s->T + 2 * CONV_EDGE);
    return tile_padded(rows * s->n_in / 2 + 1);
}
static inline int64_t conv_scratch_bf16(const conv_sizes *s, int n_threads)
{
    return s->groups * tile_padded(lra_packed_bf16(s->K * s->n_in, s->n_out) / 2) +
           n_threads * conv_slab_size_bf16(s);
}

#if LRA_TYPE_bf16
/* Copies rows [lo, hi) of x, `width` elements apart, to adjacent rows; rows outside of [0, len)
 * become zeros. */
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

/* Computes n rows of y. a: the rows of x that the first tap reads; w: the packed weights of the
 * first of `taps` taps. */
static inline void conv_product_bf16(const conv_sizes *s, const conv_job *job, int64_t g, int64_t n,
                                     int64_t taps, const elem *a, const elem *w, elem *y)
{
    const real *bias = job->bias ? job->bias + g * s->n_out : NULL;
    lra_bf16_out out = bf16_result(y, s->dilation * s->groups * s->n_out, bias, job->act, NULL);
    lra_gemm_bf16_to(n, s->n_out, taps * s->n_in, (lra_pairs_bf16){a, s->n_in, 2}, w,
                     16 * s->K * s->n_in, &out);
}

/* True if all taps of all rows of a block are computed as one product. Required: at most a quarter
 * of the products reads zeros, and the slab is large enough for these zeros. */
static inline bool conv_is_whole(const conv_sizes *s, const conv_block *b)
{
    int64_t P = (s->K - 1) / 2, before = conv_max(0, P - b->t0);
    int64_t after = conv_max(0, b->t0 + b->n + P - b->len);
    return P < CONV_EDGE && 2 * (before * (before + 1) + after * (after + 1)) <= b->n * s->K;
}

static inline void conv_group_bf16(const conv_sizes *s, const conv_job *job, const conv_sequence *q,
                                   int64_t g, conv_block b, const elem *packed, elem *slab)
{
    int64_t P = (s->K - 1) / 2, in = s->groups * s->n_in, out = s->groups * s->n_out;
    const elem *x = job->x + q->first * in + g * s->n_in, *from = slab;
    elem *y = job->y + (q->first + b.t0 * s->dilation) * out + g * s->n_out;
    bool inside = b.t0 >= P && b.t0 + b.n + P <= b.len;
    b.lo = conv_max(b.t0 - P, 1 - CONV_EDGE);
    if (inside && s->groups == 1 && s->dilation == 1)
        from = x + b.lo * in;
    else
        conv_copy_bf16(x, s->n_in, s->dilation * in, b.lo,
                       conv_min(b.t0 + b.n + P, b.len + CONV_EDGE - 1), b.len, slab);
    if (inside || conv_is_whole(s, &b)) {
        conv_product_bf16(s, job, g, b.n, s->K, from, packed, y);
        return;
    }
    /* Near the ends a few rows are processed at a time, so that taps that read only zeros can be
     * skipped. */
    for (int64_t r = 0; r < b.n; r += CONV_EDGE) {
        int64_t n = conv_min(CONV_EDGE, b.n - r), t = b.t0 + r;
        int64_t first = conv_max(0, P - (t + n - 1)), end = conv_min(s->K, P + b.len - t);
        conv_product_bf16(s, job, g, n, end - first, slab + (t - P + first - b.lo) * s->n_in,
                          packed + first * s->n_in * 16, y + r * s->dilation * out);
    }
}

static inline void conv_run_bf16(const conv_sizes *s, const conv_job *job, real *scratch,
                                 int n_threads)
{
    int64_t rows = conv_block_rows_bf16(s), n_blocks = (s->T + rows - 1) / rows;
    int64_t depth = s->K * s->n_in, slab_size = conv_slab_size_bf16(s);
    int64_t packed_size = 2 * tile_padded(lra_packed_bf16(depth, s->n_out) / 2);
    elem *packed = (elem *)scratch;
    real *threads = scratch + s->groups * packed_size / 2;
#pragma omp parallel num_threads(n_threads)
    {
        real *own = threads + omp_get_thread_num() * slab_size;
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
                conv_group_bf16(s, job, &q, g, b, packed + g * packed_size, (elem *)own);
        }
    }
}
#endif

#endif
