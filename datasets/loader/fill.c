/* Fills a batch from its rows. */
#include "datasets/loader/fill.h"

#include <math.h>
#include <string.h>

/* The random stream of masks is MASK_STREAM + split, so that the masks of splits are
 * independent. */
enum { AUGMENT_STREAM = 0x4155, MASK_STREAM = 0x4D41 };

int lra_loader_bucket(const lra_loader *l, const int64_t *entry)
{
    int64_t longest = 1;
    for (int64_t i = 0; i < l->batch; i++) {
        int64_t row = lra_loader_row(l, entry[i]);
        int64_t n = row < 0 ? 0 : lra_sequences_length(l->rows, row);
        if (n > longest) longest = n;
    }
    int b = 0;
    while (l->buckets.length[b] < longest) b++;
    return b;
}

/* Returns the random generator of an entry of lra_loader.order; it differs in every epoch. */
static lra_rng rng_of(const lra_loader *l, uint32_t stream, int64_t entry)
{
    uint64_t before = (uint64_t)l->epoch * (uint64_t)(l->passes * l->rows->n);
    return lra_rng_new(l->spec.seed, stream, before + (uint64_t)entry);
}

/* Returns the row of an entry, augmented if the loader augments. */
static lra_row own_row(lra_loader *l, int64_t entry)
{
    lra_row row = lra_sequences_row(l->rows, lra_loader_row(l, entry));
    if (!l->spec.augment) return row;
    lra_rng rng = rng_of(l, AUGMENT_STREAM, entry);
    size_t numbers = (size_t)(row.n * row.width);
    size_t targets = (size_t)((row.step_targets ? row.n : 1) * row.n_targets);
    if (row.token) row.token = memcpy(l->copy.token, row.token, numbers * sizeof *row.token);
    if (row.value) row.value = memcpy(l->copy.value, row.value, numbers * sizeof *row.value);
    if (row.target) row.target = memcpy(l->copy.target, row.target, targets * sizeof *row.target);
    l->data->task->data.augment(l->data, &rng, &row);
    return row;
}

/* Returns the row of an entry as own_row() does; if labels are permuted, with the label and targets
 * of another row. */
static lra_row row_of(lra_loader *l, int64_t entry)
{
    lra_row row = own_row(l, entry);
    if (!l->label_from) return row;
    lra_row other = lra_sequences_row(l->rows, l->label_from[lra_loader_row(l, entry)]);
    row.label = other.label, row.target = other.target;
    return row;
}

static void put_tokens(const lra_row *row, int64_t from, int64_t n, int32_t *to)
{
    const uint16_t *token = row->token + from * row->width;
    if (row->width == 1)
        for (int64_t t = 0; t < n; t++) to[t] = token[t];
    else
        for (int64_t t = 0; t < n; t++) to[t] = (int32_t)lra_token_at(token, row->width, t);
}

/* Writes the model inputs (n, channels) of a row of n tokens. */
static void put_values(const lra_loader *l, const lra_row *row, float *to)
{
    const float *scale = l->data->scale, *shift = l->data->shift;
    if (l->data->task->input.values) {
        l->data->task->input.values(l->data, row, to);
        return;
    }
    for (int64_t j = 0; j < row->n * row->width; j++)
        to[j] = scale[j] * (row->token ? (float)row->token[j] : row->value[j]) + shift[j];
}

/* Masks the n tokens of sequence i and sets its targets; T: padded length. */
static void mask_sequence(const lra_loader *l, lra_batch *b, int64_t i, int64_t n, int64_t T,
                          lra_rng *rng)
{
    int64_t C = l->data->task->input.channels, seen = lra_mask_channels(l->data, l->spec.masking);
    int32_t *token = b->token ? b->token + i * T : NULL, *word = b->word ? b->word + i * T : NULL;
    for (int64_t t = n; word && t < T; t++) word[t] = -1;
    if (!b->value) {
        lra_mask_tokens(l->data, l->spec.masking, rng, n, token, word);
        return;
    }
    float *value_target = b->value_target + i * T * C, *value_mask = b->value_mask + i * T * C;
    float *value = b->value + i * T * seen;
    lra_mask_values(l->data, l->spec.masking, rng, n, value_target, value, value_mask, token, word);
    memset(value_target + n * C, 0, (size_t)((T - n) * C) * sizeof *value_target);
    memset(value_mask + n * C, 0, (size_t)((T - n) * C) * sizeof *value_mask);
    memset(value + n * seen, 0, (size_t)((T - n) * seen) * sizeof *value);
}

