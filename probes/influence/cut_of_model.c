/* Computes the outputs of a model with distance limits (cut_of_model.h). */
#include "probes/influence/cut_of_model.h"

#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "probes/shared/map_block.h"

static const double tolerance = 1e-4;

const char *lra_model_cut_undefined(const lra_subject *s)
{
    if (!s->model->facts.limits) return "the model accepts no distance limits ('limits' of ready)";
    if (s->data->task->goal == LRA_GOAL_NEXT)
        return "forward has one output; part 'context-curve' measures language models";
    return lra_responder_answers(s->model, LRA_ANSWERS_FORWARD)
               ? NULL
               : "the model has an output at every position, not one for the input";
}

int lra_model_cut_curves(const lra_subject *s)
{
    return 1 + s->model->facts.n_limit_layers;
}

typedef struct {
    const lra_subject *subject;
    lra_ablation *out;
    int64_t *place; /* rank of each row of the split in the sample */
    lra_steps *steps;
    bool tested; /* the largest limit was compared with no limit */
} work;

/* Stores the outputs of a batch: row (n), by rank in the sample. */
static void keep(const work *w, const lra_request *q, const lra_batch *b, const float *logits,
                 lra_sums *row)
{
    lra_sums *own = lra_alloc_array((size_t)q->B + 1, sizeof *own);
    lra_subject_sums(w->subject, q, b, logits, own);
    for (int64_t i = 0; i < q->B; i++)
        if (b->row[i] >= 0) row[w->place[b->row[i]]] = own[i];
    lra_free(own);
}

/* Fails if the outputs with the largest limit differ from those without a limit. */
static int test_largest(const work *w, const lra_request *q, const float *whole, float *logits,
                        lra_err *e)
{
    int64_t C = w->subject->model->facts.classes;
    const lra_request_limit limit = {.r = w->subject->data->max_length - 1};
    double most = 0, size = 0;
    lra_request limited = *q;
    limited.limit = &limit;
    int rc = w->subject->model->is->forward(w->subject->model, &limited, logits, e);
    for (int64_t i = 0; i < q->B * C && rc == 0; i++) {
        if (q->row[i / C] < 0) continue;
        most = fmax(most, fabs((double)logits[i] - (double)whole[i]));
        size = fmax(size, fabs((double)whole[i]));
    }
    if (rc == 0 && most > tolerance * size)
        rc = lra_fail(
            e,
            "a distance limit of %lld tokens, which restricts nothing, changes outputs by "
            "%.2g; outputs are up to %.2g",
            (long long)limit.r, most, size);
    return rc;
}

static int evaluate_batch(const lra_request *q, const lra_batch *b, void *context, lra_err *e)
{
    work *w = context;
    lra_ablation *a = w->out;
    lra_responder *r = w->subject->model;
    size_t n = (size_t)(q->B * r->facts.classes);
    float *whole = lra_alloc_array(2 * n + 1, sizeof *whole), *logits = whole + n;
    int rc = r->is->forward(r, q, whole, e);
    if (rc == 0 && !w->tested) rc = test_largest(w, q, whole, logits, e);
    if (rc == 0) keep(w, q, b, whole, a->full);
    w->tested = true;
    lra_steps_add(w->steps, (double)q->B);
    for (int k = 0; k < a->n_curves; k++)
        for (int i = 0; i < a->n_points && rc == 0; i++) {
            const lra_request_limit limit = {.r = (int64_t)a->r[i],
                                             .layer = k ? r->facts.limit_layer[k - 1] : NULL};
            bool all = i == a->n_points - 1;
            lra_request limited = *q;
            limited.limit = &limit;
            if (!all) rc = r->is->forward(r, &limited, logits, e);
            if (rc == 0) keep(w, q, b, all ? whole : logits, a->curve[k].row + i * a->n);
            if (!all) lra_steps_add(w->steps, (double)q->B);
        }
    lra_free(whole);
    return rc;
}

int lra_model_cut_measure(const lra_subject *s, int64_t sample, lra_steps *steps, lra_ablation *out,
                          lra_err *e)
{
    const lra_preparation p = {.answers = LRA_ANSWERS_FORWARD, .exact = true};
    const lra_responder_facts *f = &s->model->facts;
    work w = {.subject = s, .out = out, .steps = steps};
    *out = (lra_ablation){.attention = f->limits == LRA_LIMITS_ATTENTION,
                          .depth = (int)f->limit_depth};
    int rc = lra_subject_prepare(s, LRA_TRAINED_WEIGHTS, p, e);
    out->n = lra_subject_rows(s, sample, &out->index, &w.place);
    out->n_points = lra_gain_axis(0, s->data->max_length, out->r);
    out->full = lra_alloc_array((size_t)out->n + 1, sizeof *out->full);
    out->curve = lra_alloc_array((size_t)lra_model_cut_curves(s), sizeof *out->curve);
    for (; out->n_curves < lra_model_cut_curves(s); out->n_curves++) {
        lra_ablation_curve *c = &out->curve[out->n_curves];
        if (out->n_curves) c->name = lra_map_layer_name(f->limit_layer[out->n_curves - 1]);
        c->row = lra_alloc_array((size_t)(out->n * out->n_points) + 1, sizeof *c->row);
    }
    if (rc == 0) rc = lra_subject_each(s, sample, evaluate_batch, &w, e);
    lra_subject_release(s);
    lra_free(w.place);
    return rc;
}
