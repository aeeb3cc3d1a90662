/* Computes the features of each position from a crop of the input around it (context.h). */
#include "probes/influence/context.h"

#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/graph/op.h"
#include "models/training/session.h"

enum { MOST_ROWS = 1024 };

/* ---- conditions ----------------------------------------------------------------------------- */

const char *lra_context_undefined(const lra_train_spec *run)
{
    const lra_model *m = run->model;
    const lra_config *c = run->model_config;
    if (run->pool == LRA_POOL_CLS && lra_session_network(run).head <= LRA_HEAD_VALUE)
        return "the CLS vector sees all tokens at once; '--parts cut' limits distances per layer";
    if (m->unmasked && m->unmasked(c)) return "the model does not mask padding";
    if (lra_model_period(m, c, run->data->longest) < 0)
        return "some blocks see all tokens; '--parts cut' limits distances per layer";
    return NULL;
}

int lra_context_axis(int64_t T, double *R)
{
    return lra_gain_axis(0, T > 1 ? T - 1 : 1, R);
}

int64_t lra_context_width(const lra_train_spec *run, int64_t R)
{
    int64_t period = lra_model_period(run->model, run->model_config, run->data->longest);
    int64_t left = R + (period > 0 ? period - 1 : 0), T = run->data->max_length;
    int64_t w = left + 1 + (lra_model_causal(run->model, run->model_config) ? 0 : R);
    return w < T ? w : T;
}

/* ---- crops ----------------------------------------------------------------------------------- */

typedef struct {
    lra_context *c;
    /* of: graph of the complete input; crop: graph of the crops */
    const lra_length_graph *of, *crop;
    const lra_batch *batch;
    int64_t R, width; /* R: radius in tokens; width: channels D of a feature */
    size_t size;      /* size of a token in bytes */
    /* (n,T,D) features: whole: of the complete inputs; pooled: one per crop */
    float *whole, *pooled;
    /* The batch of crops: tokens (crops,T), length (crops) in tokens, place (crops): position id of
     * the first token of each crop, position_ids (crops,T): position ids of all tokens. */
    char *tokens;
    int32_t *length, *place, *position_ids;
    /* to: row of `pooled` that receives the feature; at: index of its token inside the crop */
    int64_t *to, *at;
    float *features;
    int64_t n;
} cropping;

static int set_crops(cropping *w, lra_err *e)
{
    const lra_network *k = &w->crop->network;
    const lra_tensor *input = k->values ? k->values : k->tokens;
    int64_t last = (k->spec.T_max ? k->spec.T_max : k->T) - 1;
    int rc = lra_set(w->crop->plan, input, w->tokens, e);
    if (rc == 0) rc = lra_set(w->crop->plan, k->length, w->length, e);
    for (int64_t i = 0; i < k->n * k->T && k->position_ids; i++) {
        int64_t at = w->place[i / k->T] + i % k->T;
        /* ids of padding are clamped to the last valid id */
        w->position_ids[i] = (int32_t)(at < last ? at : last);
    }
    return rc == 0 && k->position_ids ? lra_set(w->crop->plan, k->position_ids, w->position_ids, e)
                                      : rc;
}

/* Evaluates the batch of crops and copies the feature of each crop's own position to `pooled`. */
static int flush(cropping *w, lra_err *e)
{
    const lra_network *k = &w->crop->network;
    if (w->n == 0) return 0;
    for (int64_t q = w->n; q < k->n; q++) w->length[q] = 1, w->place[q] = 0;
    int rc = set_crops(w, e);
    if (rc == 0) rc = lra_length_graph_run(&w->c->m, w->crop, e);
    if (rc == 0) rc = lra_get(w->crop->plan, k->features, w->features, e);
    size_t bytes = (size_t)w->width * sizeof(float);
    for (int64_t q = 0; q < w->n && rc == 0; q++)
        memcpy(w->pooled + w->to[q] * w->width, w->features + (q * k->T + w->at[q]) * w->width,
               bytes);
    double share = (double)k->T / (double)w->c->longest;
    lra_steps_add(w->c->steps, share * (double)w->n);
    w->n = 0;
    return rc;
}

