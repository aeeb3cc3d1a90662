/* The weight gradient of conv_dw.c where the processor multiplies bf16 itself.  Part of conv_dw.c.
 *
 * The sum runs over time, so pairs are pairs of rows: dy is packed once, x is interleaved twice, as pairs
 * (x[2j], x[2j+1]) for taps that shift by an even number of rows and (x[2j-1], x[2j]) for odd ones, and
 * every tap is then one product over a sample.  A piece is one tap over a part of the samples; parts are
 * added in order, so that the result does not depend on the number of threads. */
#ifndef LRA_OPS_CONV_DW_BF16_FN_H
#define LRA_OPS_CONV_DW_BF16_FN_H

enum { DW_BF16_PIECES = 16 };

/* Elements of scratch for one sample, and parts of the sum. */
typedef struct {
    conv_sizes s;
    int64_t dilation, D, H, pairs; /* pairs: of rows of x, one more for the odd phase */
    int64_t x_size, dy_panel, dy_size, n_parts;
} dw_bf16_cut;

static inline dw_bf16_cut dw_cut_bf16(const lra_tensor *y)
{
    const dw_cut whole = cut_of(y);
    dw_bf16_cut c = {.s = whole.s, .dilation = whole.dilation};
    c.D = c.s.groups * c.s.n_in, c.H = c.s.groups * c.s.n_out;
    c.pairs = c.s.T / 2 + 1;
    c.x_size = 2 * c.pairs * c.D;
    c.dy_panel = 16 * 2 * c.pairs;
    c.dy_size = (c.H + 15) / 16 * c.dy_panel;
    c.n_parts = conv_min(c.s.B, (DW_BF16_PIECES + c.s.K - 1) / c.s.K);
    return c;
}

/* Panels of dy hold 16 channels of one group. */
static inline bool dw_fits_bf16(const lra_tensor *y)
{
    conv_sizes s = cut_of(y).s;
    return lra_graph_type(y->graph) == LRA_BF16 && lra_gemm_bf16_fast() && s.n_in >= 8 &&
           (s.groups == 1 || s.n_out % 16 == 0);
}

#if LRA_RECORD
static int64_t dw_scratch_bf16(const lra_tensor *y)
{
    dw_bf16_cut c = dw_cut_bf16(y);
    int64_t sums = (c.n_parts - 1) * lra_elements(y);
    return sums * (int64_t)sizeof(float) +
           c.s.B * (2 * c.x_size + c.dy_size) * (int64_t)sizeof(uint16_t);
}
#endif

#if LRA_PASS == 16
static inline int64_t dw_length(const lra_call *call, const conv_sizes *s, int64_t sample)
{
    const conv_dw_args *a = call->y->args;
    return a->has_length ? conv_min(((const int32_t *)call->in[2])[sample], s->T) : s->T;
}

/* One tap of one group, summed over samples [from, end), into to (K, n_in, H). */
static inline void dw_tap_bf16(const lra_call *call, const dw_bf16_cut *c, int64_t k, int64_t g,
                               int64_t from, int64_t end, const elem *x, const elem *dy, real *to)
{
    const conv_sizes *s = &c->s;
    int64_t shift = (k - (s->K - 1) / 2) * c->dilation, odd = shift & 1;
    bool add = false;
    to += k * s->n_in * c->H + g * s->n_out;
    for (int64_t sample = from; sample < end; sample++) {
        int64_t len = dw_length(call, s, sample);
        int64_t t0 = conv_max(0, -shift) / 2 * 2, t1 = (conv_min(len, len - shift) + 1) / 2 * 2;
        if (t1 <= t0) continue;
        const elem *pairs = x + sample * 2 * c->x_size + odd * c->x_size;
        lra_pairs_bf16 a = {pairs + (t0 + shift + odd) * c->D + 2 * g * s->n_in, 2, 2 * c->D};
        lra_gemm_bf16(s->n_in, s->n_out, t1 - t0, a,
                      dy + sample * c->dy_size + g * s->n_out / 16 * c->dy_panel + t0 * 16,
                      c->dy_panel, add, to, c->H);
        add = true;
    }
    for (int64_t i = 0; i < s->n_in && !add; i++)
        memset(to + i * c->H, 0, (size_t)s->n_out * sizeof *to);
}

static inline void dw_run_bf16(const lra_call *call)
{
    dw_bf16_cut c = dw_cut_bf16(call->y);
    const conv_sizes *s = &c.s;
    int64_t size = lra_elements(call->y), taps = s->groups * s->K;
    real *out = call->out, *parts = call->scratch;
    elem *x = (elem *)(parts + (c.n_parts - 1) * size), *dy = x + s->B * 2 * c.x_size;
#pragma omp parallel num_threads(call->n_threads)
    {
#pragma omp for schedule(static)
        for (int64_t b = 0; b < s->B; b++) {
            int64_t len = dw_length(call, s, b), live = 2 * c.pairs;
            const elem *from = (const elem *)call->in[0] + b * s->T * c.D;
            elem *to = x + b * 2 * c.x_size, *packed = dy + b * c.dy_size;
            memset(to, 0, (size_t)(2 * c.x_size) * sizeof *to);
            lra_pair_bf16(len, c.D, from, c.D, 0, to);
            lra_pair_bf16(len, c.D, from, c.D, 1, to + c.x_size);
            if (len < s->T) memset(packed, 0, (size_t)c.dy_size * sizeof *packed);
            lra_pack_bf16(conv_min(len, live), c.H, (const elem *)call->in[1] + b * s->T * c.H, c.H,
                          1, c.dy_panel, packed);
        }
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < taps * c.n_parts; i++) {
            int64_t part = i / taps; /* the first part is written in place */
            dw_tap_bf16(call, &c, i % s->K, i % taps / s->K, part * s->B / c.n_parts,
                        (part + 1) * s->B / c.n_parts, x, dy,
                        part ? parts + (part - 1) * size : out);
        }
        add_parts(c.n_parts - 1, parts, size, out);
    }
}
#endif

#endif
