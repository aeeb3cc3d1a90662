/* A batch from its rows. */
#include <math.h>
#include <string.h>

#include "datasets/loader.h"

enum { AUGMENT_STREAM = 0x4155 };

int lra_loader_bucket(const lra_loader *l, const int64_t *rows)
{
    int64_t longest = 1;
    for (int64_t i = 0; i < l->batch; i++) {
        int64_t n = rows[i] < 0 ? 0 : lra_row_length(l->rows, rows[i]);
        if (n > longest) longest = n;
    }
    int b = 0;
    while (l->buckets.length[b] < longest) b++;
    return b;
}

/* The row, or its augmented copy. */
static lra_row row_of(lra_loader *l, int64_t i)
{
    lra_row row = lra_sequences_row(l->rows, i);
    if (!l->spec.augment) return row;
    uint64_t index = (uint64_t)l->epoch * (uint64_t)l->rows->n + (uint64_t)i;
    lra_rng rng = lra_rng_new(l->spec.seed, AUGMENT_STREAM, index);
    size_t numbers = (size_t)(row.n * row.width);
    size_t targets = (size_t)((row.step_targets ? row.n : 1) * row.n_targets);
    if (row.token) row.token = memcpy(l->copy.token, row.token, numbers * sizeof *row.token);
    if (row.value) row.value = memcpy(l->copy.value, row.value, numbers * sizeof *row.value);
    if (row.target) row.target = memcpy(l->copy.target, row.target, targets * sizeof *row.target);
    l->data->task->augment(l->data, &rng, &row);
    return row;
}

static void put_tokens(const lra_loader *l, const lra_row *row, int64_t from, int64_t n,
                       int32_t *to)
{
    const uint16_t *token = row->token + from * row->width;
    if (l->data->vocab > 65536)
        for (int64_t t = 0; t < n; t++) to[t] = token[2 * t] | (int32_t)token[2 * t + 1] << 16;
    else
        for (int64_t t = 0; t < n; t++) to[t] = token[t];
}

/* What a model sees of a whole row. */
static void put_values(const lra_loader *l, const lra_row *row, float *to)
{
    const float *scale = l->data->scale, *shift = l->data->shift;
    if (l->data->task->values) {
        l->data->task->values(l->data, row, to);
        return;
    }
    for (int64_t j = 0; j < row->n * row->width; j++)
        to[j] = scale[j] * (row->token ? (float)row->token[j] : row->value[j]) + shift[j];
}

/* n steps of the row, from one on, as sequence i of the batch; n = 0: none. */
static void put_sequence(const lra_loader *l, lra_batch *b, int64_t i, const lra_row *row,
                         int64_t from, int64_t n, int64_t T)
{
    size_t rest = (size_t)(T - n), channels = (size_t)l->data->task->channels;
    if (b->token) {
        if (n) put_tokens(l, row, from, n, b->token + i * T);
        memset(b->token + i * T + n, 0, rest * sizeof *b->token);
    }
    if (b->value) {
        float *to = b->value + (size_t)(i * T) * channels;
        if (n) put_values(l, row, to);
        memset(to + (size_t)n * channels, 0, rest * channels * sizeof *to);
    }
    b->length[i] = n ? (int32_t)n : 1;
}

static void put_target(float x, float *target, float *asked)
{
    *asked = isnan(x) ? 0.0f : 1.0f;
    *target = isnan(x) ? 0.0f : x;
}

static void put_targets(lra_batch *b, int64_t i, const lra_row *row, int64_t T)
{
    int64_t all = (row->step_targets ? T : 1) * row->n_targets;
    int64_t n = (row->step_targets ? row->n : 1) * row->n_targets;
    for (int64_t j = 0; j < n; j++)
        put_target(row->target[j], &b->target[i * all + j], &b->asked[i * all + j]);
    memset(b->target + i * all + n, 0, (size_t)(all - n) * sizeof *b->target);
    memset(b->asked + i * all + n, 0, (size_t)(all - n) * sizeof *b->asked);
}

static void put_row(lra_loader *l, lra_batch *b, int64_t i, int64_t index, int64_t T)
{
    const lra_task *t = l->data->task;
    bool pair = t->goal == LRA_GOAL_PAIR, none = index < 0;
    lra_row row = none ? (lra_row){.n_targets = t->n_targets} : row_of(l, index);
    row.step_targets = t->goal == LRA_GOAL_STEPS;
    put_sequence(l, b, i, &row, 0, pair ? row.middle : row.n, T);
    if (pair) put_sequence(l, b, l->batch + i, &row, row.middle, row.n - row.middle, T);
    b->label[i] = none ? -1 : row.label;
    if (!b->target) return;
    if (!none) {
        put_targets(b, i, &row, T);
        return;
    }
    int64_t all = (row.step_targets ? T : 1) * row.n_targets;
    memset(b->target + i * all, 0, (size_t)all * sizeof *b->target);
    memset(b->asked + i * all, 0, (size_t)all * sizeof *b->asked);
}

void lra_loader_fill(lra_loader *l, lra_batch *b, int64_t i)
{
    b->row = l->order + i * l->batch;
    b->bucket = lra_loader_bucket(l, b->row);
    for (int64_t k = 0; k < l->batch; k++)
        put_row(l, b, k, b->row[k], l->buckets.length[b->bucket]);
}