/* Returns the tokens (or input values) of sequence s of a batch; size: bytes per position. */
static const char *tokens_of(const lra_network *k, const lra_batch *b, int64_t s, size_t *size)
{
    *size = k->tokens ? sizeof *b->token : (size_t)k->spec.channels * sizeof *b->value;
    const char *all = k->tokens ? (const char *)b->token : (const char *)b->value;
    return all + (size_t)(s * k->T) * *size;
}

/* Adds the crop around position i of sequence s to the batch, or copies the feature of the complete
 * input if the crop would contain all tokens on which it can depend. */
static int add_crop(cropping *w, int64_t s, int64_t i, lra_err *e)
{
    const lra_network *k = &w->crop->network;
    int64_t T = w->of->network.T, n = w->batch->length[s], lo = i - w->R, hi = i + w->R;
    if (lo < 0) lo = 0;
    if (w->c->period > 0) lo -= lo % w->c->period;
    if (w->c->causal) hi = i;
    if (hi > n - 1) hi = n - 1;
    int64_t to = s * T + i, q = w->n;
    if (lo == 0 && (hi == n - 1 || w->c->causal)) {
        memcpy(w->pooled + to * w->width, w->whole + to * w->width,
               (size_t)w->width * sizeof(float));
        return 0;
    }
    size_t size, row = (size_t)k->T * w->size, bytes = (size_t)(hi + 1 - lo) * w->size;
    const char *from = tokens_of(&w->of->network, w->batch, s, &size);
    memset(w->tokens + (size_t)q * row, 0, row);
    memcpy(w->tokens + (size_t)q * row, from + (size_t)lo * size, bytes);
    w->length[q] = (int32_t)(hi + 1 - lo), w->place[q] = (int32_t)lo;
    w->to[q] = to, w->at[q] = i - lo;
    return ++w->n == k->n ? flush(w, e) : 0;
}

static int crop_all(cropping *w, lra_err *e)
{
    int64_t n = w->of->network.n;
    int rc = 0;
    for (int64_t s = 0; s < n && rc == 0; s++) {
        if (w->batch->row[s % w->of->rows] < 0) continue;
        for (int64_t i = 0; i < w->batch->length[s] && rc == 0; i++) rc = add_crop(w, s, i, e);
    }
    return rc == 0 ? flush(w, e) : rc;
}

static void open_cropping(cropping *w)
{
    const lra_network *of = &w->of->network, *k = &w->crop->network;
    tokens_of(of, w->batch, 0, &w->size);
    w->width = lra_width(of->features);
    size_t all = (size_t)(of->n * of->T * w->width), crops = (size_t)(k->n * k->T);
    w->whole = lra_alloc_array(2 * all, sizeof *w->whole), w->pooled = w->whole + all;
    w->features = lra_alloc_array(crops * (size_t)w->width, sizeof *w->features);
    w->tokens = lra_alloc_array(crops, w->size);
    w->length = lra_alloc_array(2 * (size_t)k->n + crops, sizeof *w->length);
    w->place = w->length + k->n, w->position_ids = w->place + k->n;
    w->to = lra_alloc_array(2 * (size_t)k->n, sizeof *w->to), w->at = w->to + k->n;
}

static void close_cropping(cropping *w)
{
    lra_free(w->whole);
    lra_free(w->features);
    lra_free(w->tokens);
    lra_free(w->length);
    lra_free(w->to);
}

/* Runs the head on the pooled features and stores the outputs of each row. */
static int answer(cropping *w, lra_err *e)
{
    lra_sample_outputs *a = &w->c->answers;
    const lra_length_graph *head = w->c->head[w->batch->bucket];
    int rc = lra_set(head->plan, head->network.given, w->pooled, e);
    if (rc == 0) rc = lra_session_set(w->c->m.run, &head->network, head->plan, w->batch, e);
    if (rc == 0) rc = lra_length_graph_run(&w->c->m, head, e);
    if (rc == 0) rc = lra_get(head->plan, head->network.output, a->output, e);
    if (rc != 0) return rc;
    lra_session_rows(w->c->m.run, w->batch, w->of->rows, w->of->T, a->output, a->batch);
    for (int64_t i = 0; i < w->of->rows; i++)
        if (w->batch->row[i] >= 0) a->row[a->place[w->batch->row[i]]] = a->batch[i];
    return 0;
}

