/* Restricted inputs, asked. */
#include "probes/influence/restrict.h"

#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/graph/op.h"
#include "models/training/rows.h"
#include "models/training/session.h"
#include "probes/influence/occlude.h"
#include "probes/influence/sample_rows.h"

typedef struct {
    const lra_opened *m;
    lra_restricted *out;
    lra_restriction kind;
    int64_t *place;
    lra_steps *steps;
    /* Of a batch. */
    float *output, *mean; /* answers, and of a bag their sums */
    lra_sums *sums;
    int32_t *near; /* (n,T) to the nearest mark, where the kind asks for it */
} work;

static bool drops(lra_restriction kind)
{
    return kind == LRA_DROP_SWAP || kind == LRA_DROP_TOKEN;
}

/* The row that SWAP takes from: the next one of the batch that is there. */
static int64_t partner(const lra_view *v, const lra_batch *b, int64_t s)
{
    int64_t part = s / v->rows * v->rows, row = s % v->rows;
    for (int64_t k = 1; k < v->rows; k++) {
        int64_t other = (row + k) % v->rows;
        if (b->row[other] >= 0) return part + other;
    }
    return -1;
}

/* A changed copy of the batch; asked: rows that there is such a draw of. */
static int64_t change_batch(const work *w, const lra_view *v, const lra_batch *b, double width,
                            int64_t draw, lra_batch *to, int64_t *row)
{
    int32_t *place = (int32_t *)(uintptr_t)to->place;
    const lra_network *k = &v->network;
    int64_t asked = 0;
    for (int64_t i = 0; i < v->rows; i++) row[i] = b->row[i];
    for (int64_t s = 0; s < k->n; s++) {
        size_t size;
        const char *from = lra_batch_steps(k, b, s, &size);
        char *copy = (char *)(uintptr_t)lra_batch_steps(k, to, s, &size);
        memset(copy, 0, (size_t)k->T * size);
        to->length[s] = b->length[s];
        if (to->place) place[s] = 0;
        if (b->row[s % v->rows] < 0) continue;
        bool swaps = w->kind == LRA_SWAP_WINDOW || w->kind == LRA_DROP_SWAP;
        int64_t other = swaps ? partner(v, b, s) : -1;
        const lra_change c = {.kind = w->kind,
                              .w = (int64_t)width,
                              .draw = draw,
                              .seed = w->m->run->seed,
                              .row = (uint64_t)b->row[s % v->rows],
                              .near = w->near ? w->near + s * k->T : NULL};
        to->length[s] = (int32_t)lra_change_apply(
            &c, b->length[s], size, from, other < 0 ? NULL : lra_batch_steps(k, b, other, &size),
            other < 0 ? 0 : b->length[other], copy);
        if (place) place[s] = (int32_t)lra_change_start(&c, b->length[s]);
        if (to->length[s] == 0) row[s % v->rows] = -1;
    }
    for (int64_t i = 0; i < v->rows; i++) asked += row[i] >= 0;
    return asked;
}

static int ask(work *w, const lra_view *v, const lra_batch *b, lra_err *e)
{
    int rc = lra_session_set(w->m->run, &v->network, v->plan, b, e);
    if (rc == 0) rc = lra_view_run(w->m, v, e);
    return rc == 0 ? lra_get(v->plan, v->network.output, w->output, e) : rc;
}

/* What the rows that were asked add to those of a point. */
static void add_rows(work *w, const lra_view *v, const lra_batch *b, const int64_t *row,
                     const float *output, lra_sums *to)
{
    lra_session_rows(w->m->run, b, v->rows, v->T, output, w->sums);
    for (int64_t i = 0; i < v->rows; i++)
        if (row[i] >= 0) lra_sums_add(&to[w->place[row[i]]], &w->sums[i]);
}

/* All draws of one width. */
static int one_width(work *w, const lra_view *v, const lra_batch *b, int point, lra_batch *to,
                     int64_t *row, lra_err *e)
{
    lra_sums *sums = w->out->row + point * w->out->n;
    int64_t C = lra_elements(v->network.output) / v->rows, asked, n = v->rows * C;
    double *parts = lra_alloc_array((size_t)v->rows, sizeof *parts);
    int rc = 0;
    for (int64_t i = 0; i < n; i++) w->mean[i] = 0;
    for (int64_t draw = 0; rc == 0; draw++) {
        asked = change_batch(w, v, b, w->out->w[point], draw, to, row);
        if (asked == 0) break;
        rc = ask(w, v, to, e);
        lra_steps_add(w->steps, (double)asked);
        if (rc == 0 && w->kind != LRA_BAG) add_rows(w, v, b, row, w->output, sums);
        for (int64_t i = 0; i < v->rows && w->kind == LRA_BAG; i++) {
            if (row[i] < 0) continue;
            parts[i]++;
            for (int64_t k = 0; k < C; k++) w->mean[i * C + k] += w->output[i * C + k];
        }
    }
    if (rc == 0 && w->kind == LRA_BAG) {
        for (int64_t i = 0; i < n; i++)
            w->mean[i] = parts[i / C] > 0 ? (float)((double)w->mean[i] / parts[i / C]) : 0;
        add_rows(w, v, b, b->row, w->mean, sums);
    }
    lra_free(parts);
    return rc;
}

