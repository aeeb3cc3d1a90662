/* Evaluates a model on inputs with replaced blocks (occlude.h). */
#include "probes/influence/occlude.h"

#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"

struct lra_occluded {
    const lra_subject *subject;
    uint32_t answers; /* LRA_ANSWERS_.. bits of the requests */
    lra_steps *steps;
    int (*each)(const lra_occluder *o, void *context, lra_err *e);
    void *context;
    char *copy;    /* copy of the batch's tokens, in which token runs are replaced */
    float *output; /* (rows,C) outputs of the last lra_occlude_scores() */
    /* (rows) class whose margin is the score: the label or, for rows without labels, the predicted
     * class of the complete input */
    int32_t *label;
};

const char *lra_occlude_no_partner(const lra_subject *s)
{
    return s->donors < 2 ? "the run has batches of one row, and blocks come from another row"
                         : NULL;
}

const char *lra_occlude_undefined(const lra_subject *s)
{
    lra_goal goal = s->data->task->goal;
    if (goal == LRA_GOAL_PAIR) return "only the head combines the documents of a pair";
    if (lra_occlude_no_partner(s)) return lra_occlude_no_partner(s);
    bool one = lra_responder_answers(s->model, LRA_ANSWERS_FORWARD);
    return one && (goal == LRA_GOAL_CLASS || goal == LRA_GOAL_VALUE)
               ? NULL
               : "the model has an output at every position, not one for the input";
}

static int64_t row_of(const lra_occluder *o, int64_t s)
{
    return s % o->request->B;
}

/* Index of the sequence that provides replacement tokens (lra_subject_donor()); -1 if there is
 * none. */
static int64_t source_of(const lra_occluder *o, int64_t s, int64_t draw)
{
    int64_t i = row_of(o, s), rows = o->request->B;
    int64_t other = lra_subject_donor(o->with->subject->donors, rows, o->batch->row, i, draw);
    return other < 0 ? -1 : s - i + other;
}

bool lra_occlude_counts(const lra_occluder *o, int64_t s)
{
    return o->batch->row[row_of(o, s)] >= 0 && o->batch->length[s] > 0 && source_of(o, s, 0) >= 0;
}

/* Computes token run number k of a replacement: *n tokens that start at position *from. Runs are
 * numbered with all repetitions of the first one before the second one. A run is truncated at the
 * end of the shorter of the two sequences; *n <= 0 if nothing remains. Returns false after the last
 * run. */
static bool piece_of(const lra_occluder *o, int64_t s, int64_t other, const lra_token_runs *of,
                     int64_t k, int64_t *from, int64_t *n)
{
    int64_t times = of->times > 0 ? of->times : 1, second = k == times;
    const int32_t *length = o->batch->length;
    int64_t most = length[s] < length[other] ? length[s] : length[other];
    if (k > times) return false;
    *from = of->from[second] + (second ? 0 : k * of->stride);
    *n = of->to[second] - of->from[second];
    if (*n > most - *from) *n = most - *from;
    return true;
}

bool lra_occlude_changes(const lra_occluder *o, int64_t s, const lra_token_runs *of, int64_t draw)
{
    int64_t other = source_of(o, s, draw), from, n;
    size_t size;
    const char *own = lra_request_tokens(o->request, s, &size);
    const char *theirs = lra_request_tokens(o->request, other, &size);
    for (int64_t k = 0; piece_of(o, s, other, of, k, &from, &n); k++) {
        size_t at = (size_t)from * size;
        if (n > 0 && memcmp(own + at, theirs + at, (size_t)n * size) != 0) return true;
    }
    return false;
}

static double score_of(const lra_occluder *o, int64_t i, const float *output, int64_t outputs)
{
    const int32_t label = o->with->label[i];
    if (o->with->subject->data->task->goal == LRA_GOAL_VALUE || outputs < 2)
        return (double)output[0];
    if (o->rival) return (double)output[label] - (double)output[o->rival[i]];
    double best = -INFINITY;
    for (int64_t c = 0; c < outputs; c++)
        if (c != label) best = fmax(best, (double)output[c]);
    return (double)output[label] - best;
}

void lra_occlude_rivals(const lra_occluder *o, int32_t *rival)
{
    int64_t outputs = o->with->subject->model->facts.classes;
    for (int64_t i = 0; i < o->request->B; i++) {
        const float *output = o->with->output + i * outputs;
        int32_t label = lra_occlude_counts(o, i) ? o->with->label[i] : 0;
        rival[i] = label == 0 && outputs > 1;
        for (int32_t c = 0; c < outputs; c++)
            if (c != label && output[c] > output[rival[i]]) rival[i] = c;
    }
}

