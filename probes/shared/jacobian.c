/* Estimates Jacobian norms from gradients of random projections (jacobian.h). */
#include "probes/shared/jacobian.h"

#include <math.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"
#include "kernels/graph/op.h"
#include "models/training/session.h"

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

/* ---- the graph ------------------------------------------------------------------------------- */

/* Inputs and output of the Jacobian in one graph. position: evaluated position i of each sequence;
 * draw: m random vectors v that multiply the features of that position; square: see one_draw(). */
typedef struct {
    lra_tensor *position, *draw; /* (n) int32; (n,m,D) */
    lra_tensor *square;          /* (n,m,T) results of one_draw() */
    int64_t n, T, D;
} question;

/* Builds sum over channels of (d (v . h_i) / d e_j)^2 for random vector number `draw`: (n,1,T). */
static lra_tensor *one_draw(const lra_network *k, const question *q, lra_tensor *at, int64_t draw)
{
    lra_tensor *v = lra_slice(q->draw, 1, draw, 1), *dx;
    lra_tensor *seed = lra_mul(at, v); /* shapes (n,T,1) and (n,1,D) */
    lra_grad(k->features, lra_cast(seed, lra_tensor_type(k->features)), 1, &k->inputs, &dx);
    dx = lra_cast(dx, lra_real(k->graph));
    lra_tensor *sum = lra_reduce_sum(lra_mul(dx, dx), LRA_SHAPE(q->n, q->T, 1));
    return lra_reshape(sum, LRA_SHAPE(q->n, 1, q->T));
}

static question ask(lra_length_graph *v, int64_t draws)
{
    const lra_network *k = &v->network;
    lra_graph *g = k->graph;
    question q = {.n = k->n, .T = k->T, .D = lra_width(k->features)};
    q.position = lra_input(g, "position", LRA_I32, LRA_SHAPE(q.n));
    q.draw = lra_input(g, "draw", lra_real(g), LRA_SHAPE(q.n, draws, q.D));
    lra_tensor *at = lra_cast(lra_one_hot(q.position, q.T), lra_real(g));
    at = lra_reshape(at, LRA_SHAPE(q.n, q.T, 1));
    lra_tensor **part = lra_alloc_array((size_t)draws, sizeof(lra_tensor *));
    for (int64_t d = 0; d < draws; d++) part[d] = one_draw(k, &q, at, d);
    q.square = draws > 1 ? lra_concat((int)draws, part, 1) : part[0];
    lra_free(part);
    lra_length_graph_output(v, q.square);
    return q;
}

/* ---- rows ------------------------------------------------------------------------------------ */

typedef struct {
    const lra_loaded_model *m;
    const lra_jacobian_spec *spec;
    question question[LRA_MAX_BUCKETS];
    int64_t reach;
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
static int hand_over(work *w, const question *q, int64_t s, int64_t example, int64_t T, int64_t p,
                     int64_t n, lra_err *e)
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
static double largest_of(const work *w, const question *q)
{
    double most = 0;
    for (int64_t s = 0; s < q->n; s++)
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

static void set_sequence(work *w, const question *q, int64_t s, int64_t example, int64_t p,
                         int64_t T)
{
    const lra_jacobian_spec *j = w->spec;
    int64_t n = j->draws * q->D,
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
static int64_t example_of(const lra_batch *b, const lra_length_graph *v, int64_t s)
{
    int64_t row = b->row[s % v->rows], parts = v->network.n / v->rows;
    return row < 0 ? -1 : row * parts + s / v->rows;
}

/* Evaluates row p of every sequence that has such a row. */
static int one_pass(work *w, const question *q, const lra_length_graph *v, const lra_batch *b,
                    int64_t p, lra_err *e)
{
    int64_t asked = 0;
    for (int64_t s = 0; s < q->n; s++) {
        int64_t example = example_of(b, v, s), T = b->length[s];
        w->position[s] = -1;
        if (example < 0 || p >= rows_of(w->spec, T)) continue;
        set_sequence(w, q, s, example, p, T);
        asked++;
    }
    int rc = lra_session_set(w->m->run, &v->network, v->plan, b, e);
    if (rc == 0) rc = lra_set(v->plan, q->position, w->position, e);
    if (rc == 0) rc = lra_set(v->plan, q->draw, w->draw, e);
    if (rc == 0) rc = lra_length_graph_run(w->m, v, e);
    if (rc == 0) rc = lra_get(v->plan, q->square, w->square, e);
    if (rc == 0) w->largest = largest_of(w, q);
    for (int64_t s = 0; s < q->n && rc == 0; s++)
        if (w->position[s] >= 0)
            rc = hand_over(w, q, s, example_of(b, v, s), b->length[s], p,
                           rows_of(w->spec, b->length[s]), e);
    lra_steps_add(w->steps, (double)(asked * (1 + w->spec->draws)));
    return rc;
}

static int ask_batch(const lra_length_graph *v, const lra_batch *b, void *context, lra_err *e)
{
    work *w = context;
    int k = 0, rc = 0;
    while (w->m->view[k] != v) k++;
    const question *q = &w->question[k];
    int64_t most = 0;
    size_t n = (size_t)(q->n * w->spec->draws);
    for (int64_t s = 0; s < q->n; s++) {
        if (example_of(b, v, s) < 0) continue;
        w->report->examples++;
        int64_t rows = rows_of(w->spec, b->length[s]);
        most = rows > most ? rows : most;
    }
    w->position = lra_alloc_array((size_t)q->n, sizeof *w->position);
    w->draw = lra_alloc_array(n * (size_t)q->D, sizeof *w->draw);
    w->square = lra_alloc_array(n * (size_t)q->T, sizeof *w->square);
    w->by_draw = lra_alloc_array((size_t)(w->spec->draws * q->T), sizeof *w->by_draw);
    w->mean = lra_alloc_array((size_t)q->T, sizeof *w->mean);
    for (int64_t p = 0; p < most && rc == 0; p++) rc = one_pass(w, q, v, b, p, e);
    lra_free(w->position);
    lra_free(w->draw);
    lra_free(w->square);
    lra_free(w->by_draw);
    lra_free(w->mean);
    return rc;
}

int lra_jacobian_measure(const lra_train_spec *run, lra_device *dev, const lra_jacobian_spec *s,
                         lra_steps *steps, void (*each)(void *context, const lra_jacobian_row *row),
                         void *context, lra_jacobian_report *out, lra_err *e)
{
    lra_loaded_model m;
    work w = {.m = &m, .spec = s, .steps = steps, .each = each, .context = context, .report = out};
    *out = (lra_jacobian_report){0};
    w.reach = run->model->reach(run->model_config);
    w.causal = lra_model_causal(run->model, run->model_config);
    int rc = lra_load_model(&m, run, dev, s->weights, e);
    m.sample = s->examples;
    m.type = LRA_F32; /* a bf16 network has the same gradients, but with larger rounding errors */
    if (rc == 0) lra_loaded_buckets(&m);
    for (int i = 0; i < m.n_views && rc == 0; i++) w.question[i] = ask(m.view[i], s->draws);
    if (rc == 0) rc = lra_loaded_plan(&m, e);
    if (rc == 0) rc = lra_loaded_run(&m, LRA_TEST_SPLIT, NULL, ask_batch, &w, e);
    lra_loaded_free(&m);
    return rc;
}
