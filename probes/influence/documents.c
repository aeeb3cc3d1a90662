/* Rows of tokens and predictions of their tokens (documents.h). */
#include "probes/influence/documents.h"

#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"

enum { LOGITS = 1 << 23 /* largest number of logits of a request, unless it has one row */ };

const char *lra_documents_undefined(const lra_subject *s)
{
    const lra_task *t = s->data->task;
    if (!s->model->facts.next) return "the model does not predict the next token";
    if (s->model->facts.vocab == 0) return "the rows are not tokens";
    if (s->model->facts.fixed_length) return "the model takes inputs of one length alone";
    if (t->goal != LRA_GOAL_NEXT && t->goal != LRA_GOAL_CLASS)
        return "the targets of the rows are not their next tokens";
    if (s->model->facts.classes < lra_mask_vocab(s->data, s->masking))
        return "the model has fewer outputs than the data has token ids";
    return lra_responder_answers(s->model, LRA_ANSWERS_FORWARD)
               ? NULL
               : "the model has no output for the next token";
}

/* ---- rows ------------------------------------------------------------------------------------ */

typedef struct {
    const lra_subject *subject;
    lra_documents *out;
} loading;

static int take_batch(const lra_request *q, const lra_batch *b, void *context, lra_err *e)
{
    loading *w = context;
    const lra_responder_facts *f = &w->subject->model->facts;
    bool stream = w->subject->data->task->goal == LRA_GOAL_NEXT;
    (void)e;
    for (int64_t i = 0; i < q->B; i++) {
        if (b->row[i] < 0) continue;
        const int32_t *from = q->token + i * q->T;
        lra_document *d = &w->out->row[w->out->n];
        *d = (lra_document){.index = b->row[i], .n = b->length[i]};
        d->token = lra_alloc_array((size_t)d->n + 1, sizeof *d->token);
        memcpy(d->token, from, (size_t)d->n * sizeof *d->token);
        d->token[d->n] = stream ? b->label[i * q->T + d->n - 1] : -1;
        d->first = f->has_bos && d->n > 0 && d->token[0] == f->bos;
        int64_t context_of = lra_document_context(d);
        if (context_of > w->out->longest) w->out->longest = context_of;
        w->out->n++;
    }
    return 0;
}

int lra_documents_load(const lra_subject *s, int64_t sample, lra_documents *out, lra_err *e)
{
    int64_t *index, *place, n = lra_subject_rows(s, sample, &index, &place);
    lra_free(index);
    lra_free(place);
    *out = (lra_documents){.row = lra_alloc_array((size_t)n + 1, sizeof *out->row)};
    loading w = {s, out};
    return lra_subject_each(s, sample, take_batch, &w, e);
}

void lra_documents_free(lra_documents *d)
{
    for (int64_t i = 0; i < d->n; i++) lra_free(d->row[i].token);
    lra_free(d->row);
    *d = (lra_documents){.n = 0};
}

int64_t lra_document_context(const lra_document *d)
{
    int64_t last = d->token[d->n] >= 0 ? d->n : d->n - 1;
    return last > d->first ? last - d->first : 0;
}

/* ---- predictions ----------------------------------------------------------------------------- */

int lra_documents_prepare(const lra_subject *s, uint32_t answers, int n, const int64_t *length,
                          lra_err *e)
{
    lra_responder *r = s->model;
    bool place = lra_responder_answers(r, LRA_ANSWERS_PLACE);
    bool restores = r->is->restore && lra_responder_answers(r, LRA_ANSWERS_RESET);
    int rc = restores ? r->is->restore(r, e) : 0;
    const lra_preparation p = {.answers = answers | (place ? LRA_ANSWERS_PLACE : 0),
                               .exact = true,
                               .B = s->batch,
                               .n_lengths = n,
                               .length = length};
    return rc == 0 && r->is->prepare ? r->is->prepare(r, &p, e) : rc;
}

int64_t lra_documents_chunk(const lra_subject *s)
{
    int64_t n = LOGITS / s->model->facts.classes;
    n -= n % s->batch;
    return n > s->batch ? n : s->batch;
}

/* First token of the context of a target, without the bos token in front. */
static int64_t start_of(const lra_target *of, int64_t c)
{
    int64_t from = of->at - c;
    return c == 0 || from <= of->row->first ? 0 : from;
}

/* Copies the context of a target to `to`; returns its number of tokens. *place: position id of the
 * first one. */
static int64_t copy_context(const lra_target *of, int64_t c, int32_t *to, int32_t *place)
{
    int64_t from = start_of(of, c), n = of->at - from, front = from > 0 ? of->row->first : 0;
    memcpy(to, of->row->token, (size_t)front * sizeof *to);
    memcpy(to + front, of->row->token + from, (size_t)n * sizeof *to);
    *place = (int32_t)(from - front);
    return n + front;
}

int lra_documents_predict(const lra_subject *s, int64_t n, const lra_target *of, int64_t c,
                          float *logits, lra_err *e)
{
    lra_responder *r = s->model;
    int64_t T = 1;
    for (int64_t i = 0; i < n; i++) {
        int64_t from = start_of(&of[i], c), size = of[i].at - from;
        if (from > 0) size += of[i].row->first;
        if (size > T) T = size;
    }
    int32_t *token = lra_alloc_array((size_t)(n * T) + 1, sizeof *token);
    int32_t *length = lra_alloc_array((size_t)n + 1, sizeof *length);
    int32_t *place = lra_alloc_array((size_t)n + 1, sizeof *place);
    for (int64_t i = 0; i < n; i++)
        length[i] = (int32_t)copy_context(&of[i], c, token + i * T, &place[i]);
    const lra_request q = {.B = n,
                           .T = T,
                           .towers = 1,
                           .token = token,
                           .length = length,
                           .place = lra_responder_answers(r, LRA_ANSWERS_PLACE) ? place : NULL};
    int rc = r->is->forward(r, &q, logits, e);
    int64_t C = r->facts.classes;
    for (int64_t i = 0; i < n * C && rc == 0; i++)
        if (!isfinite(logits[i]))
            rc = lra_fail(e,
                          "output %lld of the model is %g for test row %lld; expected finite "
                          "numbers",
                          (long long)(i % C), (double)logits[i], (long long)of[i / C].row->index);
    lra_free(token);
    lra_free(length);
    lra_free(place);
    return rc;
}

double lra_token_loss(int64_t C, const float *logits, int32_t token)
{
    double most = -INFINITY, sum = 0;
    for (int64_t c = 0; c < C; c++) most = fmax(most, (double)logits[c]);
    for (int64_t c = 0; c < C; c++) sum += exp((double)logits[c] - most);
    return most + log(sum) - (double)logits[token];
}

double *lra_documents_unigram(const lra_subject *s)
{
    const lra_sequences *train = &s->data->split[LRA_TRAIN_SPLIT];
    int64_t V = s->model->facts.classes, n = train->n ? train->start[train->n] : 0, total = 0;
    double *loss = lra_alloc_array((size_t)V + 1, sizeof *loss);
    for (int64_t i = 0; i < n; i++) {
        int64_t token = (int64_t)lra_token_at(train->token, train->width, i);
        if (token < V) loss[token]++, total++;
    }
    for (int64_t v = 0; v < V; v++) loss[v] = -log2((loss[v] + 1) / ((double)total + (double)V));
    return loss;
}
