/* An external model as a responder (process_responder.h). */
#include "probes/audit/process_responder.h"

#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/log.h"
#include "probes/audit/process_call.h"

/* ---- forward, features ----------------------------------------------------------------------- */

static int shape_of_logits(const lra_call *c, int64_t n, int64_t dims[LRA_MAX_DIMS])
{
    dims[0] = n, dims[1] = c->width;
    return 2;
}

static int take_logits(lra_call *c, const lra_message *m, int64_t from, int64_t to, lra_err *e)
{
    int64_t n = to - from, C = c->width;
    float *rows = lra_try_array(n * C, sizeof *rows, c->name, e);
    int rc = rows ? lra_message_floats(m, c->name, 2, (int64_t[]){n, C}, rows, e) : LRA_FAILED;
    for (int64_t i = 0; i < n && rc == 0; i++)
        memcpy(c->out + c->row[from + i] * C, rows + i * C, (size_t)C * sizeof *rows);
    lra_free(rows);
    return rc;
}

/* Checks a request whose answer has one row for each row of the request, sends it, and takes the
 * answer. */
static int answer_rows(lra_external *m, uint32_t answers, lra_call *c, lra_err *e)
{
    int rc = lra_call_check(m, c->op, answers, c->q, e);
    if (rc != 0) return rc;
    lra_call_rows(c);
    rc = lra_call_send(m, c, e);
    lra_free(c->row);
    return rc;
}

static int forward(lra_responder *r, const lra_request *q, float *logits, lra_err *e)
{
    lra_call c = {.op = "forward",
                  .q = q,
                  .take = take_logits,
                  .shape = shape_of_logits,
                  .name = "logits",
                  .out = logits,
                  .width = r->facts.classes};
    return answer_rows(lra_external_of(r), LRA_ANSWERS_FORWARD, &c, e);
}

/* Writes the shape (rows[,2],T,last) of an answer, with an axis of 2 for two towers; returns the
 * rank. */
static int shape_of_rows(const lra_call *c, int64_t rows, int64_t last, int64_t dims[LRA_MAX_DIMS])
{
    int rank = 0;
    dims[rank++] = rows;
    if (c->q->towers > 1) dims[rank++] = c->q->towers;
    dims[rank++] = c->q->T;
    if (last != 0) dims[rank++] = last;
    return rank;
}

static int shape_of_features(const lra_call *c, int64_t n, int64_t dims[LRA_MAX_DIMS])
{
    return shape_of_rows(c, n, c->width, dims);
}

static int take_features(lra_call *c, const lra_message *m, int64_t from, int64_t to, lra_err *e)
{
    int64_t dims[LRA_MAX_DIMS], n = to - from, each = c->q->T * c->width;
    int rank = shape_of_rows(c, n, c->width, dims);
    float *rows = lra_try_array(n * c->q->towers * each, sizeof *rows, "features", e);
    int rc = rows ? lra_message_floats(m, "features", rank, dims, rows, e) : LRA_FAILED;
    if (rc == 0) lra_wire_scatter(c->out, c->q, c->row + from, n, each, sizeof *rows, rows);
    lra_free(rows);
    return rc;
}

static int take_width(lra_call *c, const lra_message *m, int64_t from, int64_t to, lra_err *e)
{
    int64_t dims[LRA_MAX_DIMS];
    int rank = shape_of_rows(c, to - from, -1, dims);
    const lra_ndarray *a = lra_safetensors_find(&m->t, "features");
    if (!a) return lra_fail(e, "'result' has no array 'features'");
    bool fits = a->rank == rank;
    for (int i = 0; i + 1 < rank && fits; i++) fits = a->dims[i] == dims[i];
    if (!fits || a->dims[rank - 1] < 1)
        return lra_fail(e, "'features' has rank %d, expected (%lld%s,%lld,D)", a->rank,
                        (long long)dims[0], rank == 4 ? ",2" : "", (long long)c->q->T);
    c->width = a->dims[rank - 1];
    return 0;
}

static int learn_width(lra_external *m, const char *layer, int64_t *D, lra_err *e);

/* Index of a layer of `feature_layers`; -1: there is none of this name. */
static int feature_layer(const lra_external *m, const char *layer)
{
    const lra_responder_facts *f = &m->base.facts;
    for (int k = 0; k < f->n_feature_layers; k++)
        if (strcmp(f->feature_layer[k], layer) == 0) return k;
    return -1;
}

