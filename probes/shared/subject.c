/* A model and its test rows. */
#include "probes/shared/subject.h"

#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "models/training/rows.h"

lra_subject lra_subject_of(lra_responder *model, const lra_dataset *data, const char *title,
                           int64_t batch, uint64_t seed)
{
    int64_t fixed = model ? model->facts.fixed_length : 0;
    return (lra_subject){.model = model,
                         .title = title,
                         .data = data,
                         .buckets = fixed ? (lra_buckets){1, {fixed}} : lra_buckets_find(data),
                         .batch = batch,
                         .donors = batch,
                         .seed = seed};
}

int lra_subject_prepare(const lra_subject *s, lra_subject_weights weights, lra_preparation p,
                        lra_err *e)
{
    lra_responder *r = s->model;
    bool reset = weights == LRA_RESET_WEIGHTS;
    if (!lra_responder_answers(r, p.answers | (reset ? LRA_ANSWERS_RESET : 0)))
        return lra_fail(e, "%s: the model does not answer these requests", s->title);
    bool restores = r->is->restore && lra_responder_answers(r, LRA_ANSWERS_RESET);
    int rc = reset ? r->is->reset(r, s->seed, e) : restores ? r->is->restore(r, e) : 0;
    p.B = s->batch, p.n_lengths = s->buckets.n, p.length = s->buckets.length;
    return rc == 0 && r->is->prepare ? r->is->prepare(r, &p, e) : rc;
}

void lra_subject_release(const lra_subject *s)
{
    lra_err e;
    if (s->model && s->model->is->prepare) s->model->is->prepare(s->model, NULL, &e);
}

/* ---- rows ------------------------------------------------------------------------------------ */

lra_loader *lra_subject_loader(const lra_subject *s, int64_t sample)
{
    const lra_loader_spec spec = {.data = s->data,
                                  .split = LRA_TEST_SPLIT,
                                  .buckets = &s->buckets,
                                  .batch = s->batch,
                                  .seed = s->seed,
                                  .masking = s->masking,
                                  .sample = sample,
                                  .sample_seed = s->sample_seed,
                                  .stratified = true};
    return lra_loader_new(&spec);
}

int64_t lra_subject_rows(const lra_subject *s, int64_t sample, int64_t **index, int64_t **place)
{
    const lra_loader_spec spec = {.data = s->data,
                                  .split = LRA_TEST_SPLIT,
                                  .buckets = &s->buckets,
                                  .batch = s->batch,
                                  .sample = sample,
                                  .sample_seed = s->sample_seed,
                                  .stratified = true,
                                  .alone = true};
    lra_loader *l = lra_loader_new(&spec);
    int64_t n = lra_loader_rows(l), last = 0;
    *index = lra_alloc_array((size_t)n + 1, sizeof **index);
    memcpy(*index, lra_loader_used(l), (size_t)n * sizeof **index);
    for (int64_t i = 0; i < n; i++)
        if ((*index)[i] > last) last = (*index)[i];
    *place = lra_alloc_array((size_t)last + 1, sizeof **place);
    for (int64_t i = 0; i < n; i++) (*place)[(*index)[i]] = i;
    lra_loader_free(l);
    return n;
}

int64_t lra_subject_test_rows(const lra_subject *s)
{
    int64_t *index, *place, n = lra_subject_rows(s, 0, &index, &place);
    lra_free(index);
    lra_free(place);
    return n;
}

/* ---- batches --------------------------------------------------------------------------------- */

lra_request lra_subject_request(const lra_subject *s, const lra_batch *b)
{
    lra_request q = {.B = s->batch,
                     .T = s->buckets.length[b->bucket],
                     .towers = (int)(b->n / s->batch),
                     .length = b->length,
                     .row = b->row,
                     .place = b->place};
    if (b->value)
        q.value = b->value, q.width = lra_mask_channels(s->data, s->masking);
    else
        q.token = b->token;
    return q;
}

const char *lra_request_tokens(const lra_request *q, int64_t s, size_t *size)
{
    *size = q->token ? sizeof *q->token : (size_t)q->width * sizeof *q->value;
    const char *all = q->token ? (const char *)q->token : (const char *)q->value;
    return all + (size_t)(s * q->T) * *size;
}

void *lra_request_shorten(const lra_request *q, lra_request *to)
{
    int64_t T = 1;
    size_t size = 0;
    *to = *q;
    for (int64_t s = 0; s < lra_request_sequences(q); s++) {
        bool counts = !q->row || q->row[s % q->B] >= 0;
        if (counts && q->length[s] > T) T = q->length[s];
    }
    if (T >= q->T || q->keep) return NULL;
    lra_request_tokens(q, 0, &size);
    size_t bytes = (size_t)T * size;
    char *copy = lra_alloc_array((size_t)lra_request_sequences(q), bytes);
    for (int64_t s = 0; s < lra_request_sequences(q); s++)
        memcpy(copy + (size_t)s * bytes, lra_request_tokens(q, s, &size), bytes);
    to->T = T;
    if (q->token)
        to->token = (const int32_t *)(const void *)copy;
    else
        to->value = (const float *)(const void *)copy;
    return copy;
}

int64_t lra_subject_donor(int64_t donors, int64_t B, const int64_t *row, int64_t i, int64_t draw)
{
    int64_t first = i - i % donors, n = first + donors < B ? donors : B - first, others = 0;
    for (int64_t k = 0; k < n; k++) others += first + k != i && row[first + k] >= 0;
    if (others == 0) return -1;
    draw %= others;
    for (int64_t k = 1;; k++) {
        int64_t other = first + (i - first + k) % n;
        if (row[other] >= 0 && draw-- == 0) return other;
    }
}

int lra_subject_each(const lra_subject *s, int64_t sample,
                     int (*each)(const lra_request *q, const lra_batch *b, void *context,
                                 lra_err *e),
                     void *context, lra_err *e)
{
    lra_loader *l = lra_subject_loader(s, sample);
    int rc = 0;
    for (int64_t i = 0; i < lra_loader_batches(l) && rc == 0; i++) {
        const lra_batch *b = lra_loader_get(l, i);
        const lra_request q = lra_subject_request(s, b);
        int64_t rows = 0;
        for (int64_t k = 0; k < q.B; k++) rows += b->row[k] >= 0;
        if (rows) rc = each(&q, b, context, e);
    }
    lra_loader_free(l);
    return rc;
}

void lra_subject_sums(const lra_subject *s, const lra_request *q, const lra_batch *b,
                      const float *logits, lra_sums *row)
{
    int64_t C = s->model->facts.classes;
    const lra_task *t = s->data->task;
    for (int64_t i = 0; i < q->B; i++) {
        if (t->unlabelled)
            row[i] = (lra_sums){.n = b->row[i] >= 0, .loss = NAN};
        else if (t->goal == LRA_GOAL_VALUE)
            row[i] = lra_number_row(C, logits + i * C, b->target + i * C, b->target_mask + i * C);
        else
            row[i] = lra_class_row(logits + i * C, C, b->label[i]);
    }
}
