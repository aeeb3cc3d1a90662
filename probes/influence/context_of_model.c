/* Computes the outputs of a model whose features come from crops (context_of_model.h). */
#include "probes/influence/context_of_model.h"

#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "probes/influence/probabilities.h"

enum { MOST_ROWS = 1024 };
/* largest difference of outputs that counts as equal, relative to the largest output */
static const double tolerance = 1e-4;

const char *lra_model_context_undefined(const lra_subject *s)
{
    const lra_responder_facts *f = &s->model->facts;
    if (s->data->task->goal == LRA_GOAL_NEXT)
        return "part 'context-curve' measures it for language models";
    if (s->data->task->goal == LRA_GOAL_PAIR) return "the rows are pairs of documents";
    if (!lra_responder_answers(s->model, LRA_ANSWERS_FEATURES | LRA_ANSWERS_HEAD) || f->width == 0)
        return "the model does not answer 'features' and 'head'";
    if (f->fixed_length) return "the model takes inputs of one length alone";
    return NULL;
}

bool lra_model_context_moves(const lra_responder_facts *f)
{
    return !f->no_positions && !(f->answers & LRA_ANSWERS_PLACE);
}

int64_t lra_model_context_width(const lra_subject *s, int64_t R)
{
    const lra_responder_facts *f = &s->model->facts;
    int64_t left = R + (f->period > 0 ? f->period - 1 : 0), T = s->data->max_length;
    int64_t w = left + 1 + (f->causal ? 0 : R);
    return w < T ? w : T;
}

/* ---- crops ----------------------------------------------------------------------------------- */

typedef struct {
    lra_model_context *c;
    const lra_request *q; /* complete inputs */
    int64_t R, D;
    size_t size; /* bytes of a token */
    /* (B,T,D) features: whole: of the complete inputs; pooled: one per crop */
    float *whole, *pooled;
    /* The request of crops: at most `rows` of `width` tokens. */
    int64_t n, rows, width;
    char *tokens;
    int32_t *length, *place;
    /* to: row of `pooled` that receives the feature; at: index of its token inside the crop */
    int64_t *to, *at;
    float *features;
} cropping;

/* Requests the features of the crops, and copies that of each crop's own position to `pooled`. */
static int flush(cropping *w, lra_err *e)
{
    if (w->n == 0) return 0;
    lra_responder *r = w->c->subject->model;
    lra_request crops = *w->q, sent;
    crops.B = w->n, crops.T = w->width, crops.length = w->length, crops.row = NULL;
    crops.place = lra_responder_answers(r, LRA_ANSWERS_PLACE) ? w->place : NULL;
    if (crops.token) crops.token = (const int32_t *)(const void *)w->tokens;
    if (crops.value) crops.value = (const float *)(const void *)w->tokens;
    void *copy = lra_request_shorten(&crops, &sent);
    int rc = r->is->features(r, &sent, NULL, w->features, e);
    for (int64_t k = 0; k < w->n && rc == 0; k++)
        memcpy(w->pooled + w->to[k] * w->D, w->features + (k * sent.T + w->at[k]) * w->D,
               (size_t)w->D * sizeof(float));
    lra_free(copy);
    double share = (double)w->width / (double)w->c->subject->data->max_length;
    lra_steps_add(w->c->steps, share * (double)w->n);
    w->n = 0;
    return rc;
}

/* Adds the crop around position i of sequence s, or copies the feature of the complete input if the
 * crop would contain all tokens on which it can depend. */
static int add_crop(cropping *w, int64_t s, int64_t i, lra_err *e)
{
    const lra_request *q = w->q;
    bool causal = w->c->subject->model->facts.causal;
    int64_t period = w->c->subject->model->facts.period;
    int64_t n = q->length[s], lo = i - w->R, hi = causal ? i : i + w->R, to = s * q->T + i;
    if (lo < 0) lo = 0;
    if (period > 0) lo -= lo % period;
    if (hi > n - 1) hi = n - 1;
    if (lo == 0 && (hi == n - 1 || causal)) {
        memcpy(w->pooled + to * w->D, w->whole + to * w->D, (size_t)w->D * sizeof(float));
        return 0;
    }
    size_t row = (size_t)w->width * w->size, bytes = (size_t)(hi + 1 - lo) * w->size, size;
    char *copy = w->tokens + (size_t)w->n * row;
    memset(copy, 0, row);
    memcpy(copy, lra_request_tokens(q, s, &size) + (size_t)lo * w->size, bytes);
    w->length[w->n] = (int32_t)(hi + 1 - lo), w->place[w->n] = (int32_t)lo;
    w->to[w->n] = to, w->at[w->n] = i - lo;
    return ++w->n == w->rows ? flush(w, e) : 0;
}

