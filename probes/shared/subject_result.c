/* Computes the result of a model that answers requests. */
#include "probes/shared/subject_result.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "datasets/loader/chance.h"
#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"
#include "kernels/cpu/device.h"
#include "models/training/rows.h"
#include "probes/run/baselines.h"
#include "probes/run/origin.h"

/* ---- identity -------------------------------------------------------------------------------- */

static int add_origin(lra_result *r, lra_err *e)
{
    lra_device device;
    int rc = lra_cpu_device(&device, 1, e);
    if (rc == 0) lra_probe_origin(&device, &r->origin);
    return rc;
}

/* Sets the key to the hash of a text, because the text may contain any characters. Nullable:
 * text */
static void set_hash(lra_config *c, const char *key, const char *text)
{
    char hash[17];
    if (!text) return;
    snprintf(hash, sizeof hash, "%016" PRIx64, lra_hash64(text, strlen(text)));
    lra_config_set(c, key, hash);
}

/* Sets the identity of the model: its name, its framework, and the identification of its
 * weights. */
static void add_identity(const lra_subject *s, const char *name, lra_result *r)
{
    const lra_dataset *d = s->data;
    const lra_responder_facts *facts = &s->model->facts;
    lra_config *c = lra_config_new();
    char hash[17];
    lra_config_set(c, "task", lra_task_id(d->task));
    lra_config_set(c, "model", name);
    lra_config_set(c, "data", d->fingerprint);
    lra_config_set_int(c, "seed", (int64_t)s->seed);
    set_hash(c, "model.framework", facts->framework);
    set_hash(c, "model.weights", facts->weights);
    r->config = lra_config_lines(c);
    lra_config_hash(c, hash);
    lra_config_free(c);
    r->run = lra_copy_text(hash);
    r->task = lra_copy_text(d->task->name), r->model = lra_copy_text(name);
    r->preset = lra_copy_text("audit"), r->precision = lra_copy_text("f32");
    r->fingerprint = lra_copy_text(d->fingerprint);
    r->task_parameters = lra_config_lines(d->config);
    r->deviations = lra_copy_text(""), r->sources = lra_copy_text("");
    r->ladder = lra_copy_text(""), r->user_label = lra_copy_text("");
    r->seed = (int64_t)s->seed, r->reach = facts->reach;
    r->max_length = d->max_length, r->grid = lra_dataset_grid(d);
    r->batch = s->donors;
    r->train_value = r->train_loss = NAN;
}

/* ---- answers --------------------------------------------------------------------------------- */

typedef struct {
    const lra_subject *subject;
    lra_result *out;
    float *logits; /* (B,C) logits of a batch */
    lra_sums *sums;
} work;

/* True if the rows are sequences without labels, and the model predicts their next tokens. */
static bool predicts_rows(const lra_subject *s)
{
    return s->data->task->unlabelled && s->model->facts.next;
}

/* The token after the first n tokens of row i of a batch; -1: unknown. */
static int32_t next_token(const lra_subject *s, const lra_request *q, const lra_batch *b, int64_t i,
                          int64_t n)
{
    if (!predicts_rows(s)) return b->label[i * q->T + n - 1];
    return n < b->length[i] ? q->token[i * q->T + n] : -1;
}

/* Language models: evaluates each row at its last token with a known next token, and stores the
 * contribution of that token as the contribution of the row. */
static int predict_next(work *w, const lra_request *q, const lra_batch *b, lra_err *e)
{
    lra_responder *r = w->subject->model;
    int64_t C = r->facts.classes;
    lra_request to = *q;
    int32_t *length = lra_alloc_array((size_t)q->B, sizeof *length);
    for (int64_t i = 0; i < q->B; i++) {
        length[i] = b->length[i];
        while (length[i] > 1 && next_token(w->subject, q, b, i, length[i]) < 0) length[i]--;
    }
    to.length = length;
    int rc = r->is->forward(r, &to, w->logits, e);
    for (int64_t i = 0; i < q->B && rc == 0; i++)
        if (b->row[i] >= 0)
            w->sums[i] = lra_class_row(w->logits + i * C, C,
                                       next_token(w->subject, q, b, i, length[i]));
    lra_free(length);
    return rc;
}

static int evaluate_batch(const lra_request *q, const lra_batch *b, void *context, lra_err *e)
{
    work *w = context;
    lra_result *out = w->out;
    lra_responder *r = w->subject->model;
    int64_t C = r->facts.classes;
    bool next = w->subject->data->task->goal == LRA_GOAL_NEXT || predicts_rows(w->subject);
    int rc = next ? predict_next(w, q, b, e) : r->is->forward(r, q, w->logits, e);
    if (rc == 0 && !next) lra_subject_sums(w->subject, q, b, w->logits, w->sums);
    for (int64_t i = 0; i < q->B && rc == 0; i++) {
        int64_t row = b->row[i];
        if (row < 0) continue;
        for (int64_t c = 0; c < C && rc == 0; c++)
            if (!isfinite(w->logits[i * C + c]))
                rc = lra_fail(e,
                              "output %" PRId64 " of the model is %g for test row %" PRId64
                              "; expected finite numbers: nothing is measured",
                              c, (double)w->logits[i * C + c], row);
        if (out->row && (next || !w->subject->data->task->unlabelled)) out->row[row] = w->sums[i];
        float *to = out->logits ? out->logits : out->number;
        if (to) memcpy(to + row * C, w->logits + i * C, (size_t)C * sizeof *to);
    }
    return rc;
}

