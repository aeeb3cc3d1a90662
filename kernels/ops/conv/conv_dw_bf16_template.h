/* Weight gradients on processors with bf16 instructions, of convolutions and of dense layers, which
 * are convolutions with one tap.
 *
 * The sum runs over time. All sequences are concatenated on one axis, with (K-1)/2 rows of zeros
 * before each of them; taps that reach beyond either end read these zeros. Rows at or beyond a
 * length are omitted. The axis is divided into chunks. For each chunk x is transposed, so that time
 * runs along its rows, and dy is packed in pairs of rows. Every tap is then one product. Taps shift
 * dy instead of x: a row of x that starts within a cache line would need two loads, while panels of
 * dy move by complete lines, if the shift is an even number of rows. For odd shifts dy is packed a
 * second time, one row later.
 *
 * Bottleneck: each chunk updates all sums of its piece, which are read and written in the L2 cache.
 * Pieces (some taps, some columns of a group) are therefore limited to DW_SUMS numbers. Both
 * operands are packed again for every piece, at about fourteen elements per nanosecond. If there
 * are too few pieces for the threads of a machine, the axis is divided into parts with separate
 * sums, which are added in order. The division depends on shapes only, so that the result does not
 * depend on the number of threads. */
#ifndef LRA_OPS_CONV_CONV_DW_BF16_TEMPLATE_H
#define LRA_OPS_CONV_CONV_DW_BF16_TEMPLATE_H

#include <omp.h>

#include "kernels/ops/conv/conv_template.h"

enum {
    DW_CHUNK = 512, /* rows of a chunk */
    /* row stride of the transposed x; not a power of two, because tiles read its columns */
    DW_LDX = DW_CHUNK + 32,
    DW_SUMS = 1 << 18, /* sums of a piece, 1 MiB of float32 */
    DW_NEXT = 1 << 18, /* elements of the next chunk that fit in the L2 cache */
    /* minimum rows of a part if there are fewer than DW_PIECES_LEAST pieces */
    DW_ROWS_LEAST = 2048,
    DW_PIECES_LEAST = 4,
    /* rows of a part at which its overhead is small compared with its product */
    DW_ROWS_WHOLE = 8192,
    DW_PIECES_MOST = 16
};

/* before: number of rows of dy that a chunk needs before the first row of x, because of the taps of
 * a piece; rounded to an even number. panel: elements of a panel of dy. x_size, dy_size, zero_size:
 * elements of a chunk of x, of one packing of dy, and of a row of zeros. */
typedef struct {
    conv_sizes s;
    int64_t columns, column_pieces, taps, tap_pieces, n_parts;
    int64_t before, panel, x_size, dy_size, zero_size;
} dw_bf16;

static inline dw_bf16 dw_cut_bf16(conv_sizes s)
{
    dw_bf16 c = {.s = s, .columns = s.n_out};
    c.column_pieces = (s.n_in * s.n_out + DW_SUMS - 1) / DW_SUMS;
    c.columns = ((s.n_out + c.column_pieces - 1) / c.column_pieces + 31) / 32 * 32;
    c.columns = conv_min(c.columns, s.n_out);
    c.column_pieces = (s.n_out + c.columns - 1) / c.columns;
    c.taps = conv_max(1, conv_min(s.K, DW_SUMS / (s.n_in * c.columns)));
    c.tap_pieces = (s.K + c.taps - 1) / c.taps;
    c.taps = (s.K + c.tap_pieces - 1) / c.tap_pieces;
    int64_t pieces = s.groups * c.column_pieces * c.tap_pieces, rows = s.B * s.T;
    c.n_parts = conv_max(conv_min(rows / DW_ROWS_WHOLE, DW_PIECES_MOST / pieces),
                         conv_min(rows / DW_ROWS_LEAST, DW_PIECES_LEAST / pieces));
    c.n_parts = conv_max(1, c.n_parts);
    c.before = c.taps / 2 * 2;
    /* the 32 additional elements spread the lines of all panels over different cache sets */
    c.panel = 16 * (DW_CHUNK + c.before) + 32;
    c.x_size = (s.n_in + 7) / 8 * 8 * DW_LDX;
    c.dy_size = (c.columns + 15) / 16 * c.panel;
    c.zero_size = (conv_max(s.n_in, c.columns) + 31) / 32 * 32;
    return c;
}

