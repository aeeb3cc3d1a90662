/* Measures the effect of shifted position ids (shift.h). */
#include "probes/influence/shift.h"

#include "kernels/base/core/mem.h"
#include "probes/influence/probabilities.h"

const int32_t lra_shift_steps[LRA_SHIFTS] = {1, 4, 16, 64};

typedef struct {
    const lra_subject *subject;
    lra_steps *steps;
    lra_shifted *out;
    float *output; /* (2, rows, C) outputs for unshifted and for shifted inputs */
} work;

/* True if row i can be shifted by `by` tokens; both documents of a pair must have room. */
static bool has_room(const work *w, const lra_request *q, int64_t i, int32_t by)
{
    for (int64_t s = i; s < lra_request_sequences(q); s += q->B)
        if (q->length[s] + by > w->subject->data->max_length) return false;
    return true;
}

static int move_batch(work *w, const lra_request *q, const lra_batch *b, int k, lra_err *e)
{
    lra_responder *r = w->subject->model;
    lra_request to = *q;
    int64_t C = r->facts.classes, n = q->B * C, requested = 0, sequences = lra_request_sequences(q);
    int32_t *place = lra_alloc_array((size_t)sequences, sizeof *place);
    for (int64_t s = 0; s < sequences; s++) place[s] = lra_shift_steps[k];
    for (int64_t i = 0; i < q->B; i++)
        requested += b->row[i] >= 0 && has_room(w, q, i, lra_shift_steps[k]);
    to.place = place;
    int rc = requested ? r->is->forward(r, &to, w->output + n, e) : 0;
    for (int64_t i = 0; i < q->B && rc == 0; i++) {
        if (b->row[i] < 0 || !has_room(w, q, i, lra_shift_steps[k])) continue;
        double kl = lra_kl(C, w->output + i * C, w->output + n + i * C);
        w->out->by[k].n++, w->out->by[k].kl += kl, w->out->by[k].square += kl * kl;
    }
    lra_steps_add(w->steps, (double)requested);
    lra_free(place);
    return rc;
}

static int take_batch(const lra_request *q, const lra_batch *b, void *context, lra_err *e)
{
    work *w = context;
    lra_responder *r = w->subject->model;
    for (int64_t i = 0; i < q->B; i++) w->out->requested += b->row[i] >= 0;
    w->output = lra_alloc_array((size_t)(2 * q->B * r->facts.classes), sizeof(float));
    int rc = r->is->forward(r, q, w->output, e);
    for (int k = 0; k < LRA_SHIFTS && rc == 0; k++) rc = move_batch(w, q, b, k, e);
    lra_free(w->output);
    return rc;
}

int lra_shift_measure(const lra_subject *s, lra_subject_weights weights, int64_t sample,
                      lra_steps *steps, lra_shifted *out, lra_err *e)
{
    work w = {.subject = s, .steps = steps, .out = out};
    const lra_preparation p = {.answers = LRA_ANSWERS_FORWARD | LRA_ANSWERS_PLACE, .exact = true};
    *out = (lra_shifted){0};
    int rc = lra_subject_prepare(s, weights, p, e);
    if (rc == 0) rc = lra_subject_each(s, sample, take_batch, &w, e);
    lra_subject_release(s);
    return rc;
}
