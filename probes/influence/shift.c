/* Measures the effect of shifted position ids (shift.h). */
#include "probes/influence/shift.h"

#include "kernels/base/core/mem.h"
#include "kernels/graph/op.h"
#include "models/training/session.h"
#include "probes/influence/probabilities.h"
#include "probes/shared/sample_rows.h"

const int32_t lra_shift_steps[LRA_SHIFTS] = {1, 4, 16, 64};

typedef struct {
    const lra_loaded_model *m;
    lra_steps *steps;
    lra_shifted *out;
    float *output; /* (2, rows, C) outputs for unshifted and for shifted inputs */
} work;

/* True if row i can be shifted by `by` tokens; both documents of a pair must have room. */
static bool has_room(const work *w, const lra_length_graph *v, const lra_batch *b, int64_t i,
                     int32_t by)
{
    for (int64_t s = i; s < v->network.n; s += v->rows)
        if (b->length[s] + by > w->m->run->data->max_length) return false;
    return true;
}

static int move_batch(work *w, const lra_length_graph *v, const lra_batch *b, int k, lra_err *e)
{
    lra_batch to = *b;
    int64_t n = lra_elements(v->network.output), C = n / v->rows, asked = 0;
    int32_t *place = lra_alloc_array((size_t)v->network.n, sizeof *place);
    for (int64_t s = 0; s < v->network.n; s++) place[s] = lra_shift_steps[k];
    for (int64_t i = 0; i < v->rows; i++)
        asked += b->row[i] >= 0 && has_room(w, v, b, i, lra_shift_steps[k]);
    to.place = place;
    int rc = 0;
    if (asked) rc = lra_session_set(w->m->run, &v->network, v->plan, &to, e);
    if (asked && rc == 0) rc = lra_length_graph_run(w->m, v, e);
    if (asked && rc == 0) rc = lra_get(v->plan, v->network.output, w->output + n, e);
    for (int64_t i = 0; i < v->rows && rc == 0; i++) {
        if (b->row[i] < 0 || !has_room(w, v, b, i, lra_shift_steps[k])) continue;
        double kl = lra_kl(C, w->output + i * C, w->output + n + i * C);
        w->out->by[k].n++, w->out->by[k].kl += kl, w->out->by[k].square += kl * kl;
    }
    lra_steps_add(w->steps, (double)asked);
    lra_free(place);
    return rc;
}

static int take_batch(const lra_length_graph *v, const lra_batch *b, void *context, lra_err *e)
{
    work *w = context;
    for (int64_t i = 0; i < v->rows; i++) w->out->asked += b->row[i] >= 0;
    w->output = lra_alloc_array((size_t)(2 * lra_elements(v->network.output)), sizeof(float));
    int rc = lra_get(v->plan, v->network.output, w->output, e);
    for (int k = 0; k < LRA_SHIFTS && rc == 0; k++) rc = move_batch(w, v, b, k, e);
    lra_free(w->output);
    return rc;
}

int lra_shift_measure(const lra_train_spec *run, lra_device *dev, lra_weights_kind weights,
                      int64_t sample, lra_steps *steps, lra_shifted *out, lra_err *e)
{
    lra_loaded_model m;
    work w = {.m = &m, .steps = steps, .out = out};
    *out = (lra_shifted){0};
    int rc = lra_sample_each(&m, run, dev, weights, sample, true, take_batch, &w, e);
    lra_loaded_free(&m);
    return rc;
}