/* Scratch in bytes: dw_thread_bf16() per thread, dw_scratch_bf16() in total. */
static inline int64_t dw_thread_bf16(const dw_bf16 *c)
{
    int64_t bytes = (c->x_size + 2 * c->dy_size + c->zero_size) * (int64_t)sizeof(uint16_t) +
                    (2 * DW_CHUNK + c->before + 1) * (int64_t)sizeof(void *);
    return (bytes + 63) / 64 * 64;
}
static inline int64_t dw_scratch_bf16(const dw_bf16 *c, int n_threads)
{
    int64_t size = c->s.K * c->s.n_in * c->s.n_out * c->s.groups;
    return n_threads * dw_thread_bf16(c) + (c->n_parts - 1) * size * (int64_t)sizeof(float);
}

#if LRA_TYPE_bf16
/* Operands of the product of one piece (some taps, some columns of a group), and the buffers of a
 * thread for one chunk of rows. */
typedef struct {
    const dw_bf16 *cut;
    const int32_t *length; /* (B) lengths; NULL: no padding */
    const elem *x, *dy;    /* offset to the piece's channels */
    elem *chunk_x, *chunk_dy, *zero;
    const elem **row_x, **row_dy;
} dw_work;

/* Position on the axis: the current sequence and the axis row at which it begins. */
typedef struct {
    int64_t sequence, begin;
} dw_place;

/* Number of rows of a sequence on the axis, including the zeros before it. */
static inline int64_t dw_span(const dw_work *w, int64_t sequence)
{
    int64_t len = conv_sequence_at(&w->cut->s, w->length, sequence).len;
    return len > 0 ? len + (w->cut->s.K - 1) / 2 : 0;
}

static inline int64_t dw_axis(const dw_work *w)
{
    int64_t n = 0;
    for (int64_t i = 0; i < w->cut->s.B; i++) n += dw_span(w, i);
    return n;
}

/* Advances p to the sequence that contains axis row `at`. */
static inline void dw_seek(const dw_work *w, int64_t at, dw_place *p)
{
    for (int64_t n; p->sequence < w->cut->s.B; p->sequence++, p->begin += n) {
        n = dw_span(w, p->sequence);
        if (p->begin + n > at) return;
    }
}

/* Sets row[i] to the address in x of axis row `at` + i, or to a row of zeros. Each sequence has
 * `lead` rows of zeros before it; width: row stride of x. p: where the search starts. */
static inline void dw_find_rows(const dw_work *w, dw_place p, int64_t lead, int64_t at, int64_t n,
                                const elem *x, int64_t width, const elem **row)
{
    const conv_sizes *s = &w->cut->s;
    for (int64_t i = 0; i < n; i++) row[i] = w->zero;
    for (; p.sequence < s->B && p.begin < at + n; p.begin += dw_span(w, p.sequence++)) {
        conv_sequence q = conv_sequence_at(s, w->length, p.sequence);
        int64_t first = p.begin + lead;
        int64_t from = conv_max(first, at), end = conv_min(first + q.len, at + n);
        for (int64_t i = from; i < end; i++)
            row[i - at] = x + (q.first + (i - first) * s->dilation) * width;
    }
}

/* Adds the products of axis rows [at, at + n) to taps [k, k + n_taps) of to (K, n_in, H). p:
 * positions for x and for dy at which the search starts; they are updated. next: number of
 * following rows to prefetch during the product, for a dense layer. */