/* Writes tokens from .. from+n-1 of the row as sequence i of the batch, padded to length T; n = 0:
 * padding only. */
static void put_sequence(const lra_loader *l, lra_batch *b, int64_t i, const lra_row *row,
                         int64_t from, int64_t n, int64_t T)
{
    size_t rest = (size_t)(T - n), channels = (size_t)l->data->task->input.channels;
    float *values = b->value_target ? b->value_target : b->value;
    if (b->token) {
        if (n) put_tokens(row, from, n, b->token + i * T);
        memset(b->token + i * T + n, 0, rest * sizeof *b->token);
    }
    if (values) {
        float *to = values + (size_t)(i * T) * channels;
        if (n) put_values(l, row, to);
        memset(to + (size_t)n * channels, 0, rest * channels * sizeof *to);
    }
    b->length[i] = n ? (int32_t)n : 1;
}

static void put_target(float x, float *target, float *target_mask)
{
    *target_mask = isnan(x) ? 0.0f : 1.0f;
    *target = isnan(x) ? 0.0f : x;
}

static void put_targets(lra_batch *b, int64_t i, const lra_row *row, int64_t T)
{
    int64_t all = (row->step_targets ? T : 1) * row->n_targets;
    int64_t n = (row->step_targets ? row->n : 1) * row->n_targets;
    for (int64_t j = 0; j < n; j++)
        put_target(row->target[j], &b->target[i * all + j], &b->target_mask[i * all + j]);
    memset(b->target + i * all + n, 0, (size_t)(all - n) * sizeof *b->target);
    memset(b->target_mask + i * all + n, 0, (size_t)(all - n) * sizeof *b->target_mask);
}

static void put_row(lra_loader *l, lra_batch *b, int64_t i, int64_t entry, int64_t T)
{
    const lra_task *t = l->data->task;
    bool pair = t->goal == LRA_GOAL_PAIR, none = entry < 0;
    lra_row row = none ? (lra_row){.n_targets = t->n_targets} : row_of(l, entry);
    row.step_targets = t->goal == LRA_GOAL_TOKENS;
    int64_t first = pair ? row.middle : row.n, second = row.n - first;
    put_sequence(l, b, i, &row, 0, first, T);
    if (pair) put_sequence(l, b, l->batch + i, &row, first, second, T);
    if (l->spec.masking.kind) {
        lra_rng rng = rng_of(l, MASK_STREAM + (uint32_t)l->spec.split, none ? 0 : entry);
        mask_sequence(l, b, i, first, T, &rng);
        if (pair) mask_sequence(l, b, l->batch + i, second, T, &rng);
    }
    b->label[i] = none ? -1 : row.label;
    if (!b->target) return;
    if (!none) {
        put_targets(b, i, &row, T);
        return;
    }
    int64_t all = (row.step_targets ? T : 1) * row.n_targets;
    memset(b->target + i * all, 0, (size_t)all * sizeof *b->target);
    memset(b->target_mask + i * all, 0, (size_t)all * sizeof *b->target_mask);
}

void lra_loader_fill(lra_loader *l, lra_batch *b, int64_t i)
{
    const int64_t *entry = l->order + i * l->batch;
    b->bucket = lra_loader_bucket(l, entry);
    for (int64_t k = 0; k < l->batch; k++) {
        b->row[k] = lra_loader_row(l, entry[k]);
        put_row(l, b, k, entry[k], l->buckets.length[b->bucket]);
    }
}
