/* Part token-loss: loss of a language model by the position of the predicted token in its row.
 *   token-loss   arrays x (bins): number of tokens before the first token of the bin; width (bins)
 *                in tokens; loss (bins, 3): mean in bits with lower and upper end; rows (bins):
 *                number of rows that reach the bin; unigram (1): loss by token frequencies.
 *                loss.mean, loss.late
 * A bin has one position up to 16 tokens, then 1/8 of its own position. Each row contributes its
 * mean over a bin; intervals are Student's t over rows. If the model does not answer 'logprob', at
 * most 32 tokens of a row are predicted, one by one (flag approx).
 * Tested (tests/probes/next_token_test.c): the losses are those of the definition. */
#include <math.h>
#include <string.h>

#include "analysis/interval.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"
#include "probes/influence/documents.h"
#include "probes/influence/part.h"

enum { EXAMPLES = 256, TARGETS = 32, STREAM = 0x544C, FINE = 16, MOST_BINS = 256, LEAST = 8 };

typedef struct {
    lra_documents docs;
    int n_bins;
    /* first position of each bin, in tokens before the target; then the end of the last bin */
    int64_t bin[MOST_BINS + 1];
    double **loss; /* (rows) losses in bits by target 1 .. n, NAN: not predicted */
    bool sampled;
} losses;

static void make_bins(losses *w)
{
    int64_t at = 0;
    while (at <= w->docs.longest && w->n_bins < MOST_BINS) {
        w->bin[w->n_bins++] = at;
        at += at < FINE ? 1 : at / 8;
    }
    w->bin[w->n_bins] = w->docs.longest + 1;
}

static bool has_logprob(const lra_influence *p)
{
    return lra_responder_answers(p->subject.model, LRA_ANSWERS_LOGPROB);
}

/* Index of the last known target of a row. */
static int64_t last_target(const lra_document *d)
{
    return d->token[d->n] >= 0 ? d->n : d->n - 1;
}

/* Predicts all tokens of rows [from, from + n) in one request. */
static int predict_all(lra_influence *p, losses *w, int64_t from, int64_t n, lra_err *e)
{
    lra_responder *r = p->subject.model;
    int64_t T = 1;
    for (int64_t i = 0; i < n; i++) T = w->docs.row[from + i].n > T ? w->docs.row[from + i].n : T;
    size_t cells = (size_t)(n * T);
    int32_t *token = lra_alloc_array(cells, sizeof *token);
    int32_t *target = lra_alloc_array(cells, sizeof *target);
    int32_t *length = lra_alloc_array((size_t)n, sizeof *length);
    float *logprob = lra_alloc_array(cells, sizeof *logprob);
    memset(target, 255, cells * sizeof *target); /* sets all targets to -1: not predicted */
    for (int64_t i = 0; i < n; i++) {
        const lra_document *d = &w->docs.row[from + i];
        length[i] = (int32_t)d->n;
        memcpy(token + i * T, d->token, (size_t)d->n * sizeof *token);
        memcpy(target + i * T, d->token + 1, (size_t)d->n * sizeof *token);
    }
    const lra_request q = {.B = n, .T = T, .towers = 1, .token = token, .length = length};
    int rc = r->is->logprob(r, &q, target, logprob, e);
    for (int64_t i = 0; i < n && rc == 0; i++) {
        const lra_document *d = &w->docs.row[from + i];
        for (int64_t u = d->first + 1; u <= last_target(d) && rc == 0; u++) {
            double x = (double)logprob[i * T + u - 1];
            w->loss[from + i][u] = -x / log(2);
            if (!(x <= 1e-3) || isinf(x))
                rc = lra_fail(e,
                              "the log-probability of token %lld of test row %lld is %g; expected "
                              "finite numbers up to 0",
                              (long long)u, (long long)d->index, x);
        }
    }
    lra_free(token);
    lra_free(target);
    lra_free(length);
    lra_free(logprob);
    return rc;
}

