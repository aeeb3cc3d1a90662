/* Evaluates a model on inputs of other lengths (length.h). */
#include "probes/influence/length.h"

#include <inttypes.h>
#include <string.h>

#include "datasets/prepare.h"
#include "kernels/base/core/mem.h"

/* ---- rows ------------------------------------------------------------------------------------ */

const char *lra_length_key(const lra_dataset *d)
{
    static const char *const key[] = {"length", "max-length"};
    if (!d->task->data.make || !lra_config_has(d->config, "data-seed")) return NULL;
    for (int k = 0; k < 2; k++)
        if (lra_config_has(d->config, key[k])) return key[k];
    return NULL;
}

/* Generates n test rows of a length; the other splits have one row. NULL: the task rejects the
 * length. */
static lra_dataset *make_rows(const lra_dataset *own, int64_t length, int64_t n, lra_err *e)
{
    const char *key = lra_length_key(own);
    lra_config *c = lra_config_copy(own->config);
    double times = (double)length / (double)lra_config_int(c, key);
    lra_config_set_int(c, key, length);
    if (lra_config_has(c, "min-length"))
        lra_config_set_int(c, "min-length",
                           (int64_t)(times * (double)lra_config_int(c, "min-length")));
    lra_config_set_int(c, "train", 1);
    lra_config_set_int(c, "val", 1);
    lra_config_set_int(c, "test", n);
    lra_config_set_int(c, "data-seed", lra_config_int(c, "data-seed") + 1);
    int rc = own->task->validate ? own->task->validate(c, e) : 0;
    lra_dataset *d = rc == 0 ? lra_dataset_make(own->task, c, e) : NULL;
    /* the model is built for the run's longest length, so that its parameters keep their shapes */
    if (d && d->longest < own->longest) d->longest = own->longest;
    lra_config_free(c);
    return d;
}

/* ---- outputs --------------------------------------------------------------------------------- */

typedef struct {
    const lra_subject *subject;
    lra_own_outputs *out;
    int64_t *place;
    lra_steps *steps;
    float *output;  /* (rows,C) outputs of a batch */
    lra_sums *sums; /* (rows) contributions of the rows of a batch to the metric */
} work;

static bool answers_forward(const lra_subject *s)
{
    return lra_responder_answers(s->model, LRA_ANSWERS_FORWARD);
}

const char *lra_own_answers_undefined(const lra_subject *s)
{
    bool any = answers_forward(s) || s->score;
    return any ? NULL : "the model has an output at every position, not one for the input";
}

static int evaluate_batch(const lra_request *q, const lra_batch *b, void *context, lra_err *e)
{
    work *w = context;
    lra_responder *r = w->subject->model;
    int64_t requested = 0;
    bool forward = answers_forward(w->subject);
    int rc = forward ? r->is->forward(r, q, w->output, e) : w->subject->score(r, q, b, w->sums, e);
    if (rc == 0 && forward) lra_subject_sums(w->subject, q, b, w->output, w->sums);
    for (int64_t i = 0; i < q->B && rc == 0; i++) {
        if (b->row[i] < 0) continue;
        w->out->row[w->place[b->row[i]]] = w->sums[i];
        requested++;
    }
    lra_steps_add(w->steps, (double)requested);
    return rc;
}

int lra_own_outputs_evaluate(const lra_subject *s, int64_t longest, int64_t sample,
                             lra_steps *steps, lra_own_outputs *out, lra_err *e)
{
    bool forward = answers_forward(s);
    const lra_preparation p = {.answers = forward ? LRA_ANSWERS_FORWARD : s->score_answers,
                               .longest = longest};
    size_t outputs = forward ? (size_t)(s->batch * s->model->facts.classes) : 0;
    work w = {.subject = s,
              .out = out,
              .steps = steps,
              .output = lra_alloc_array(outputs + 1, sizeof *w.output),
              .sums = lra_alloc_array((size_t)s->batch, sizeof *w.sums)};
    *out = (lra_own_outputs){0};
    int rc = lra_subject_prepare(s, LRA_TRAINED_WEIGHTS, p, e);
    if (rc == 0) {
        out->n = lra_subject_rows(s, sample, &out->index, &w.place);
        out->row = lra_alloc_array((size_t)out->n + 1, sizeof *out->row);
        rc = lra_subject_each(s, sample, evaluate_batch, &w, e);
    }
    lra_subject_release(s);
    lra_free(w.place);
    lra_free(w.output);
    lra_free(w.sums);
    return rc;
}

void lra_own_outputs_free(lra_own_outputs *a)
{
    lra_free(a->index);
    lra_free(a->row);
    *a = (lra_own_outputs){0};
}

/* ---- lengths --------------------------------------------------------------------------------- */

/* Checks that the model built for inputs of `longest` tokens gives the same outputs as the run's
 * model on the run's own rows. */
static int check_longer(const lra_subject *s, int64_t longest, lra_steps *steps, lra_err *e)
{
    lra_own_outputs a, b = {0};
    int rc = lra_own_outputs_evaluate(s, 0, LRA_LENGTH_CHECKED, steps, &a, e);
    if (rc == 0) rc = lra_own_outputs_evaluate(s, longest, LRA_LENGTH_CHECKED, steps, &b, e);
    for (int64_t i = 0; i < a.n && rc == 0; i++)
        if (a.row[i].loss != b.row[i].loss || a.row[i].right != b.row[i].right)
            rc = lra_fail(e,
                          "model '%s', built for inputs of %" PRId64
                          " tokens, changes the outputs for "
                          "the run's own rows",
                          s->model->facts.model, longest);
    lra_own_outputs_free(&a);
    lra_own_outputs_free(&b);
    return rc;
}

/* Fails if rows exceed the maximum length of a model that cannot be built again for longer
 * inputs. */
static int check_limit(const lra_subject *s, int64_t longest, lra_err *e)
{
    int64_t most = s->model->facts.max_length;
    if (most == 0 || longest <= most) return 0;
    return lra_fail(e, "the model accepts at most %" PRId64 " tokens, found rows of %" PRId64, most,
                    longest);
}

int lra_length_evaluate(const lra_subject *s, int64_t length, int64_t n, lra_steps *steps,
                        lra_sums *to, lra_err *e)
{
    lra_own_outputs a = {0};
    lra_subject other = *s;
    lra_dataset *d = make_rows(s->data, length, n, e);
    bool rebuilt = lra_responder_answers(s->model, LRA_ANSWERS_LONGER);
    int rc = d ? 0 : LRA_FAILED;
    if (rc == 0 && !rebuilt) rc = check_limit(s, d->max_length, e);
    if (rc == 0 && rebuilt && d->longest > s->data->longest)
        rc = check_longer(s, d->longest, steps, e);
    if (rc == 0) {
        other.data = d, other.buckets = lra_buckets_find(d);
        rc = lra_own_outputs_evaluate(&other, d->longest, 0, steps, &a, e);
    }
    if (rc == 0) memcpy(to, a.row, (size_t)n * sizeof *to);
    lra_own_outputs_free(&a);
    lra_dataset_free(d);
    return rc == 0 ? 0 : lra_fail_in(e, "length %" PRId64, length);
}