static int crop_all(cropping *w, lra_err *e)
{
    int rc = 0;
    for (int64_t s = 0; s < w->q->B; s++)
        for (int64_t i = 0; i < w->q->length[s] && w->q->row[s] >= 0 && rc == 0; i++)
            rc = add_crop(w, s, i, e);
    return rc == 0 ? flush(w, e) : rc;
}

static void open_cropping(cropping *w)
{
    const lra_subject *s = w->c->subject;
    w->D = s->model->facts.width, w->width = lra_model_context_width(s, w->R);
    w->rows = s->batch * s->data->max_length / w->width;
    if (w->rows > MOST_ROWS) w->rows = MOST_ROWS;
    if (w->rows < s->batch) w->rows = s->batch;
    lra_request_tokens(w->q, 0, &w->size);
    size_t all = (size_t)(w->q->B * w->q->T * w->D), crops = (size_t)(w->rows * w->width);
    w->whole = lra_alloc_array(2 * all, sizeof *w->whole), w->pooled = w->whole + all;
    w->features = lra_alloc_array(crops * (size_t)w->D, sizeof *w->features);
    w->tokens = lra_alloc_array(crops, w->size);
    w->length = lra_alloc_array(2 * (size_t)w->rows, sizeof *w->length);
    w->place = w->length + w->rows;
    w->to = lra_alloc_array(2 * (size_t)w->rows, sizeof *w->to), w->at = w->to + w->rows;
}

static void close_cropping(cropping *w)
{
    lra_free(w->whole);
    lra_free(w->features);
    lra_free(w->tokens);
    lra_free(w->length);
    lra_free(w->to);
}

/* ---- outputs --------------------------------------------------------------------------------- */

/* Stores the outputs of a batch: row (n), by rank of the row in the sample. */
static void keep(const lra_model_context *c, const lra_request *q, const lra_batch *b,
                 const float *logits, lra_sums *row)
{
    lra_sums *of_batch = lra_alloc_array((size_t)q->B + 1, sizeof *of_batch);
    lra_subject_sums(c->subject, q, b, logits, of_batch);
    for (int64_t i = 0; i < q->B; i++)
        if (b->row[i] >= 0) row[c->place[b->row[i]]] = of_batch[i];
    lra_free(of_batch);
}

typedef struct {
    lra_model_context *c;
    int64_t R;
    lra_sums *row;
    double *kl;              /* Nullable */
    lra_mean_output average; /* of complete inputs */
    bool tested;             /* the head was tested by test_head() */
} question;

static int evaluate_batch(const lra_request *q, const lra_batch *b, void *context, lra_err *e)
{
    question *x = context;
    lra_responder *r = x->c->subject->model;
    cropping w = {.c = x->c, .q = q, .R = x->R};
    float *logits = lra_alloc_array((size_t)(q->B * r->facts.classes) + 1, sizeof *logits);
    open_cropping(&w);
    int rc = r->is->features(r, q, NULL, w.whole, e);
    if (rc == 0) rc = crop_all(&w, e);
    if (rc == 0) rc = r->is->head(r, q, w.pooled, logits, e);
    if (rc == 0) keep(x->c, q, b, logits, x->row);
    int64_t C = r->facts.classes;
    for (int64_t i = 0; i < q->B && rc == 0 && x->kl; i++) {
        if (b->row[i] < 0) continue;
        int64_t at = x->c->place[b->row[i]];
        x->kl[at] = lra_kl(C, x->c->whole + at * C, logits + i * C);
    }
    lra_steps_add(x->c->steps, (double)q->B);
    close_cropping(&w);
    lra_free(logits);
    return rc;
}

int lra_model_context_evaluate(lra_model_context *c, int64_t R, lra_sums *row, double *kl,
                               lra_err *e)
{
    question x = {.c = c, .R = R, .row = row, .kl = kl};
    return lra_subject_each(c->subject, c->sample, evaluate_batch, &x, e);
}

/* ---- complete inputs ------------------------------------------------------------------------- */

