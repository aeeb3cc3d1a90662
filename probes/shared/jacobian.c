/* Estimates Jacobian norms from gradients of random projections (jacobian.h). */
#include "probes/shared/jacobian.h"

#include <math.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"

enum { POSITIONS = 0x4A50, DRAWS = 0x4A44 };
/* rounding error of a Fourier transform in float32, relative to its largest value */
static const double rounding = 1e-5;

int64_t lra_jacobian_position(uint64_t seed, int64_t example, int64_t n, int64_t p, int64_t T)
{
    if (n >= T) return p;
    int64_t from = T * p / n, to = T * (p + 1) / n;
    lra_rng rng = lra_rng_new(seed, POSITIONS, ((uint64_t)example << 20) + (uint64_t)p);
    return from + lra_rng_below(&rng, (uint32_t)(to - from));
}

int64_t lra_jacobian_middle(int64_t T, int64_t grid)
{
    return grid ? T / grid / 2 * grid + grid / 2 : T / 2;
}

/* Returns the root of the mean of m draws, corrected for its bias. If a draw has mean mu and
 * variance s^2, the expected root is about sqrt(mu) (1 - s^2 / (8 m mu^2)). */
double lra_jacobian_size(const lra_jacobian_row *row, int64_t j)
{
    double mu = row->square[j], m = (double)row->draws, variance = 0;
    if (!(mu > 0) || row->draws < 2) return sqrt(mu);
    for (int64_t k = 0; k < row->draws; k++) {
        double x = row->by_draw[k * row->T + j] / mu - 1;
        variance += x * x / (m - 1);
    }
    return sqrt(mu) * (1 + variance / (8 * m));
}

/* ---- rows ------------------------------------------------------------------------------------ */

typedef struct {
    const lra_subject *subject;
    const lra_jacobian_spec *spec;
    int64_t reach, D; /* D: channels of the features */
    bool causal;
    lra_steps *steps;
    void (*each)(void *context, const lra_jacobian_row *row);
    void *context;
    lra_jacobian_report *report;
    /* Buffers for one batch. */
    int32_t *position;
    float *draw, *square;
    double *by_draw, *mean;
    /* largest square in all rows of the pass, which share Fourier transforms and so their rounding
     * error */
    double largest;
} work;

static int check_row(work *w, const lra_jacobian_row *r, lra_err *e)
{
    double behind = 0;
    for (int64_t j = 0; j < r->T; j++) {
        int64_t away = j > r->i ? j - r->i : r->i - j;
        if (j > r->i) behind = fmax(behind, r->square[j]);
        if (w->reach >= 0 && away > w->reach && r->square[j] != 0)
            return lra_fail(e,
                            "position %lld depends on position %lld of row %lld, but the model "
                            "declares a reach of %lld",
                            (long long)r->i, (long long)j, (long long)r->example,
                            (long long)w->reach);
    }
    if (!w->causal || w->largest == 0) return 0;
    double leak = sqrt(behind / w->largest);
    w->report->leak = fmax(w->report->leak, leak);
    if (leak < rounding) return 0;
    return lra_fail(
        e,
        "position %lld of row %lld depends on later positions, but the model declares that it is "
        "causal",
        (long long)r->i, (long long)r->example);
}

/* Passes row p of n of sequence s to the callback, after check_row(). */
static int hand_over(work *w, const lra_request *q, int64_t s, int64_t example, int64_t T,
                     int64_t p, int64_t n, lra_err *e)
{
    int64_t m = w->spec->draws;
    lra_jacobian_row row = {.example = example,
                            .i = w->position[s],
                            .T = T,
                            .allowed = w->causal ? w->position[s] + 1 : T,
                            .first = p == 0,
                            .last = p == n - 1,
                            .draws = m,
                            .by_draw = w->by_draw,
                            .square = w->mean};
    for (int64_t j = 0; j < T; j++) w->mean[j] = 0;
    for (int64_t d = 0; d < m; d++)
        for (int64_t j = 0; j < T; j++) {
            double x = (double)w->square[(s * m + d) * q->T + j];
            w->by_draw[d * T + j] = x;
            w->mean[j] += x / (double)m;
        }
    w->report->rows++;
    if (check_row(w, &row, e) != 0) return LRA_FAILED;
    w->each(w->context, &row);
    return 0;
}

/* The largest square of all rows of a pass, over inputs at or before the evaluated position. */
static double largest_of(const work *w, const lra_request *q)
{
    double most = 0;
    for (int64_t s = 0; s < lra_request_sequences(q); s++)
        for (int64_t d = 0; d < w->spec->draws; d++)
            for (int64_t j = 0; j <= w->position[s]; j++)
                most = fmax(most, (double)w->square[(s * w->spec->draws + d) * q->T + j]);
    return most;
}