/* A layer that `feature_layers` does not name has the width of the features before the pool. */
static int width(lra_responder *r, const char *layer, int64_t *D, lra_err *e)
{
    lra_external *m = lra_external_of(r);
    int k = feature_layer(m, layer), rc = 0;
    if (k >= 0 && m->layer_width[k] == 0) rc = learn_width(m, layer, &m->layer_width[k], e);
    *D = k < 0 ? r->facts.width : m->layer_width[k];
    return rc;
}

static int features(lra_responder *r, const lra_request *q, const char *layer, float *out,
                    lra_err *e)
{
    int64_t D;
    int rc = lra_responder_width(r, layer, &D, e);
    if (rc != 0) return rc;
    lra_call c = {.op = "features",
                  .layer = layer,
                  .q = q,
                  .take = take_features,
                  .shape = shape_of_features,
                  .name = "features",
                  .out = out,
                  .width = D};
    return answer_rows(lra_external_of(r), LRA_ANSWERS_FEATURES, &c, e);
}

/* ---- head ------------------------------------------------------------------------------------ */

static void add_features(const lra_call *c, int64_t from, int64_t to, lra_wire *w, lra_config *meta)
{
    (void)meta;
    const lra_request *q = c->q;
    int64_t dims[LRA_MAX_DIMS], n = to - from;
    int rank = shape_of_rows(c, n, c->D, dims);
    lra_wire_add(w, "features", LRA_DTYPE_F32, rank, dims,
                 lra_wire_gather(c->features, q, c->row + from, n, q->T * c->D, sizeof(float)));
}

static int head(lra_responder *r, const lra_request *q, const float *features, float *logits,
                lra_err *e)
{
    lra_call c = {.op = "head",
                  .q = q,
                  .add = add_features,
                  .take = take_logits,
                  .shape = shape_of_logits,
                  .name = "logits",
                  .out = logits,
                  .width = r->facts.classes,
                  .features = features,
                  .D = r->facts.width};
    return answer_rows(lra_external_of(r), LRA_ANSWERS_HEAD, &c, e);
}

/* ---- logprob --------------------------------------------------------------------------------- */

static void add_targets(const lra_call *c, int64_t from, int64_t to, lra_wire *w, lra_config *meta)
{
    (void)meta;
    const int64_t dims[2] = {to - from, c->q->T};
    lra_wire_add(
        w, "target", LRA_DTYPE_I32, 2, dims,
        lra_wire_gather(c->target, c->q, c->row + from, to - from, c->q->T, sizeof *c->target));
}

static int logprob(lra_responder *r, const lra_request *q, const int32_t *target, float *out,
                   lra_err *e)
{
    lra_call c = {.op = "logprob",
                  .q = q,
                  .add = add_targets,
                  .take = take_logits,
                  .shape = shape_of_logits,
                  .name = "logprob",
                  .out = out,
                  .width = q->T,
                  .target = target};
    return answer_rows(lra_external_of(r), LRA_ANSWERS_LOGPROB, &c, e);
}

/* ---- vjp: a row of a message is a row of the request and a draw ------------------------------ */

static void add_vjp(const lra_call *c, int64_t from, int64_t to, lra_wire *w, lra_config *meta)
{
    (void)meta;
    const lra_request *q = c->q;
    int64_t n = to - from, towers = q->towers, D = c->width;
    int32_t *position = lra_wire_gather(c->position, q, c->row + from, n, 1, sizeof *position);
    float *cotangent = lra_alloc_array((size_t)(n * towers * D), sizeof *cotangent);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < towers; k++) {
            int64_t s = k * q->B + c->row[from + i], draw = c->draw[from + i];
            memcpy(cotangent + (i * towers + k) * D, c->cotangent + (s * c->draws + draw) * D,
                   (size_t)D * sizeof *cotangent);
        }
    int64_t dims[3] = {n, towers, D};
    lra_wire_add(w, "position", LRA_DTYPE_I32, towers > 1 ? 2 : 1, dims, position);
    if (towers == 1) dims[1] = D;
    lra_wire_add(w, "cotangent", LRA_DTYPE_F32, towers > 1 ? 3 : 2, dims, cotangent);
}

static int shape_of_vjp(const lra_call *c, int64_t n, int64_t dims[LRA_MAX_DIMS])
{
    return shape_of_rows(c, n, 0, dims);
}