static inline void dw_chunk(const dw_work *w, dw_place p[2], int64_t at, int64_t n, int64_t k,
                            int64_t n_taps, int64_t columns, int64_t next, bool add, real *to)
{
    const dw_bf16 *c = w->cut;
    const conv_sizes *s = &c->s;
    int64_t D = s->groups * s->n_in, H = s->groups * s->n_out;
    int64_t at_dy = at - k - c->before, n_dy = n + c->before;
    dw_seek(w, at, &p[0]);
    dw_find_rows(w, p[0], (s->K - 1) / 2, at, n, w->x, D, w->row_x);
    lra_transpose_bf16(n, s->n_in, w->row_x, DW_LDX, w->chunk_x);
    dw_seek(w, at_dy, &p[1]);
    dw_find_rows(w, p[1], 0, at_dy, n_dy + 1, w->dy, H, w->row_dy);
    for (int odd = 0; odd <= (n_taps > 1); odd++)
        lra_pack_rows_bf16(n_dy, columns, w->row_dy + odd, c->panel,
                           w->chunk_dy + odd * c->dy_size);
    for (int64_t tap = 0; tap < n_taps; tap++) {
        int64_t first = c->before - tap, odd = first & 1;
        const elem *dy = w->chunk_dy + odd * c->dy_size + (first - odd) * 16;
        lra_bf16_out out = {.c = to + (k + tap) * s->n_in * H, .add = add, .ld = H};
        if (next * (D + H) <= DW_NEXT && D == s->n_in && columns == H) {
            const int64_t size = (int64_t)sizeof(elem);
            out.ahead[0] = (lra_ahead){w->x + (at + n) * D, next * D * size};
            out.ahead[1] = (lra_ahead){w->dy + (at + n) * H, next * H * size};
        }
        lra_gemm_bf16_to(s->n_in, columns, n, (lra_pairs_bf16){w->chunk_x, DW_LDX, 2}, dy, c->panel,
                         &out);
    }
}

/* Computes piece number `piece` over part number `part` of the axis; to: (K, n_in, H). */
static inline void dw_piece_bf16(dw_work w, int64_t piece, int64_t part, real *to)
{
    const dw_bf16 *c = w.cut;
    const conv_sizes *s = &c->s;
    int64_t column = piece % c->column_pieces * c->columns, H = s->groups * s->n_out;
    int64_t k = piece / c->column_pieces % c->tap_pieces * c->taps;
    int64_t g = piece / c->column_pieces / c->tap_pieces;
    int64_t columns = conv_min(c->columns, s->n_out - column), taps = conv_min(c->taps, s->K - k);
    int64_t n = dw_axis(&w), n_chunks = (n + DW_CHUNK - 1) / DW_CHUNK;
    int64_t first = part * n_chunks / c->n_parts, end = (part + 1) * n_chunks / c->n_parts;
    w.x += g * s->n_in, w.dy += g * s->n_out + column, to += g * s->n_out + column;
    dw_place p[2] = {{0, 0}, {0, 0}};
    for (int64_t i = first; i < end; i++) {
        int64_t rows = (conv_min(DW_CHUNK, n - i * DW_CHUNK) + 31) / 32 * 32;
        int64_t left = s->K == 1 && !w.length && i + 1 < end ? n - (i + 1) * DW_CHUNK : 0;
        dw_chunk(&w, p, i * DW_CHUNK, rows, k, taps, columns, conv_min(left, DW_CHUNK), i > first,
                 to);
    }
    for (int64_t r = k * s->n_in; r < (k + taps) * s->n_in && first == end; r++)
        memset(to + r * H, 0, (size_t)columns * sizeof *to);
}

/* Computes dw (K, n_in, H) from x (.., groups n_in) and dy (.., H). */
static inline void dw_run_bf16(const conv_sizes *s, const elem *x, const elem *dy,
                               const int32_t *length, real *scratch, int n_threads, real *out)
{
    dw_bf16 c = dw_cut_bf16(*s);
    int64_t size = s->K * s->n_in * s->n_out * s->groups;
    int64_t pieces = s->groups * c.column_pieces * c.tap_pieces;
    char *threads = (char *)scratch;
    real *parts = (real *)(threads + n_threads * dw_thread_bf16(&c));
#pragma omp parallel num_threads(n_threads)
    {
        dw_work w = {.cut = &c, .length = length, .x = x, .dy = dy};
        w.chunk_x = (elem *)(threads + omp_get_thread_num() * dw_thread_bf16(&c));
        w.chunk_dy = w.chunk_x + c.x_size;
        w.zero = w.chunk_dy + 2 * c.dy_size;
        w.row_x = (const elem **)(void *)(w.zero + c.zero_size);
        w.row_dy = w.row_x + DW_CHUNK;
        memset(w.zero, 0, (size_t)c.zero_size * sizeof *w.zero);
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < pieces * c.n_parts; i++) {
            int64_t part = i / pieces; /* part 0 is written directly to the result */
            dw_piece_bf16(w, i % pieces, part, part ? parts + (part - 1) * size : out);
        }
        add_parts(c.n_parts - 1, parts, size, out);
    }
}
#endif

#endif