/* Replaces the features h of the positions after the first one of each row by 1 - h. Returns
 * LRA_ABSENT if that changes no output: then the head reads the first position alone. */
static int test_head(lra_responder *r, const lra_request *q, const float *logits, lra_err *e)
{
    int64_t D = r->facts.width, C = r->facts.classes, n = q->B * q->T * D;
    float *h = lra_alloc_array(2 * (size_t)n + 1, sizeof *h), *other = h + n;
    float *changed = lra_alloc_array((size_t)(q->B * C) + 1, sizeof *changed);
    double most = 0, size = 0;
    bool several = false;
    int rc = r->is->features(r, q, NULL, h, e);
    memcpy(other, h, (size_t)n * sizeof *other);
    for (int64_t s = 0; s < q->B; s++)
        for (int64_t i = 1; i < q->length[s]; i++)
            for (int64_t d = 0; d < D; d++)
                other[(s * q->T + i) * D + d] = 1 - other[(s * q->T + i) * D + d];
    if (rc == 0) rc = r->is->head(r, q, other, changed, e);
    for (int64_t s = 0; s < q->B && rc == 0; s++) {
        if (q->row[s] < 0 || q->length[s] < 2) continue;
        several = true;
        for (int64_t c = s * C; c < (s + 1) * C; c++) {
            most = fmax(most, fabs((double)changed[c] - (double)logits[c]));
            size = fmax(size, fabs((double)logits[c]));
        }
    }
    if (rc == 0 && several && most <= tolerance * size)
        rc = lra_fail_absent(e, "the outputs depend on the features of the first position alone (a "
                                "class token), so that the context of the others has no effect");
    lra_free(h);
    lra_free(changed);
    return rc;
}

static int whole_batch(const lra_request *q, const lra_batch *b, void *context, lra_err *e)
{
    question *x = context;
    lra_responder *r = x->c->subject->model;
    float *logits = lra_alloc_array((size_t)(q->B * r->facts.classes) + 1, sizeof *logits);
    int rc = r->is->forward(r, q, logits, e);
    if (rc == 0 && !x->tested) rc = test_head(r, q, logits, e);
    x->tested = true;
    if (rc == 0) keep(x->c, q, b, logits, x->row);
    int64_t C = r->facts.classes;
    for (int64_t i = 0; i < q->B && rc == 0 && x->c->whole; i++) {
        if (b->row[i] < 0) continue;
        int64_t at = x->c->place[b->row[i]];
        memcpy(x->c->whole + at * C, logits + i * C, (size_t)C * sizeof *logits);
        x->c->entropy[at] = lra_mean_output_add(&x->average, C, logits + i * C);
    }
    lra_steps_add(x->c->steps, (double)q->B);
    lra_free(logits);
    return rc;
}

int lra_model_context_open(lra_model_context *c, const lra_subject *s, int64_t sample,
                           lra_steps *steps, lra_err *e)
{
    const lra_preparation p = {.answers = LRA_ANSWERS_FORWARD | LRA_ANSWERS_FEATURES |
                                          LRA_ANSWERS_HEAD |
                                          (s->model->facts.answers & LRA_ANSWERS_PLACE),
                               .exact = true};
    *c = (lra_model_context){.subject = s, .sample = sample, .steps = steps};
    int rc = lra_subject_prepare(s, LRA_TRAINED_WEIGHTS, p, e);
    c->n = lra_subject_rows(s, sample, &c->index, &c->place);
    c->full = lra_alloc_array((size_t)c->n + 1, sizeof *c->full);
    int64_t C = s->model->facts.classes;
    if (s->data->task->goal != LRA_GOAL_VALUE && C > 1) {
        c->whole = lra_alloc_array((size_t)(c->n * C) + 1, sizeof *c->whole);
        c->entropy = lra_alloc_array((size_t)c->n + 1, sizeof *c->entropy);
    }
    question x = {.c = c, .row = c->full};
    if (rc == 0) rc = lra_subject_each(s, sample, whole_batch, &x, e);
    if (rc == 0 && c->whole) c->mean_entropy = lra_mean_output_entropy(&x.average);
    lra_mean_output_free(&x.average);
    return rc;
}

void lra_model_context_close(lra_model_context *c)
{
    lra_subject_release(c->subject);
    lra_free(c->index);
    lra_free(c->place);
    lra_free(c->full);
    lra_free(c->whole);
    lra_free(c->entropy);
}