/* Predicts at most TARGETS tokens of a row, each from all tokens before it. */
static int predict_some(lra_influence *p, losses *w, int64_t i, float *logits, lra_err *e)
{
    const lra_document *d = &w->docs.row[i];
    int64_t C = p->subject.model->facts.classes, left = last_target(d) - d->first;
    int64_t n = left < TARGETS ? left : TARGETS, chunk = lra_documents_chunk(&p->subject);
    lra_rng rng = lra_rng_new(p->subject.seed, STREAM, (uint64_t)d->index);
    double start = lra_rng_u01(&rng);
    lra_target of[TARGETS];
    int rc = 0;
    for (int64_t k = 0; k < n; k++) {
        int64_t at = (int64_t)(((double)k + start) * (double)left / (double)n);
        of[k] = (lra_target){d, d->first + 1 + (at < left ? at : left - 1)};
    }
    w->sampled = w->sampled || n < left;
    for (int64_t from = 0; from < n && rc == 0; from += chunk) {
        int64_t m = n - from < chunk ? n - from : chunk;
        rc = lra_documents_predict(&p->subject, m, of + from, 0, logits, e);
        for (int64_t k = 0; k < m && rc == 0; k++)
            w->loss[i][of[from + k].at] =
                lra_token_loss(C, logits + k * C, d->token[of[from + k].at]) / log(2);
    }
    return rc;
}

static int predict(lra_influence *p, losses *w, lra_err *e)
{
    int64_t n = w->docs.n, batch = p->subject.batch, step = has_logprob(p) ? batch : 1;
    int64_t most = lra_documents_chunk(&p->subject) * p->subject.model->facts.classes;
    float *logits = has_logprob(p) ? NULL : lra_alloc_array((size_t)most, sizeof *logits);
    int rc = lra_documents_prepare(&p->subject,
                                   has_logprob(p) ? LRA_ANSWERS_LOGPROB : LRA_ANSWERS_FORWARD,
                                   p->subject.buckets.n, p->subject.buckets.length, e);
    for (int64_t i = 0; i < n; i++) {
        int64_t size = w->docs.row[i].n + 1;
        w->loss[i] = lra_alloc_array((size_t)size, sizeof **w->loss);
        for (int64_t u = 0; u < size; u++) w->loss[i][u] = NAN;
    }
    for (int64_t from = 0; from < n && rc == 0; from += step) {
        int64_t rows = n - from < step ? n - from : step;
        rc = logits ? predict_some(p, w, from, logits, e) : predict_all(p, w, from, rows, e);
        lra_steps_add(&p->steps, (double)rows * (logits ? TARGETS / 2.0 : 1));
    }
    lra_subject_release(&p->subject);
    lra_free(logits);
    return rc;
}

/* ---- results --------------------------------------------------------------------------------- */

/* Mean loss of the targets of a row with [from, to) counted tokens before; NAN: there are none. */
static double mean_of(const losses *w, int64_t i, int64_t from, int64_t to)
{
    const lra_document *d = &w->docs.row[i];
    double sum = 0, n = 0;
    for (int64_t u = d->first + from; u < d->first + to && u <= last_target(d); u++) {
        if (u < 1 || isnan(w->loss[i][u])) continue;
        sum += w->loss[i][u], n++;
    }
    return n > 0 ? sum / n : NAN;
}

static lra_estimate mean_of_rows(const losses *w, const double *value, int64_t *n)
{
    double *kept = lra_alloc_array((size_t)w->docs.n + 1, sizeof *kept);
    *n = 0;
    for (int64_t i = 0; i < w->docs.n; i++)
        if (!isnan(value[i])) kept[(*n)++] = value[i];
    lra_estimate e = lra_mean_interval(*n, kept);
    lra_free(kept);
    return e;
}

static void add_bins(lra_probe_unit *u, const losses *w, double unigram)
{
    double x[MOST_BINS], width[MOST_BINS], loss[3 * MOST_BINS], rows[MOST_BINS];
    double *value = lra_alloc_array((size_t)w->docs.n + 1, sizeof *value);
    int n = 0;
    for (int b = 0; b < w->n_bins; b++) {
        int64_t reached;
        for (int64_t i = 0; i < w->docs.n; i++) value[i] = mean_of(w, i, w->bin[b], w->bin[b + 1]);
        lra_estimate e = mean_of_rows(w, value, &reached);
        if (reached == 0) continue;
        x[n] = (double)w->bin[b], width[n] = (double)(w->bin[b + 1] - w->bin[b]);
        loss[3 * n] = e.value, loss[3 * n + 1] = e.lo, loss[3 * n + 2] = e.hi;
        rows[n++] = (double)reached;
    }
    lra_probe_unit_array(u, "x", 1, (int64_t[]){n}, x);
    lra_probe_unit_array(u, "width", 1, (int64_t[]){n}, width);
    lra_probe_unit_array(u, "loss", 2, (int64_t[]){n, 3}, loss);
    lra_probe_unit_array(u, "rows", 1, (int64_t[]){n}, rows);
    lra_probe_unit_array(u, "unigram", 1, (int64_t[]){1}, &unigram);
    lra_free(value);
}

