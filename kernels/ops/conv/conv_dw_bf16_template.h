/* Weight gradients on processors with bf16 instructions: of convolutions, and of dense layers,
 * which have one tap.
 *
 * The sum runs over time.  All sequences are concatenated on one axis, with (K-1)/2 rows of zeros
 * before each, which a tap reads beyond either end; rows at or beyond a length are omitted.  The
 * axis is cut into chunks.  For a chunk x is transposed, time along its rows, and dy is packed in
 * pairs of rows; every tap is then one product.  Taps move dy, not x: rows of x that start within a
 * line would be read as two, while panels of dy move by whole lines, if by even numbers of rows.
 * For the odd ones dy is packed a second time, one row later.
 *
 * Bottleneck: a chunk updates all sums of its piece, which are read and written in the L2 cache, so
 * that pieces (some taps, some columns of a group) are cut to DW_SUMS; and both operands are packed
 * again for every piece, at about fourteen elements a nanosecond.  Where there are too few pieces
 * for the threads of a machine, the axis is cut into parts with sums of their own, which are added
 * in order.  Cuts follow from shapes alone, so that the result does not depend on the number of
 * threads. */
#ifndef LRA_OPS_CONV_CONV_DW_BF16_TEMPLATE_H
#define LRA_OPS_CONV_CONV_DW_BF16_TEMPLATE_H

#include <omp.h>

#include "kernels/ops/conv/conv_template.h"

enum {
    DW_CHUNK = 512,         /* rows */
    DW_LDX = DW_CHUNK + 32, /* not a power of two, because tiles read columns of it */
    DW_SUMS = 1 << 18,      /* 1 MiB */
    DW_NEXT = 1 << 18,      /* elements of the next chunk that fit in the L2 cache */
    DW_ROWS_LEAST = 2048,   /* of a part, while there are fewer than DW_PIECES_LEAST pieces */
    DW_PIECES_LEAST = 4,
    DW_ROWS_WHOLE = 8192, /* rows of a part whose overhead is small compared with its product */
    DW_PIECES_MOST = 16
};

/* before: rows of dy that the taps of a piece see before those of x, made even.  Elements of a
 * panel of dy, and of a chunk of x, of dy (packed once), of a row of zeros. */
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
    c.panel = 16 * (DW_CHUNK + c.before) + 32; /* spreads lines of all panels over cache sets */
    c.x_size = (s.n_in + 7) / 8 * 8 * DW_LDX;
    c.dy_size = (c.columns + 15) / 16 * c.panel;
    c.zero_size = (conv_max(s.n_in, c.columns) + 31) / 32 * 32;
    return c;
}

/* Bytes of scratch: of a thread, of all. */
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
/* Operands of the product, and a thread's buffers for a chunk of them. */
typedef struct {
    const dw_bf16 *cut;
    const int32_t *length; /* Nullable */
    const elem *x, *dy;    /* of the piece's channels */
    elem *chunk_x, *chunk_dy, *zero;
    const elem **row_x, **row_dy;
} dw_work;

/* The sequence at a position of the axis, and its start. */
typedef struct {
    int64_t sequence, begin;
} dw_place;

/* Number of rows of the axis for a sequence. */
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

/* Advances to the sequence that contains row `at`. */
static inline void dw_seek(const dw_work *w, int64_t at, dw_place *p)
{
    for (int64_t n; p->sequence < w->cut->s.B; p->sequence++, p->begin += n) {
        n = dw_span(w, p->sequence);
        if (p->begin + n > at) return;
    }
}

/* row[i]: row `at` + i of the axis, whose sequences begin `lead` rows late, in x with a row stride
 * of `width`.  p: place where the search starts. */
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

/* Adds n rows of the axis from `at` on to taps [k, k + n_taps) of to (K, n_in, H).  p: places where
 * the search for x and dy starts, updated.  next: following rows of a dense layer to prefetch
 * during the product. */
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

/* Piece number `piece` over a part of the axis, into to (K, n_in, H). */
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

/* dw (K, n_in, H) of x (.., groups n_in) and dy (.., H). */
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
            int64_t part = i / pieces; /* the first part is written in place */
            dw_piece_bf16(w, i % pieces, part, part ? parts + (part - 1) * size : out);
        }
        add_parts(c.n_parts - 1, parts, size, out);
    }
}
#endif

#endif