/* Number of evaluated rows of an example of T tokens. */
static int64_t rows_of(const lra_jacobian_spec *s, int64_t T)
{
    if (T <= 0) return 0;
    return s->middle ? 1 : s->positions < T ? s->positions : T;
}

static void set_sequence(work *w, int64_t s, int64_t example, int64_t p, int64_t T)
{
    const lra_jacobian_spec *j = w->spec;
    int64_t n = j->draws * w->D,
            at = j->middle ? lra_jacobian_middle(T, j->grid)
                           : lra_jacobian_position(j->seed, example, rows_of(j, T), p, T);
    lra_rng rng = lra_rng_new(j->seed, DRAWS, ((uint64_t)example << 24) + (uint64_t)at);
    w->position[s] = (int32_t)at;
    for (int64_t i = 0; i < n; i += 2) {
        double x[2];
        uint32_t a = lra_rng_u32(&rng);
        lra_normal2(a, lra_rng_u32(&rng), &x[0], &x[1]);
        w->draw[s * n + i] = (float)x[0];
        if (i + 1 < n) w->draw[s * n + i + 1] = (float)x[1];
    }
}

/* Index of the example to which sequence s of a batch belongs; the two documents of a pair are
 * separate examples. */
static int64_t example_of(const lra_batch *b, const lra_request *q, int64_t s)
{
    int64_t row = b->row[s % q->B];
    return row < 0 ? -1 : row * q->towers + s / q->B;
}

/* Evaluates row p of every sequence that has such a row. */
static int one_pass(work *w, const lra_request *q, const lra_batch *b, int64_t p, lra_err *e)
{
    int64_t requested = 0;
    for (int64_t s = 0; s < lra_request_sequences(q); s++) {
        int64_t example = example_of(b, q, s), T = b->length[s];
        w->position[s] = -1;
        if (example < 0 || p >= rows_of(w->spec, T)) continue;
        set_sequence(w, s, example, p, T);
        requested++;
    }
    lra_responder *r = w->subject->model;
    int rc = r->is->vjp(r, q, w->spec->layer, w->position, w->spec->draws, w->draw, w->square, e);
    if (rc == 0) w->largest = largest_of(w, q);
    for (int64_t s = 0; s < lra_request_sequences(q) && rc == 0; s++)
        if (w->position[s] >= 0)
            rc = hand_over(w, q, s, example_of(b, q, s), b->length[s], p,
                           rows_of(w->spec, b->length[s]), e);
    lra_steps_add(w->steps, (double)(requested * (1 + w->spec->draws)));
    return rc;
}

static int evaluate_batch(const lra_request *q, const lra_batch *b, void *context, lra_err *e)
{
    work *w = context;
    int64_t most = 0;
    size_t sequences = (size_t)lra_request_sequences(q), n = sequences * (size_t)w->spec->draws;
    int rc = 0;
    for (int64_t s = 0; s < lra_request_sequences(q); s++) {
        if (example_of(b, q, s) < 0) continue;
        w->report->examples++;
        int64_t rows = rows_of(w->spec, b->length[s]);
        most = rows > most ? rows : most;
    }
    w->position = lra_alloc_array(sequences, sizeof *w->position);
    w->draw = lra_alloc_array(n * (size_t)w->D, sizeof *w->draw);
    w->square = lra_alloc_array(n * (size_t)q->T, sizeof *w->square);
    w->by_draw = lra_alloc_array((size_t)(w->spec->draws * q->T), sizeof *w->by_draw);
    w->mean = lra_alloc_array((size_t)q->T, sizeof *w->mean);
    for (int64_t p = 0; p < most && rc == 0; p++) rc = one_pass(w, q, b, p, e);
    lra_free(w->position);
    lra_free(w->draw);
    lra_free(w->square);
    lra_free(w->by_draw);
    lra_free(w->mean);
    return rc;
}

int lra_jacobian_measure(const lra_subject *subject, const lra_jacobian_spec *s, lra_steps *steps,
                         void (*each)(void *context, const lra_jacobian_row *row), void *context,
                         lra_jacobian_report *out, lra_err *e)
{
    const lra_preparation p = {.answers = LRA_ANSWERS_VJP, .exact = true, .draws = s->draws};
    const lra_responder_facts *facts = &subject->model->facts;
    *out = (lra_jacobian_report){0};
    int rc = lra_subject_prepare(subject, s->weights, p, e);
    work w = {.subject = subject,
              .spec = s,
              .reach = facts->reach,
              .causal = facts->causal,
              .steps = steps,
              .each = each,
              .context = context,
              .report = out};
    if (rc == 0) rc = lra_responder_width(subject->model, s->layer, &w.D, e);
    if (rc == 0) rc = lra_subject_each(subject, s->examples, evaluate_batch, &w, e);
    lra_subject_release(subject);
    return rc;
}
