/* Makes small batches from the examples, and evaluates them. */
#include "probes/audit/check_work.h"

#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"

lra_check_batch lra_check_batch_new(const lra_check_work *w, const int64_t *row, int64_t n,
                                    int64_t T)
{
    const lra_request *x = w->s->examples;
    int64_t all = n * x->towers, F = x->width;
    lra_check_batch b = {.q = {.B = n, .T = T, .towers = x->towers, .width = F}};
    b.length = lra_alloc_array((size_t)all + 1, sizeof *b.length);
    b.keep = lra_alloc_array((size_t)(all * T) + 1, sizeof *b.keep);
    if (x->token) b.token = lra_alloc_array((size_t)(all * T) + 1, sizeof *b.token);
    if (x->value) b.value = lra_alloc_array((size_t)(all * T * F) + 1, sizeof *b.value);
    int64_t copied = T < x->T ? T : x->T;
    for (int64_t s = 0; s < all; s++) {
        int64_t from = s / n * x->B + row[s % n];
        b.length[s] = x->length[from] < (int32_t)T ? x->length[from] : (int32_t)T;
        if (x->token) {
            memcpy(b.token + s * T, x->token + from * x->T, (size_t)copied * sizeof *b.token);
            for (int64_t t = copied; t < T; t++) b.token[s * T + t] = w->s->pad;
        }
        if (x->value)
            memcpy(b.value + s * T * F, x->value + from * x->T * F,
                   (size_t)(copied * F) * sizeof *b.value);
    }
    b.q.token = b.token, b.q.value = b.value, b.q.length = b.length;
    return b;
}

void lra_check_batch_free(lra_check_batch *b)
{
    lra_free(b->token);
    lra_free(b->value);
    lra_free(b->length);
    lra_free(b->keep);
}

void lra_check_replace(const lra_check_work *w, lra_check_batch *b, int64_t s, int64_t t,
                       lra_rng *rng)
{
    int64_t at = s * b->q.T + t, F = b->q.width, vocab = w->r->facts.vocab;
    if (b->token && vocab > 1) {
        int64_t others = vocab < INT32_MAX ? vocab - 1 : INT32_MAX;
        b->token[at] =
            (int32_t)((b->token[at] + 1 + (int64_t)lra_rng_below(rng, (uint32_t)others)) % vocab);
    }
    for (int64_t f = 0; f < F && b->value; f++)
        b->value[at * F + f] = (float)(3 * lra_rng_u01(rng) - 1.5);
}

static float *ask(const lra_check_work *w, const lra_request *q, int64_t n, bool features,
                  lra_err *e)
{
    const lra_responder_functions *is = w->r->is;
    float *x = lra_try_array(n, sizeof *x, "answers of the model", e);
    if (!x) return NULL;
    int rc = features ? is->features(w->r, q, NULL, x, e) : is->forward(w->r, q, x, e);
    if (rc == 0) return x;
    lra_free(x);
    return NULL;
}

float *lra_check_forward(const lra_check_work *w, const lra_request *q, lra_err *e)
{
    return ask(w, q, q->B * w->r->facts.classes, false, e);
}

float *lra_check_features(const lra_check_work *w, const lra_request *q, lra_err *e)
{
    return ask(w, q, q->B * q->towers * q->T * w->r->facts.width, true, e);
}

double lra_check_difference(const float *a, const float *b, int64_t n)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++) {
        double d = fabs((double)a[i] - (double)b[i]);
        if (!(d <= most)) most = isfinite(d) ? d : (double)INFINITY;
    }
    return most;
}

double lra_check_size(const float *a, int64_t n)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++) most = fmax(most, fabs((double)a[i]));
    return most;
}

static lra_check_row *row_of(lra_check_work *w, int check, lra_check_outcome outcome, char *found)
{
    lra_check_row *row = &w->out->row[check];
    lra_free(row->found);
    row->outcome = outcome, row->found = found;
    return row;
}

void lra_check_pass(lra_check_work *w, int check, char *found)
{
    row_of(w, check, LRA_CHECK_PASSED, found);
}

void lra_check_leave_out(lra_check_work *w, int check, const char *why)
{
    row_of(w, check, LRA_CHECK_LEFT_OUT, lra_copy_text(why));
}

void lra_check_fail(lra_check_work *w, int check, char *found, const char *meaning,
                    const char *cure, const char *disables)
{
    lra_check_row *row = row_of(w, check, LRA_CHECK_FAILED, found);
    row->meaning = meaning, row->cure = cure, row->disables = disables;
}
