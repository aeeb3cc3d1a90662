/* Chunks of sorted rows: which position each slot of a chunk holds. An example of n tokens is split
 * into chunks of max(1, ceil(n/J)) slots. The last chunk with tokens may be shorter, and all chunks
 * after it are empty. For n = 0 all chunks are empty. */
#ifndef LRA_OPS_ATTENTION_LSH_BUCKETS_BODY_H
#define LRA_OPS_ATTENTION_LSH_BUCKETS_BODY_H

#include "kernels/ops/args.h"
#include "kernels/ops/real.h"

typedef struct {
    lra_chunk_part part;
    int64_t T, J, C; /* T: positions, J: chunks, C: slots per chunk of an example of length T */
    int64_t heads;   /* rows of `order` per example, N / B */
} lsh_buckets_view;

static inline lsh_buckets_view lsh_buckets_view_of(const lra_tensor *y)
{
    const lsh_buckets_args *a = (const lsh_buckets_args *)y->args;
    int64_t T = y->src[0]->shape.d[1], rows = y->src[0]->shape.d[0];
    lsh_buckets_view v = {a->part, T, a->J, (T + a->J - 1) / a->J, rows};
    if (y->n_src > 1) v.heads = rows / y->src[1]->shape.d[0];
    return v;
}

/* Slots per chunk of an example of this length; at least 1, because it is used as a divisor. */
LRA_FN int64_t chunk_places(const lsh_buckets_view *v, int64_t length)
{
    return length > 0 ? (length + v->J - 1) / v->J : 1;
}

/* Number of tokens of chunk j; c: slots per chunk. */
LRA_FN int64_t chunk_tokens(int64_t length, int64_t c, int64_t j)
{
    int64_t left = length - j * c;
    return left < 0 ? 0 : left < c ? left : c;
}

/* Position id of one slot of chunk j followed by its previous chunk. The chunk's own tokens come
 * first. Empty slots get 0. */
LRA_FN int32_t chunk_key(const int32_t *order, int64_t length, int64_t c, int64_t j, int64_t place)
{
    int64_t own = chunk_tokens(length, c, j), last = (length + c - 1) / c - 1;
    int64_t back = j > 0 ? j - 1 : last;
    if (own == 0) return 0;
    if (place < own) return order[j * c + place];
    place -= own;
    return place < chunk_tokens(length, c, back) ? order[back * c + place] : 0;
}

/* Writes one number of row n. i: index in the sorted order for LRA_CHUNK_SLOT, index in the row of
 * y otherwise. */
LRA_FN void chunk_write(const lsh_buckets_view *v, const int32_t *order, const int32_t *lengths,
                        int64_t n, int64_t i, int32_t *y)
{
    int64_t length = lengths ? lengths[n / v->heads] : v->T;
    int64_t c = chunk_places(v, length), back = i > 0 ? i - 1 : (length + c - 1) / c - 1;
    int64_t own = chunk_tokens(length, c, i);
    order += n * v->T;
    switch (v->part) {
    case LRA_CHUNK_KEY:
        y[n * v->J * 2 * v->C + i] = chunk_key(order, length, c, i / (2 * v->C), i % (2 * v->C));
        break;
    case LRA_CHUNK_OWN: y[n * v->J + i] = (int32_t)own; break;
    case LRA_CHUNK_SEEN:
        y[n * v->J + i] = (int32_t)(own > 0 ? own + chunk_tokens(length, c, back) : 0);
        break;
    case LRA_CHUNK_SLOT:
        y[n * v->T + order[i]] = i < length ? (int32_t)(i / c * v->C + i % c) : 0;
        break;
    }
}

#endif