static int take_vjp(lra_call *c, const lra_message *m, int64_t from, int64_t to, lra_err *e)
{
    const lra_request *q = c->q;
    int64_t dims[LRA_MAX_DIMS], n = to - from, T = q->T;
    int rank = shape_of_rows(c, n, 0, dims);
    float *rows = lra_try_array(n * q->towers * T, sizeof *rows, "norms of gradients", e);
    int rc = rows ? lra_message_floats(m, "grad_sq", rank, dims, rows, e) : LRA_FAILED;
    for (int64_t i = 0; i < n && rc == 0; i++)
        for (int64_t k = 0; k < q->towers; k++) {
            int64_t s = k * q->B + c->row[from + i], draw = c->draw[from + i];
            memcpy(c->out + (s * c->draws + draw) * T, rows + (i * q->towers + k) * T,
                   (size_t)T * sizeof *rows);
        }
    lra_free(rows);
    return rc;
}

static int vjp(lra_responder *r, const lra_request *q, const char *layer, const int32_t *position,
               int64_t draws, const float *cotangent, float *grad_sq, lra_err *e)
{
    lra_external *m = lra_external_of(r);
    int64_t D;
    int rc = lra_call_check(m, "vjp", LRA_ANSWERS_VJP, q, e);
    if (rc == 0) rc = lra_responder_width(r, layer, &D, e);
    if (rc != 0) return rc;
    int64_t *row = lra_alloc_array((size_t)(q->B * draws) + 1, sizeof *row), n = 0;
    int32_t *draw = lra_alloc_array((size_t)(q->B * draws) + 1, sizeof *draw);
    for (int64_t b = 0; b < q->B; b++) {
        bool wanted = position[b] >= 0 || (q->towers > 1 && position[q->B + b] >= 0);
        for (int32_t d = 0; d < draws && wanted; d++) row[n] = b, draw[n++] = d;
    }
    lra_call c = {.op = "vjp",
                  .layer = layer,
                  .q = q,
                  .n = n,
                  .row = row,
                  .add = add_vjp,
                  .take = take_vjp,
                  .shape = shape_of_vjp,
                  .name = "grad_sq",
                  .out = grad_sq,
                  .width = D,
                  .position = position,
                  .draw = draw,
                  .cotangent = cotangent,
                  .draws = draws};
    rc = lra_call_send(m, &c, e);
    lra_free(row);
    lra_free(draw);
    return rc;
}

/* ---- reset, restore -------------------------------------------------------------------------- */

static int reset(lra_responder *r, uint64_t seed, lra_err *e)
{
    int rc = lra_call_check(lra_external_of(r), "reset", LRA_ANSWERS_RESET, NULL, e);
    if (rc != 0) return rc;
    lra_external_of(r)->reset = lra_external_of(r)->offline ? (int64_t)(seed & INT64_MAX) : -1;
    if (lra_external_of(r)->offline) return 0;
    lra_config *meta = lra_config_new();
    lra_config_set_int(meta, "seed", (int64_t)(seed & INT64_MAX));
    rc = lra_call_single(lra_external_of(r), "reset", meta, true, NULL, e);
    lra_config_free(meta);
    return rc;
}

static int restore(lra_responder *r, lra_err *e)
{
    int rc = lra_call_check(lra_external_of(r), "restore", LRA_ANSWERS_RESET, NULL, e);
    lra_external_of(r)->reset = -1;
    return rc || lra_external_of(r)->offline
               ? rc
               : lra_call_single(lra_external_of(r), "restore", NULL, true, NULL, e);
}

/* ---- opening and closing --------------------------------------------------------------------- */

static int say_hello(lra_external *m, lra_err *e)
{
    lra_message answer = {.id = -1};
    lra_config *meta = lra_config_new();
    lra_hello_meta(&m->task, meta);
    int rc = lra_call_single(m, "hello", meta, true, &answer, e);
    lra_config_free(meta);
    if (rc == LRA_ABSENT) rc = LRA_FAILED;
    if (rc == 0) rc = lra_ready_read(&answer, &m->task, &m->ready, e);
    lra_message_free(&answer);
    return rc;
}

/* Determines D: requests the features of one row of two tokens (or of the model's fixed length) and
 * reads the last axis of the answer. Nullable: layer */