typedef struct {
    lra_context *c;
    int64_t R;
} question;

static int evaluate_batch(const lra_length_graph *v, const lra_batch *b, void *context, lra_err *e)
{
    const question *q = context;
    int i = 0;
    while (i + 1 < q->c->n_views && q->c->radius[i] < q->R) i++;
    cropping w = {.c = q->c, .of = v, .crop = q->c->view[i], .batch = b, .R = q->R};
    open_cropping(&w);
    int rc = lra_get(v->plan, v->network.features, w.whole, e);
    if (rc == 0) rc = crop_all(&w, e);
    if (rc == 0) rc = answer(&w, e);
    close_cropping(&w);
    return rc;
}

int lra_context_evaluate(lra_context *c, int64_t R, lra_sums *row, lra_err *e)
{
    question q = {c, R};
    c->answers.row = row;
    return lra_loaded_run(&c->m, LRA_TEST_SPLIT, NULL, evaluate_batch, &q, e);
}

/* ---- graphs ---------------------------------------------------------------------------------- */

static int64_t rows_of(const lra_train_spec *run, int64_t T)
{
    int64_t rows = run->batch * run->data->max_length / T;
    if (rows > MOST_ROWS) rows = MOST_ROWS;
    return rows > run->batch ? rows : run->batch;
}

/* Builds a graph for crops of each radius of lra_context_axis(). */
static void open_crops(lra_context *c)
{
    double R[LRA_GAIN_POINTS];
    int n = lra_context_axis(c->longest, R);
    for (int i = 0; i < n; i++) {
        int64_t T = lra_context_width(c->m.run, (int64_t)R[i]);
        lra_length_graph *v = lra_loaded_graph(&c->m, rows_of(c->m.run, T), T);
        lra_length_graph_output(v, v->network.features);
        c->radius[c->n_views] = (int64_t)R[i], c->view[c->n_views++] = v;
    }
}

static void open_heads(lra_context *c)
{
    for (int b = 0; b < c->m.buckets.n; b++) {
        int64_t D = lra_width(c->m.view[b]->network.features);
        c->head[b] = lra_loaded_head(&c->m, c->m.run->batch, c->m.buckets.length[b], D);
        lra_length_graph_output(c->head[b], c->head[b]->network.output);
    }
}

int lra_context_open(lra_context *c, const lra_train_spec *run, lra_device *dev,
                     lra_weights_kind weights, int64_t sample, lra_steps *steps, lra_err *e)
{
    *c = (lra_context){.steps = steps, .longest = run->data->max_length};
    c->causal = lra_model_causal(run->model, run->model_config);
    c->period = lra_model_period(run->model, run->model_config, run->data->longest);
    if (lra_load_model(&c->m, run, dev, weights, e) != 0) return LRA_FAILED;
    c->m.sample = sample, c->m.type = LRA_F32, c->m.explicit_positions = true;
    lra_loaded_buckets(&c->m);
    c->n = lra_sample_outputs_open(&c->answers, &c->m, &c->index);
    for (int i = 0; i < c->m.n_views; i++)
        lra_length_graph_output(c->m.view[i], c->m.view[i]->network.features);
    open_heads(c);
    open_crops(c);
    c->full = lra_alloc_array((size_t)c->n + 1, sizeof *c->full);
    c->answers.row = c->full, c->answers.steps = steps;
    int rc = lra_loaded_plan(&c->m, e);
    return rc == 0 ? lra_loaded_run(&c->m, LRA_TEST_SPLIT, NULL, lra_sample_keep, &c->answers, e)
                   : rc;
}

void lra_context_close(lra_context *c)
{
    lra_free(c->index);
    lra_free(c->full);
    lra_sample_outputs_free(&c->answers);
    lra_loaded_free(&c->m);
}