/* Rows without labels: the outputs are stored as numbers whose targets are missing; those of a
 * language model, one for each token of the vocabulary, are not stored. */
static void allocate_unlabelled(const lra_subject *s, lra_result *r)
{
    lra_err e;
    if (predicts_rows(s)) {
        r->metric = lra_metric_find("bits-per-token", &e);
        r->chance = log2((double)s->model->facts.classes);
        r->row = lra_alloc_array((size_t)r->n + 1, sizeof *r->row);
        return;
    }
    r->metric = lra_metric_find("none", &e);
    r->chance = NAN, r->n_classes = 0, r->n_numbers = s->model->facts.classes;
    size_t n = (size_t)r->n, numbers = n * (size_t)r->n_numbers;
    r->row = lra_alloc_array(n + 1, sizeof *r->row);
    r->number = lra_alloc_array(numbers + 1, sizeof *r->number);
    r->target = lra_alloc_array(numbers + 1, sizeof *r->target);
    for (size_t i = 0; i < numbers; i++) r->target[i] = NAN;
}

static void allocate(const lra_subject *s, lra_result *r)
{
    const lra_task *t = s->data->task;
    const lra_sequences *test = &s->data->split[LRA_TEST_SPLIT];
    int64_t *row, *place, n = lra_subject_rows(s, 0, &row, &place);
    lra_free(row);
    lra_free(place);
    r->n = n;
    if (t->unlabelled) {
        allocate_unlabelled(s, r);
        return;
    }
    r->metric = lra_task_metric(t), r->chance = lra_dataset_chance(s->data, LRA_TEST_SPLIT);
    r->n_classes = t->n_classes, r->n_numbers = t->n_targets;
    size_t numbers = (size_t)(n * s->model->facts.classes);
    if (r->n_classes) {
        r->logits = lra_alloc_array(numbers + 1, sizeof *r->logits);
        r->label = lra_alloc_array((size_t)n + 1, sizeof *r->label);
        memcpy(r->label, test->label, (size_t)n * sizeof *r->label);
        if (s->data->split[LRA_TRAIN_SPLIT].n) lra_add_baselines(s->data, r);
        return;
    }
    r->row = lra_alloc_array((size_t)n + 1, sizeof *r->row);
    if (t->goal != LRA_GOAL_VALUE) r->n_numbers = 0;
    if (!r->n_numbers) return;
    r->number = lra_alloc_array(numbers + 1, sizeof *r->number);
    r->target = lra_alloc_array(numbers + 1, sizeof *r->target);
    memcpy(r->target, test->target, numbers * sizeof *r->target);
}

static int check_outputs(const lra_subject *s, lra_err *e)
{
    const lra_task *t = s->data->task;
    int64_t given = s->model->facts.classes, expected = t->goal == LRA_GOAL_NEXT
                                                            ? lra_mask_vocab(s->data, s->masking)
                                                        : t->n_classes ? t->n_classes
                                                                       : t->n_targets;
    if (given == expected || (t->goal == LRA_GOAL_NEXT && given > expected)) return 0;
    return lra_fail(e, "the model has %lld outputs, expected %lld for task '%s'", (long long)given,
                    (long long)expected, t->name);
}

lra_result *lra_subject_result(const lra_subject *s, const char *name, lra_err *e)
{
    const lra_preparation p = {.answers = LRA_ANSWERS_FORWARD};
    bool forward = lra_responder_answers(s->model, LRA_ANSWERS_FORWARD);
    if (forward && check_outputs(s, e) != 0) return NULL;
    lra_result *r = lra_alloc(sizeof *r);
    *r = (lra_result){0};
    add_identity(s, name, r);
    allocate(s, r);
    work w = {.subject = s,
              .out = r,
              .logits = lra_alloc_array((size_t)(s->batch * s->model->facts.classes) + 1,
                                        sizeof *w.logits),
              .sums = lra_alloc_array((size_t)s->batch, sizeof *w.sums)};
    int rc = add_origin(r, e);
    if (rc == 0 && forward) rc = lra_subject_prepare(s, LRA_TRAINED_WEIGHTS, p, e);
    if (rc == 0 && forward) rc = lra_subject_each(s, 0, evaluate_batch, &w, e);
    if (forward) lra_subject_release(s);
    lra_free(w.logits);
    lra_free(w.sums);
    if (rc == 0) return r;
    lra_result_free(r);
    return NULL;
}