/* How far from what is marked the steps of the rows are. */
static void find_marks(const work *w, const lra_view *v, const lra_batch *b)
{
    const lra_dataset *d = w->m->run->data;
    int64_t T = v->network.T;
    bool *marked = lra_alloc_array((size_t)T, sizeof *marked);
    for (int64_t i = 0; i < v->rows; i++) {
        if (b->row[i] < 0) continue;
        lra_row row = lra_sequences_row(&d->split[LRA_TEST_SPLIT], b->row[i]);
        memset(marked, 0, (size_t)T * sizeof *marked);
        d->task->marks(&row, marked);
        lra_nearest_mark(b->length[i], lra_dataset_grid(d), marked, w->near + i * T);
    }
    lra_free(marked);
}

static int ask_batch(const lra_view *v, const lra_batch *b, void *context, lra_err *e)
{
    work *w = context;
    const lra_network *k = &v->network;
    size_t size, n = (size_t)(k->n * k->T);
    lra_batch to = *b;
    int64_t *row = lra_alloc_array((size_t)v->rows, sizeof *row);
    int32_t *place = lra_alloc_array((size_t)k->n + 1, sizeof *place);
    lra_batch_steps(k, b, 0, &size);
    void *copy = lra_alloc_array(n + 1, size);
    to.length = lra_alloc_array((size_t)k->n, sizeof *to.length);
    if (k->tokens)
        to.token = copy;
    else
        to.value = copy;
    if (w->m->placed) to.place = place;
    if (drops(w->kind)) {
        w->near = lra_alloc_array(n + 1, sizeof *w->near);
        find_marks(w, v, b);
    }
    int rc = lra_get(v->plan, k->output, w->output, e);
    if (rc == 0) add_rows(w, v, b, b->row, w->output, w->out->full);
    for (int p = 0; p < w->out->n_points && rc == 0; p++) rc = one_width(w, v, b, p, &to, row, e);
    lra_free(copy);
    lra_free(to.length);
    lra_free(row);
    lra_free(place);
    lra_free(w->near);
    w->near = NULL;
    return rc;
}

int lra_restrict_axis(const lra_dataset *d, lra_restriction kind, double *w)
{
    int64_t grid = lra_dataset_grid(d), T = d->max_length;
    if (!drops(kind)) return lra_gain_axis(1, T, w);
    return lra_gain_axis(0, grid ? grid : T, w);
}

static int measure(lra_opened *m, work *w, lra_err *e)
{
    lra_restricted *r = w->out;
    r->n_points = lra_restrict_axis(m->run->data, w->kind, r->w);
    r->n = lra_sample_rows(m, &r->index, &w->place);
    r->full = lra_alloc_array((size_t)r->n + 1, sizeof *r->full);
    r->row = lra_alloc_array((size_t)(r->n * r->n_points) + 1, sizeof *r->row);
    int64_t most = lra_sample_ask(m);
    w->output = lra_alloc_array((size_t)most, sizeof *w->output);
    w->mean = lra_alloc_array((size_t)most, sizeof *w->mean);
    w->sums = lra_alloc_array((size_t)m->run->batch, sizeof *w->sums);
    int rc = lra_open_plan(m, e);
    return rc == 0 ? lra_open_run(m, LRA_TEST_SPLIT, NULL, ask_batch, w, e) : rc;
}

int lra_restrict_measure(const lra_train_spec *run, lra_device *dev, lra_restriction kind,
                         int64_t sample, lra_steps *steps, lra_restricted *out, lra_err *e)
{
    lra_opened m;
    work w = {.m = &m, .out = out, .kind = kind, .steps = steps};
    *out = (lra_restricted){0};
    int rc = lra_open(&m, run, dev, LRA_BEST_WEIGHTS, e);
    m.sample = sample;
    m.placed = kind == LRA_MASK_WINDOW;
    if (rc == 0) lra_open_buckets(&m);
    if (rc == 0) rc = measure(&m, &w, e);
    lra_free(w.place);
    lra_free(w.output);
    lra_free(w.mean);
    lra_free(w.sums);
    lra_open_close(&m);
    return rc;
}

void lra_restricted_free(lra_restricted *r)
{
    lra_free(r->index);
    lra_free(r->row);
    lra_free(r->full);
    *r = (lra_restricted){0};
}
