/* Batches of language modelling from one long row (a stream): windows of `context` tokens; the
 * target of each token is the next token.
 * Training: the row (with `fraction`: its beginning) is divided into B equal parts. In every epoch
 * each part is rotated by a random number of tokens, on top of the rotations of earlier epochs.
 * Batch i consists of window i of all parts; an incomplete last window is dropped.
 * Evaluation: window i covers tokens i context .. (i+1) context - 1; every token except the first
 * is a target once.
 * Source: the state-space repository's language-model loader. */
#include "datasets/loader/stream.h"

#include <string.h>

enum { SHIFT_STREAM = 0x5348 };

bool lra_loader_is_stream(const lra_loader *l)
{
    return l->data->task->goal == LRA_GOAL_NEXT;
}

static int64_t n_tokens(const lra_loader *l)
{
    double share = l->spec.fraction > 0 ? l->spec.fraction : 1;
    return l->rows->n ? (int64_t)(share * (double)l->rows->start[1] + 1e-9) : 0;
}

static int64_t part_of(const lra_loader *l)
{
    return n_tokens(l) / (l->batch * l->group);
}

int64_t lra_stream_windows(const lra_loader *l)
{
    int64_t context = l->data->max_length;
    if (l->spec.training) return part_of(l) / context * l->batch * l->group;
    return n_tokens(l) > 1 ? (n_tokens(l) - 1 + context - 1) / context : 0;
}

void lra_stream_epoch(lra_loader *l)
{
    uint32_t part = (uint32_t)part_of(l);
    int64_t n = l->spec.training ? lra_stream_windows(l) : l->n_rows;
    for (int64_t i = 0; i < l->n_batches * l->batch; i++)
        l->order[i] = i >= n ? -1 : l->spec.training ? i : l->all[i];
    memset(l->shift, 0, (size_t)(l->batch * l->group) * sizeof *l->shift);
    if (!l->spec.training || part == 0) return;
    for (int64_t epoch = 0; epoch <= l->epoch; epoch++) {
        lra_rng rng = lra_rng_new(l->spec.seed, SHIFT_STREAM, (uint64_t)epoch);
        for (int64_t k = 0; k < l->batch * l->group; k++)
            l->shift[k] = (l->shift[k] + lra_rng_below(&rng, part)) % part;
    }
}

static int32_t token_at(const lra_loader *l, int64_t i)
{
    return (int32_t)lra_token_at(l->rows->token, l->rows->width, i);
}

void lra_stream_fill(lra_loader *l, lra_batch *b, int64_t i)
{
    int64_t T = l->data->max_length, part = part_of(l), n = n_tokens(l);
    b->bucket = 0;
    for (int64_t k = 0; k < l->batch; k++) {
        int64_t number = i % l->group * l->batch + k; /* index of the part */
        b->row[k] = l->order[i * l->batch + k];
        int64_t first = l->spec.training ? number * part : 0;
        int64_t within = l->spec.training ? part : n, left = within;
        int64_t from = l->spec.training ? i / l->group * T + l->shift[number] : b->row[k] * T;
        if (!l->spec.training) left = b->row[k] < 0 ? 0 : n - 1 - from;
        if (left > T) left = T;
        for (int64_t t = 0; t < T; t++) {
            bool inside = t < left;
            b->token[k * T + t] = inside ? token_at(l, first + (from + t) % within) : 0;
            b->label[k * T + t] = inside ? token_at(l, first + (from + t + 1) % within) : -1;
        }
        b->length[k] = left > 0 ? (int32_t)left : 1;
    }
}
