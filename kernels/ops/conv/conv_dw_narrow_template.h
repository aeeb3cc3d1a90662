/* The weight gradient of narrow groups: the correlation of conv_narrow_template.h, where taps are
 * the sums and rows of dy the coefficients. Included by conv_dw.c. A piece is 16 channels over a
 * part of the samples. Parts are added in order, so that the result does not depend on the number
 * of threads. */
#ifndef LRA_OPS_CONV_CONV_DW_NARROW_TEMPLATE_H
#define LRA_OPS_CONV_CONV_DW_NARROW_TEMPLATE_H

/* Division of the work, and scratch of a thread in reals: spread rows of x, a block of dy, sums
 * (n_in, taps padded, lanes). */
typedef struct {
    conv_sizes s;
    int64_t H, taps, n_blocks, n_parts, spread_size, dy_size, sum_size;
} narrow_dw_cut;

static inline bool dw_is_narrow(const lra_tensor *y)
{
    conv_sizes s = cut_of(y).s;
    return conv_is_narrow(s.groups, s.n_in, s.n_out);
}

static inline narrow_dw_cut narrow_dw_cut_of(const lra_tensor *y)
{
    const conv_sizes s = cut_of(y).s;
    narrow_dw_cut c = {.s = conv_sizes_of(s.B, s.T, s.K, s.groups, s.n_in, s.n_out,
                                          ((const conv_dw_args *)y->args)->dilation)};
    c.H = c.s.groups * c.s.n_out;
    c.taps = tile_padded(c.s.K); /* a multiple of the number of sums of every instruction set */
    c.n_blocks = tile_padded(c.H) / TILE_PAD;
    c.n_parts = conv_min(c.s.B, (DW_PIECES + c.n_blocks - 1) / c.n_blocks);
    c.spread_size = narrow_spread_size(c.s.n_in, c.s.K);
    c.dy_size = NARROW_ROWS * NARROW_LANES_MOST;
    c.sum_size = c.s.n_in * c.taps * NARROW_LANES_MOST;
    return c;
}

static inline int64_t narrow_dw_scratch(const lra_tensor *y, int n_threads)
{
    narrow_dw_cut c = narrow_dw_cut_of(y);
    return n_threads * (c.spread_size + c.dy_size + c.sum_size) + (c.n_parts - 1) * lra_elements(y);
}

/* Adds rows [t0, t0+n) of one sequence of length len to the sums; x and dy: rows of that
 * sequence. */
static inline void narrow_dw_rows(const narrow_dw_cut *c, const elem *x, const elem *dy, int64_t h0,
                                  int64_t t0, int64_t n, int64_t len, real *own)
{
    const conv_sizes *s = &c->s;
    int64_t rows = narrow_spread_rows(s->K), live = conv_min(TILE_LANES, c->H - h0);
    real *spread = own, *block = own + c->spread_size, *sum = block + c->dy_size;
    narrow_spread(s, x, h0, t0 - (s->K - 1) / 2, rows, len, spread);
    for (int64_t t = 0; t < n; t++) {
        const elem *row = dy + (t0 + t) * s->dilation * c->H + h0;
        for (int64_t l = 0; l < TILE_LANES; l++)
            block[t * TILE_LANES + l] = l < live ? e_load(row[l]) : 0;
    }
    for (int64_t i = 0; i < s->n_in; i++)
        for (int64_t k = 0; k < s->K; k += NARROW_SUMS)
            narrow_correlate(spread + (i * rows + k) * TILE_LANES, block, TILE_LANES, n,
                             (tile_vector *)(sum + (i * c->taps + k) * TILE_LANES));
}

/* Sums channels [h0, h0 + TILE_LANES) over sequences [from, end); to: (K, n_in, H). */
static inline void narrow_dw_piece(const lra_call *call, const narrow_dw_cut *c, int64_t h0,
                                   int64_t from, int64_t end, real *own, real *to)
{
    const conv_dw_args *a = call->y->args;
    const conv_sizes *s = &c->s;
    int64_t D = s->groups * s->n_in, live = conv_min(TILE_LANES, c->H - h0);
    real *sum = own + c->spread_size + c->dy_size;
    memset(sum, 0, (size_t)c->sum_size * sizeof *sum);
    for (int64_t i = from; i < end; i++) {
        conv_sequence q = conv_sequence_at(s, a->has_length ? call->in[2] : NULL, i);
        const elem *x = (const elem *)call->in[0] + q.first * D;
        const elem *dy = (const elem *)call->in[1] + q.first * c->H;
        for (int64_t t0 = 0; t0 < q.len; t0 += NARROW_ROWS)
            narrow_dw_rows(c, x, dy, h0, t0, conv_min(NARROW_ROWS, q.len - t0), q.len, own);
    }
    for (int64_t k = 0; k < s->K; k++)
        for (int64_t i = 0; i < s->n_in; i++)
            memcpy(to + (k * s->n_in + i) * c->H + h0, sum + (i * c->taps + k) * TILE_LANES,
                   (size_t)live * sizeof *to);
}

static inline void narrow_dw_run(const lra_call *call)
{
    narrow_dw_cut c = narrow_dw_cut_of(call->y);
    int64_t size = lra_elements(call->y), n_blocks = (c.H + TILE_LANES - 1) / TILE_LANES;
    int64_t own_size = c.spread_size + c.dy_size + c.sum_size;
    real *out = call->out, *parts = (real *)call->scratch + call->n_threads * own_size;
#pragma omp parallel num_threads(call->n_threads)
    {
        real *own = (real *)call->scratch + omp_get_thread_num() * own_size;
#pragma omp for schedule(dynamic)
        for (int64_t at = 0; at < n_blocks * c.n_parts; at++) {
            int64_t part = at / n_blocks; /* part 0 is written directly to the result */
            narrow_dw_piece(call, &c, at % n_blocks * TILE_LANES, part * c.s.B / c.n_parts,
                            (part + 1) * c.s.B / c.n_parts, own,
                            part ? parts + (part - 1) * size : out);
        }
        add_parts(c.n_parts - 1, parts, size, out);
    }
}

#endif
