/* Evaluates a model on perturbed inputs (perturbation.h). */
#include "probes/influence/perturbation.h"

#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"
#include "models/training/rows.h"
#include "probes/influence/probabilities.h"
#include "probes/influence/perturbed_batch.h"

enum { WINDOWS = 8, STREAM = 0x5253 };

typedef struct {
    const lra_subject *subject;
    lra_restricted *out;
    int64_t *place;
    lra_mean_output average;
    lra_steps *steps;
    int64_t only; /* the only evaluated width; 0: all widths */
    /* Buffers for one batch. */
    lra_batch_change change;
    /* outputs: whole: for complete inputs; output: for the current perturbation; mean: averaged
     * over draws (part bag) */
    float *whole, *output, *mean;
    lra_sums *sums;
    /* language models: index of the evaluated position among those of its row; else 0 */
    int64_t answer;
    /* (rows) language models: the token after the evaluated position, which is the target; else
     * NULL */
    int32_t *label;
} work;

/* A perturbation that keeps the complete input, for widths of at least its length. */
static const lra_perturbation complete = {.geometry = &lra_windows, .filler = &lra_crop};

static bool speaks(const lra_dataset *d)
{
    return d->task->goal == LRA_GOAL_NEXT;
}

/* Computes the outputs, without positions that are padding in all rows if such requests cost
 * less. */
static int ask(const work *w, const lra_request *q, float *output, lra_err *e)
{
    lra_responder *r = w->subject->model;
    lra_request shorter = *q;
    void *copy = r->facts.any_length ? lra_request_shorten(q, &shorter) : NULL;
    int rc = r->is->forward(r, &shorter, output, e);
    lra_free(copy);
    return rc;
}

/* ---- sums of outputs ------------------------------------------------------------------------ */

static int64_t outputs_of(const work *w)
{
    return w->subject->model->facts.classes;
}

static void sums_of(const work *w, const lra_request *q, const lra_batch *b, const float *output)
{
    int64_t C = outputs_of(w);
    if (!w->label) lra_subject_sums(w->subject, q, b, output, w->sums);
    for (int64_t i = 0; i < q->B && w->label; i++)
        w->sums[i] = lra_class_row(output + i * C, C, w->label[i]);
}

/* Adds the outputs of the rows with row[i] >= 0 to the sums of a point. */
static void add_rows(work *w, const lra_request *q, const lra_batch *b, const int64_t *row,
                     const float *output, int point)
{
    lra_restricted *r = w->out;
    int64_t C = outputs_of(w);
    sums_of(w, q, b, output);
    for (int64_t i = 0; i < q->B; i++) {
        if (row[i] < 0) continue;
        int64_t at = point * r->n + w->place[row[i]] * r->answers + w->answer;
        lra_sums_add(&r->row[at], &w->sums[i]);
        if (r->kl) r->kl[at] += lra_kl(C, w->whole + i * C, output + i * C);
    }
}

/* Stores the sums and entropies of the outputs for complete inputs. */
static void add_whole(work *w, const lra_request *q, const lra_batch *b)
{
    lra_restricted *r = w->out;
    int64_t C = outputs_of(w);
    sums_of(w, q, b, w->whole);
    for (int64_t i = 0; i < q->B; i++) {
        if (b->row[i] < 0) continue;
        int64_t at = w->place[b->row[i]] * r->answers + w->answer;
        r->full[at] = w->sums[i];
        if (r->kl) r->entropy[at] = lra_mean_output_add(&w->average, C, w->whole + i * C);
    }
}

/* Cost of an input that is restricted to a width, in passes of the longest input. */
static double share_of(const lra_subject *s, const lra_perturbation *is, double width)
{
    bool shortens = s->model->facts.any_length && !lra_perturb_keeps_length(is);
    return shortens ? fmin(1, width / (double)s->data->max_length) : 1;
}

/* Evaluates all draws of one width. */
static int one_width(work *w, const lra_request *q, const lra_batch *b, int point, lra_request *to,
                     int64_t *row, lra_err *e)
{
    int64_t C = outputs_of(w), requested, n = q->B * C, width = (int64_t)w->out->w[point];
    double *parts = lra_alloc_array((size_t)q->B, sizeof *parts);
    bool averaged = w->change.is->draws.averaged;
    int rc = 0;
    for (int64_t i = 0; i < n; i++) w->mean[i] = 0;
    for (int64_t draw = 0; rc == 0 && (draw == 0 || !w->out->step); draw++) {
        requested = lra_batch_apply(&w->change, q, b->row, width, draw, to, row);
        if (requested == 0) break;
        rc = ask(w, to, w->output, e);
        lra_steps_add(w->steps,
                      (double)requested * share_of(w->subject, w->change.is, (double)width));
        if (rc == 0 && !averaged) add_rows(w, q, b, row, w->output, point);
        for (int64_t i = 0; i < q->B && averaged; i++) {
            if (row[i] < 0) continue;
            parts[i]++;
            for (int64_t k = 0; k < C; k++) w->mean[i * C + k] += w->output[i * C + k];
        }
    }
    if (rc == 0 && averaged) {
        for (int64_t i = 0; i < n; i++)
            w->mean[i] = parts[i / C] > 0 ? (float)((double)w->mean[i] / parts[i / C]) : 0;
        add_rows(w, q, b, b->row, w->mean, point);
    }
    lra_free(parts);
    return rc;
}