static double unigram_of(const lra_influence *p, const losses *w)
{
    double *by_token = lra_documents_unigram(&p->subject), sum = 0, rows = 0;
    for (int64_t i = 0; i < w->docs.n; i++) {
        const lra_document *d = &w->docs.row[i];
        int64_t n = last_target(d) - d->first;
        for (int64_t u = d->first + 1; u <= last_target(d); u++)
            sum += by_token[d->token[u]] / (double)n;
        rows += n > 0;
    }
    lra_free(by_token);
    return sum / rows;
}

static void add_measurements(lra_probe_unit *u, const losses *w, double unigram)
{
    double *value = lra_alloc_array((size_t)w->docs.n + 1, sizeof *value);
    int64_t rows;
    uint32_t flags = w->sampled ? LRA_APPROX : 0;
    for (int64_t i = 0; i < w->docs.n; i++) value[i] = mean_of(w, i, 0, w->docs.row[i].n + 1);
    lra_estimate e = mean_of_rows(w, value, &rows);
    lra_measurement all = lra_measurement_of("loss.mean", e.value);
    all.lo = e.lo, all.hi = e.hi, all.examples = rows, all.flags |= flags;
    all.null[LRA_NULL_UNIFORM] = unigram;
    for (int64_t i = 0; i < w->docs.n; i++) {
        int64_t n = last_target(&w->docs.row[i]) - w->docs.row[i].first;
        value[i] = n < LEAST ? (double)NAN
                             : mean_of(w, i, n - n / 4 + 1, n + 1) - mean_of(w, i, 0, n / 4 + 1);
    }
    e = mean_of_rows(w, value, &rows);
    lra_measurement late = lra_measurement_of("loss.late", e.value);
    late.lo = e.lo, late.hi = e.hi, late.examples = rows, late.flags |= flags;
    late.undefined = w->docs.n - rows, late.null[LRA_NULL_UNIFORM] = 0;
    lra_probe_unit_measurements(u, 2, (const lra_measurement[]){all, late});
    lra_free(value);
}

/* ---- the part -------------------------------------------------------------------------------- */

static const char *undefined(const lra_influence *p)
{
    return lra_documents_undefined(&p->subject);
}

static double passes(const lra_influence *p, int64_t examples)
{
    return (double)lra_influence_rows(p, examples) * (has_logprob(p) ? 1 : TARGETS / 2.0);
}

static int measure(lra_influence *p, int64_t examples, lra_err *e)
{
    losses w = {.n_bins = 0};
    int rc = lra_documents_load(&p->subject, examples, &w.docs, e);
    w.loss = lra_alloc_array((size_t)w.docs.n + 1, sizeof *w.loss);
    if (rc == 0) make_bins(&w);
    if (rc == 0 && w.docs.longest < 1) rc = lra_fail(e, "the rows have no second token");
    if (rc == 0) rc = predict(p, &w, e);
    if (rc == 0) {
        lra_probe_unit *u = lra_probe_unit_new(p->out, "token-loss");
        double unigram = unigram_of(p, &w);
        add_bins(u, &w, unigram);
        add_measurements(u, &w, unigram);
    }
    for (int64_t i = 0; i < w.docs.n; i++) lra_free(w.loss[i]);
    lra_free(w.loss);
    lra_documents_free(&w.docs);
    return rc;
}

const lra_influence_part lra_part_token_loss = {
    .name = "token-loss",
    .summary = "language models: loss by the position of the predicted token in its row",
    .examples = EXAMPLES,
    .least = 1,
    .nulls = LRA_NULL_BIT(LRA_NULL_UNIFORM),
    .needs = LRA_ANSWERS_FORWARD,
    .undefined = undefined,
    .passes = passes,
    .measure = measure};