static int learn_width(lra_external *m, const char *layer, int64_t *D, lra_err *e)
{
    const int64_t fixed = m->base.facts.fixed_length, n = m->task.towers;
    const int64_t T = fixed ? fixed : m->task.length < 2 ? m->task.length : 2;
    int32_t length[2] = {(int32_t)T, (int32_t)T};
    int32_t *token = lra_alloc_array((size_t)(n * T), sizeof *token);
    float *value = lra_alloc_array((size_t)(n * T * (m->task.width + 1)), sizeof *value);
    int64_t row = 0;
    lra_request q = {.B = 1,
                     .T = T,
                     .towers = (int)n,
                     .token = m->task.vocab ? token : NULL,
                     .value = m->task.vocab ? NULL : value,
                     .width = m->task.width,
                     .length = length};
    lra_call c = {
        .op = "features", .layer = layer, .q = &q, .n = 1, .row = &row, .take = take_width};
    int rc = lra_call_send(m, &c, e);
    *D = c.width;
    lra_free(token);
    lra_free(value);
    return rc;
}

static int settle(lra_external *m, const lra_process_options *o, lra_err *e)
{
    m->base.facts = m->ready.facts;
    m->batch = o->batch;
    if (m->ready.max_batch && m->ready.max_batch < m->batch) m->batch = m->ready.max_batch;
    uint32_t *answers = &m->base.facts.answers;
    m->layer_width = lra_alloc_array((size_t)m->base.facts.n_feature_layers + 1,
                                     sizeof *m->layer_width);
    m->heads = lra_alloc_array((size_t)m->base.facts.n_attention_layers + 1, sizeof *m->heads);
    if (m->base.facts.width == 0 && (*answers & LRA_ANSWERS_FEATURES))
        return learn_width(m, NULL, &m->base.facts.width, e);
    if (m->base.facts.width == 0 && (*answers & LRA_ANSWERS_VJP)) {
        lra_warn("gradients are not used: 'ready' has no 'width', the number of features of a "
                 "position, and the model does not answer 'features'");
        *answers &= ~(uint32_t)LRA_ANSWERS_VJP;
    }
    return 0;
}

static int release(lra_external *m, bool bye, lra_err *e)
{
    int64_t id = m->id;
    for (int i = 0; i < m->n_processes; i++)
        if (bye)
            lra_model_process_bye(m->process[i], id);
        else
            lra_model_process_free(m->process[i]);
    lra_replay_close(m->replay);
    int rc = lra_recorder_close(m->recorder, e);
    lra_ready_free(&m->ready);
    lra_free(m->layer_width);
    lra_free(m->heads);
    lra_free(m->broken);
    lra_free(m);
    return rc;
}

static void close_external(lra_responder *r)
{
    lra_err e;
    if (release(lra_external_of(r), false, &e) != 0) lra_warn("%s", e.msg);
}

static const lra_responder_functions functions = {.forward = forward,
                                                  .logprob = logprob,
                                                  .width = width,
                                                  .features = features,
                                                  .head = head,
                                                  .vjp = vjp,
                                                  .attention = lra_external_attention,
                                                  .kernels = lra_external_kernels,
                                                  .reset = reset,
                                                  .restore = restore,
                                                  .close = close_external};

static int start_all(lra_external *m, const lra_process_options *o, lra_err *e)
{
    int n = o->command.argv ? o->processes : 1;
    for (int i = 0; i < n; i++) {
        m->process[i] = lra_model_process_start(&o->command, i, n, e);
        if (!m->process[i]) return LRA_FAILED;
        m->n_processes++;
    }
    return 0;
}

lra_responder *lra_process_responder_open(const lra_process_options *o, lra_err *e)
{
    lra_external *m = lra_alloc(sizeof *m);
    *m = (lra_external){.base = {.is = &functions},
                        .task = o->task,
                        .batch = 1,
                        .offline = o->offline,
                        .reset = -1};
    int rc = 0;
    if (o->record) rc = (m->recorder = lra_recorder_create(o->record, e)) ? 0 : LRA_FAILED;
    if (rc == 0 && o->replay) rc = (m->replay = lra_replay_open(o->replay, e)) ? 0 : LRA_FAILED;
    if (rc == 0 && !o->replay && !o->offline) rc = start_all(m, o, e);
    if (rc == 0) rc = say_hello(m, e);
    if (rc == 0) rc = settle(m, o, e);
    if (rc == 0) return &m->base;
    close_external(&m->base);
    return NULL;
}

int64_t lra_process_responder_batch(const lra_responder *r)
{
    return ((const lra_external *)r)->batch;
}

int lra_process_responder_end(lra_responder *r, lra_err *e)
{
    return release(lra_external_of(r), true, e);
}