static int all_widths(work *w, const lra_request *q, const lra_batch *b, lra_request *to,
                      int64_t *row, lra_err *e)
{
    int rc = 0;
    add_whole(w, q, b);
    for (int p = 0; p < w->out->n_points && rc == 0; p++) rc = one_width(w, q, b, p, to, row, e);
    return rc;
}

/* ---- language models ------------------------------------------------------------------------- */

/* Draws an evaluated position of a row of n tokens. The row is divided into equal parts, and
 * position number w->answer is drawn from the part with that number. Returns -1 if the row has
 * fewer parts. */
static int64_t step_of(const work *w, int64_t row, int64_t n)
{
    int64_t parts = w->out->answers < n ? w->out->answers : n;
    if (w->answer >= parts) return -1;
    int64_t from = n * w->answer / parts, to = n * (w->answer + 1) / parts;
    lra_rng rng = lra_rng_new(w->subject->seed, STREAM, (uint64_t)(row << 8 | w->answer));
    return from + lra_rng_below(&rng, (uint32_t)(to - from));
}

/* Evaluates, as a complete input, the tokens up to the evaluated position of each row, then all
 * widths on that input. */
static int ask_step(work *w, const lra_request *q, const lra_batch *b, lra_request *to,
                    int64_t *row, lra_err *e)
{
    int64_t requested = 0, *left = lra_alloc_array((size_t)q->B, sizeof *left);
    int32_t *length = lra_alloc_array((size_t)q->B, sizeof *length);
    lra_request start = *q; /* the tokens up to the evaluated position */
    lra_batch own = *b;
    start.length = length, start.row = own.row = left;
    for (int64_t i = 0; i < q->B; i++) {
        int64_t t = b->row[i] < 0 ? -1 : step_of(w, b->row[i], b->length[i]);
        left[i] = t < 0 ? -1 : b->row[i], requested += t >= 0;
        length[i] = (int32_t)(t < 0 ? 1 : t + 1);
        w->label[i] = t < 0 ? -1 : b->label[i * q->T + t];
        if (b->row[i] >= 0) w->out->step[w->place[b->row[i]] * w->out->answers + w->answer] = t;
    }
    int rc = 0;
    if (requested) {
        const lra_batch_change none = {.is = &complete};
        lra_batch_apply(&none, &start, left, q->T, 0, to, row);
        rc = ask(w, to, w->whole, e);
        lra_steps_add(w->steps, (double)requested);
        if (rc == 0) rc = all_widths(w, &start, &own, to, row, e);
    }
    lra_free(length);
    lra_free(left);
    return rc;
}

/* ---- batches --------------------------------------------------------------------------------- */

/* A batch is divided into blocks of `donors` rows, which exchange tokens. Returns the index at
 * which the last block that is not empty begins (row < 0: no row). */
static int64_t last_block(int64_t donors, int64_t B, const int64_t *row)
{
    int64_t last = 0;
    for (int64_t i = 0; i < B; i += donors)
        if (row[i] >= 0) last = i;
    return last;
}

static int evaluate_batch(const lra_request *q, const lra_batch *b, void *context, lra_err *e)
{
    work *w = context;
    size_t size, sequences = (size_t)lra_request_sequences(q), n = sequences * (size_t)q->T;
    lra_request to = *q;
    int rc = 0;
    int64_t *row = lra_alloc_array((size_t)q->B, sizeof *row);
    int32_t *near = NULL, *place = lra_alloc_array(sequences + 1, sizeof *place);
    int32_t *length = lra_alloc_array(sequences, sizeof *length);
    lra_request_tokens(q, 0, &size);
    void *copy = lra_alloc_array(n + 1, size);
    to.length = length, to.row = row;
    if (q->token)
        to.token = copy;
    else
        to.value = copy;
    if (w->change.is->keeps_position_ids) to.place = place;
    if (w->change.is->geometry->marks) {
        near = lra_alloc_array(n + 1, sizeof *near);
        lra_batch_marks(w->subject->data, q, b, near);
    }
    w->change.near = near, w->change.source = q;
    if (!w->out->step) {
        rc = ask(w, q, w->whole, e);
        if (rc == 0) rc = all_widths(w, q, b, &to, row, e);
    }
    for (w->answer = 0; w->out->step && w->answer < w->out->answers && rc == 0; w->answer++)
        rc = ask_step(w, q, b, &to, row, e);
    if (w->change.is->filler->other_row)
        lra_spare_keep(&w->change.spare, q, last_block(w->subject->donors, q->B, b->row));
    lra_free(copy);
    lra_free(length);
    lra_free(row);
    lra_free(place);
    lra_free(near);
    return rc;
}