/* Reorders the blocks of sequence s according to the layout. size: bytes of a token. */
static void move_blocks(const lra_occluder *o, int64_t s, size_t size, char *row)
{
    const lra_layout *l = o->layout;
    int64_t full = o->batch->length[s] / l->width;
    size_t block = (size_t)l->width * size, n = (size_t)full * block;
    char *from = lra_alloc(n + 1);
    memcpy(from, row, n);
    for (int64_t p = 0; p < full; p++)
        memcpy(row + (size_t)p * block, from + (size_t)l->content[s * l->most + p] * block, block);
    lra_free(from);
}

/* The inputs with token runs of every sequence replaced by those of the draw-th sequence after it;
 * their tokens are in w->copy. */
static lra_request occluded(const lra_occluder *o, const lra_token_runs *of, int64_t draw)
{
    lra_request to = *o->request;
    lra_occluded *w = o->with;
    size_t size;
    int64_t requested = 0, from, n, sequences = lra_request_sequences(&to);
    const char *all = lra_request_tokens(o->request, 0, &size);
    memcpy(w->copy, all, (size_t)(sequences * to.T) * size);
    for (int64_t s = 0; s < sequences; s++) {
        if (!lra_occlude_counts(o, s)) continue;
        int64_t other = source_of(o, s, draw);
        for (int64_t r = 0; piece_of(o, s, other, &of[s], r, &from, &n); r++) {
            size_t at = (size_t)from * size, row = (size_t)to.T * size;
            if (n > 0)
                memcpy(w->copy + (size_t)s * row + at, all + (size_t)other * row + at,
                       (size_t)n * size);
        }
        if (o->layout) move_blocks(o, s, size, w->copy + (size_t)(s * to.T) * size);
        requested += s < to.B;
    }
    if (to.token)
        to.token = (const int32_t *)(const void *)w->copy;
    else
        to.value = (const float *)(const void *)w->copy;
    lra_steps_add(w->steps, (double)requested);
    return to;
}

int lra_occlude_features(const lra_occluder *o, const lra_token_runs *of, int64_t draw,
                         float *features, lra_err *e)
{
    lra_responder *r = o->with->subject->model;
    const lra_request q = occluded(o, of, draw);
    return r->is->features(r, &q, NULL, features, e);
}

int lra_occlude_scores(const lra_occluder *o, const lra_token_runs *of, int64_t draw, double *score,
                       lra_err *e)
{
    lra_occluded *w = o->with;
    lra_responder *r = w->subject->model;
    int64_t outputs = r->facts.classes;
    const lra_request q = occluded(o, of, draw);
    int rc = r->is->forward(r, &q, w->output, e);
    for (int64_t i = 0; i < q.B && rc == 0; i++)
        if (lra_occlude_counts(o, i)) score[i] = score_of(o, i, w->output + i * outputs, outputs);
    return rc;
}

/* Writes the class of the score of each row: the label, or the predicted class. */
static int find_labels(lra_occluded *w, const lra_request *q, const lra_batch *b, lra_err *e)
{
    lra_responder *r = w->subject->model;
    int64_t C = r->facts.classes;
    bool predicted = w->subject->data->task->unlabelled && w->answers & LRA_ANSWERS_FORWARD;
    int rc = predicted ? r->is->forward(r, q, w->output, e) : 0;
    for (int64_t i = 0; i < q->B && rc == 0; i++) {
        const float *output = w->output + i * C;
        w->label[i] = b->row[i] >= 0 && b->label && !predicted ? b->label[i] : 0;
        for (int32_t c = 1; c < C && predicted; c++)
            if (output[c] > output[w->label[i]]) w->label[i] = c;
    }
    return rc;
}

static int take_batch(const lra_request *q, const lra_batch *b, void *context, lra_err *e)
{
    lra_occluded *w = context;
    const lra_occluder o = {
        .request = q, .D = w->subject->model->facts.width, .batch = b, .with = w};
    size_t size, outputs = (size_t)(q->B * w->subject->model->facts.classes);
    lra_request_tokens(q, 0, &size);
    w->copy = lra_alloc_array((size_t)(lra_request_sequences(q) * q->T), size);
    w->output = lra_alloc_array(outputs + 1, sizeof *w->output);
    w->label = lra_alloc_array((size_t)q->B, sizeof *w->label);
    int rc = find_labels(w, q, b, e);
    if (rc == 0) rc = w->each(&o, w->context, e);
    lra_free(w->copy);
    lra_free(w->output);
    lra_free(w->label);
    return rc;
}

int lra_occlude(const lra_subject *s, lra_subject_weights weights, uint32_t answers, int64_t sample,
                lra_steps *steps, int (*each)(const lra_occluder *o, void *context, lra_err *e),
                void *context, lra_err *e)
{
    lra_occluded w = {
        .subject = s, .answers = answers, .steps = steps, .each = each, .context = context};
    const lra_preparation p = {.answers = answers, .exact = true};
    int rc = lra_subject_prepare(s, weights, p, e);
    if (rc == 0) rc = lra_subject_each(s, sample, take_batch, &w, e);
    lra_subject_release(s);
    return rc;
}