int lra_restrict_axis(const lra_dataset *d, const lra_perturbation *is, double *w)
{
    int64_t grid = lra_dataset_grid(d), T = d->max_length;
    if (!is->geometry->marks) return lra_gain_axis(1, T, w);
    return lra_gain_axis(0, grid ? grid : T, w);
}

int64_t lra_outputs_per_row(const lra_dataset *d, const lra_perturbation *is)
{
    return speaks(d) && !is->geometry->permutes ? WINDOWS : 1;
}

/* Writes all widths in tokens, or the single width `only`; returns their number. */
static int widths_of(const lra_dataset *d, const lra_perturbation *is, int64_t only, double *w)
{
    if (only == 0) return lra_restrict_axis(d, is, w);
    w[0] = (double)only;
    return 1;
}

double lra_restrict_runs(const lra_subject *s, const lra_perturbation *is, int64_t only)
{
    const lra_dataset *d = s->data;
    double w[LRA_GAIN_POINTS], sum = 1;
    int n = widths_of(d, is, only, w);
    for (int i = 0; i < n; i++) {
        double draws = speaks(d) ? 1 : (double)is->geometry->draws((int64_t)w[i], d->max_length);
        sum += draws * share_of(s, is, w[i]);
    }
    return sum * (double)lra_outputs_per_row(d, is);
}

/* ---- all ------------------------------------------------------------------------------------- */

/* Allocates the arrays of outputs for the rows of the sample. */
static void open_answers(const lra_subject *s, int64_t sample, lra_restricted *r, work *w)
{
    const lra_dataset *d = s->data;
    int64_t *row, rows = lra_subject_rows(s, sample, &row, &w->place);
    size_t outputs = (size_t)(s->batch * outputs_of(w));
    r->n_points = widths_of(d, w->change.is, w->only, r->w);
    r->answers = lra_outputs_per_row(d, w->change.is);
    r->n = rows * r->answers;
    size_t n = (size_t)r->n, all = n * (size_t)r->n_points;
    r->index = lra_alloc_array(n + 1, sizeof *r->index);
    for (int64_t i = 0; i < r->n; i++) r->index[i] = row[i / r->answers];
    lra_free(row);
    w->whole = lra_alloc_array(3 * outputs, sizeof *w->whole);
    w->output = w->whole + outputs, w->mean = w->output + outputs;
    w->sums = lra_alloc_array((size_t)s->batch, sizeof *w->sums);
    r->full = lra_alloc_array(n + 1, sizeof *r->full);
    r->row = lra_alloc_array(all + 1, sizeof *r->row);
    if (speaks(d)) r->step = lra_alloc_array(n + 1, sizeof *r->step);
    if (speaks(d)) w->label = lra_alloc_array((size_t)s->batch, sizeof *w->label);
    if (d->task->goal == LRA_GOAL_VALUE || outputs_of(w) < 2) return;
    r->kl = lra_alloc_array(all + 1, sizeof *r->kl);
    r->entropy = lra_alloc_array(n + 1, sizeof *r->entropy);
}

/* Loads the first row of the second block as replacement row, for the case that the first block has
 * one row. */
static void find_spare(const lra_subject *s, int64_t sample, work *w)
{
    lra_loader *l = lra_subject_loader(s, sample);
    int64_t at = s->donors / s->batch, row = s->donors % s->batch;
    const lra_batch *b = lra_loader_batches(l) > at ? lra_loader_get(l, at) : NULL;
    if (b && b->row[row] >= 0) {
        const lra_request q = lra_subject_request(s, b);
        lra_spare_keep(&w->change.spare, &q, row);
    }
    lra_loader_free(l);
}

int lra_restrict_measure(const lra_subject *s, const lra_perturbation *is, int64_t only,
                         int64_t sample, lra_steps *steps, lra_restricted *out, lra_err *e)
{
    const lra_preparation p = {.answers = LRA_ANSWERS_FORWARD |
                                          (is->keeps_position_ids ? LRA_ANSWERS_PLACE : 0)};
    work w = {.subject = s, .out = out, .steps = steps, .only = only};
    w.change = (lra_batch_change){.is = is,
                                  .seed = s->seed,
                                  .donors = s->donors,
                                  .last = speaks(s->data) && !is->geometry->permutes};
    *out = (lra_restricted){0};
    int rc = lra_subject_prepare(s, LRA_TRAINED_WEIGHTS, p, e);
    if (rc == 0) {
        if (is->filler->other_row) find_spare(s, sample, &w);
        open_answers(s, sample, out, &w);
        rc = lra_subject_each(s, sample, evaluate_batch, &w, e);
        out->mean_entropy = lra_mean_output_entropy(&w.average);
    }
    lra_subject_release(s);
    lra_free(w.place);
    lra_free(w.whole);
    lra_free(w.sums);
    lra_free(w.label);
    lra_mean_output_free(&w.average);
    lra_spare_free(&w.change.spare);
    return rc;
}

void lra_restricted_free(lra_restricted *r)
{
    lra_free(r->index);
    lra_free(r->step);
    lra_free(r->row);
    lra_free(r->full);
    lra_free(r->kl);
    lra_free(r->entropy);
    *r = (lra_restricted){0};
}
