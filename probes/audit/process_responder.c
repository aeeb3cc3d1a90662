/* An external model as a responder (process_responder.h). */
#include "probes/audit/process_responder.h"

#include <stdio.h>
#include <string.h>

#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"
#include "kernels/base/os/file.h"
#include "probes/audit/kernel_arrays.h"
#include "probes/audit/ready.h"
#include "probes/audit/recording.h"
#include "probes/audit/wire.h"

typedef struct {
    lra_responder base;
    lra_model_task task;
    lra_model_process *process[LRA_MODEL_MOST_PROCESSES];
    int n_processes;
    lra_recorder *recorder; /* recording that is written. Nullable */
    lra_replay *replay;     /* recording that answers instead of processes. Nullable */
    lra_offline *offline;   /* files that answer instead of processes. Not owned. Nullable */
    int64_t reset;          /* offline: seed of the initial weights in use; -1: trained weights */
    lra_ready ready;
    int64_t id, batch;
    char *
        broken; /* error message of a failed exchange; all later exchanges fail with it. Nullable */
} external;

static external *of(lra_responder *r)
{
    return (external *)r;
}

/* ---- exchanges ------------------------------------------------------------------------------- */

/* Returns the id of the next request. Offline requests are numbered when they are written. */
static int64_t next_id(external *m)
{
    return m->offline ? 0 : m->id++;
}

/* Sends n requests and waits for the answers. The first `kept` exchanges are recorded. */
static int exchange(external *m, lra_model_exchange *x, int n, int kept, lra_err *e)
{
    lra_err second;
    if (m->broken) return lra_fail(e, "%s", m->broken);
    int rc = m->offline  ? lra_offline_answer(m->offline, x, n, e)
             : m->replay ? lra_replay_answer(m->replay, x, kept, e)
                         : lra_model_exchange_all(m->process, m->n_processes, x, n, e);
    if (rc == LRA_ABSENT) return rc; /* one answer is missing; others can exist */
    if (rc != 0) m->broken = lra_copy_text(e->msg);
    if (m->recorder && lra_recorder_add(m->recorder, x, kept, rc == 0 ? e : &second) != 0)
        rc = LRA_FAILED;
    return rc;
}

static void free_exchanges(lra_model_exchange *x, int n)
{
    for (int i = 0; i < n; i++) {
        lra_message_free(&x[i].answer);
        lra_free_large((char *)x[i].frame);
    }
    lra_free(x);
}

static bool is_error(const lra_message *m)
{
    return m->op && strcmp(m->op, "error") == 0;
}

static bool is_out_of_memory(const lra_message *m)
{
    const char *code = is_error(m) ? lra_message_text(m, "code") : NULL;
    return code && strcmp(code, "out_of_memory") == 0;
}

/* Fails with the message of an answer with op error; returns 0 for other answers. */
static int check_error(const lra_model_exchange *x, lra_err *e)
{
    const lra_message *m = &x->answer;
    if (!is_error(m)) return 0;
    const char *code = lra_message_text(m, "code"), *text = lra_message_text(m, "text");
    if (!text) text = "no text";
    if (!code) code = "";
    if (strcmp(code, "unsupported") == 0)
        return lra_fail_absent(e, "the model does not support '%s': %.300s", x->op, text);
    if (strcmp(code, "out_of_memory") == 0)
        return lra_fail_as(e, LRA_CAUSE_MEMORY,
                           "the model is out of memory at '%s' with one row: %.300s", x->op, text);
    if (strcmp(code, "bad_request") == 0)
        return lra_fail(e, "the model refused '%s' (id %lld) as a bad request: %.300s", x->op,
                        (long long)x->id, text);
    if (strcmp(code, "internal") == 0)
        return lra_fail(e, "the model failed at '%s' (id %lld): %.300s%s", x->op, (long long)x->id,
                        text,
                        strcmp(x->op, "vjp") == 0
                            ? "; without 'vjp' among its ops, 'occlusion' measures distances"
                            : "");
    return lra_fail(e,
                    "the model answered '%s' with error code '%.40s', expected unsupported, "
                    "out_of_memory, bad_request or internal: %.200s",
                    x->op, code, text);
}

/* ---- a request in pieces --------------------------------------------------------------------- */

typedef struct call call;
struct call {
    const char *op, *layer; /* Nullable: layer */
    const lra_request *q;
    int64_t n, *row; /* number of rows of all messages; (n) their row indices in q */
    /* Adds arrays and metadata of rows [from, to) to a message that has the inputs. Nullable */
    void (*add)(const call *c, int64_t from, int64_t to, lra_wire *w, lra_config *meta);
    /* Stores the answer for rows [from, to). */
    int (*take)(call *c, const lra_message *m, int64_t from, int64_t to, lra_err *e);
    /* Shape of the answer for n rows: writes dims, returns the rank. Nullable: it is not known */
    int (*shape)(const call *c, int64_t n, int64_t dims[LRA_MAX_DIMS]);
    const char *name; /* name of the array in the answer */
    /* Members that only some ops use. */
    float *out;
    int64_t width; /* number of elements of the answer for one row */
    const int32_t *position, *draw, *target;
    const float *cotangent;
    int64_t draws, from, to;
    lra_answer *answer;
};

static char *make_frame(external *m, const call *c, int64_t from, int64_t to, int64_t id, size_t *n,
                        lra_err *e)
{
    lra_wire w = {0};
    lra_config *meta = lra_config_new();
    if (c->layer) lra_config_set(meta, "layer", c->layer);
    if (m->reset >= 0) lra_config_set_int(meta, "reset", m->reset);
    lra_request q = *c->q;
    if (!m->ready.mask) q.keep = NULL;
    lra_wire_inputs(&w, &q, c->row + from, to - from);
    if (c->add) c->add(c, from, to, &w, meta);
    char *frame = lra_frame_write(c->op, id, meta, w.n, w.tensor, n, e);
    lra_config_free(meta);
    lra_wire_free(&w);
    return frame;
}

/* Sets the numbers of a placeholder: random numbers in (0,1) whose sum over the last axis is 1,
 * which depend only on the request; for gradients, 1 at the position itself and 0 elsewhere, which
 * agrees with any declared reach. */
static void fill_placeholder(const call *c, const lra_model_exchange *x, int64_t from, int64_t n,
                             int64_t last, float *number)
{
    lra_rng rng = lra_rng_new(lra_hash64(x->frame, x->n), 0, 0);
    for (int64_t i = 0; i < n; i++) number[i] = 0.5f + (float)lra_rng_u01(&rng);
    for (int64_t i = 0; i + last <= n; i += last) {
        float sum = 0;
        for (int64_t k = 0; k < last; k++) sum += number[i + k];
        for (int64_t k = 0; k < last; k++) number[i + k] /= sum;
        if (!c->position) continue;
        int64_t row = i / last / c->q->towers, tower = i / last % c->q->towers;
        int32_t at = c->position[tower * c->q->B + c->row[from + row]];
        memset(number + i, 0, (size_t)last * sizeof *number);
        if (at >= 0) number[i + at] = 1;
    }
}

/* Stores numbers in place of an answer that does not exist yet (offline.h). */
static int take_placeholder(call *c, const lra_model_exchange *x, int64_t from, int64_t to,
                            lra_err *e)
{
    if (!c->shape) return lra_fail_absent(e, "'%s' has no answer yet", x->op);
    lra_safetensor t = {(char *)(uintptr_t)c->name, {.dtype = LRA_DTYPE_F32}};
    lra_ndarray *a = &t.array;
    a->rank = c->shape(c, to - from, a->dims);
    int64_t n = 1, last = a->dims[a->rank - 1];
    for (int i = 0; i < a->rank; i++) n *= a->dims[i];
    float *number = lra_try_array(n + 1, sizeof *number, "an answer", e);
    if (!number) return LRA_FAILED;
    fill_placeholder(c, x, from, n, last, number);
    a->bytes = number;
    lra_message m = {.id = x->id};
    size_t bytes;
    char *frame = lra_frame_write("result", x->id, NULL, 1, &t, &bytes, e);
    int rc = frame ? lra_message_parse(frame + LRA_FRAME_HEAD, bytes - LRA_FRAME_HEAD, "plan", NULL,
                                       &m, e)
                   : LRA_FAILED;
    if (rc == 0) rc = c->take(c, &m, from, to, e);
    lra_message_free(&m);
    lra_free_large(frame);
    lra_free(number);
    return rc;
}

/* Stores the answer to rows [from, to) of a call, or fails with its error. */
static int take_answer(call *c, const lra_model_exchange *x, int64_t from, int64_t to, lra_err *e)
{
    if (!x->answer.op) return take_placeholder(c, x, from, to, e);
    int rc = check_error(x, e);
    if (rc == 0) rc = c->take(c, &x->answer, from, to, e);
    if (rc == LRA_FAILED && !is_error(&x->answer))
        lra_fail_in(e, "the model's answer to '%s' (id %lld)", c->op, (long long)x->id);
    return rc;
}

/* Sends a request in messages of `size` rows. Returns 1 if the model is out of memory. */
static int send_pieces(external *m, call *c, int64_t size, lra_err *e)
{
    int n = (int)((c->n + size - 1) / size), rc = 0;
    lra_model_exchange *x = lra_alloc_array((size_t)n + 1, sizeof *x);
    for (int i = 0; i < n && rc == 0; i++) {
        int64_t from = i * size, to = from + size < c->n ? from + size : c->n;
        x[i] = (lra_model_exchange){.op = c->op, .id = next_id(m), .slot = -1};
        x[i].frame = make_frame(m, c, from, to, x[i].id, &x[i].n, e);
        if (!x[i].frame) rc = LRA_FAILED;
    }
    if (rc == 0) rc = exchange(m, x, n, n, e);
    bool full = false;
    for (int i = 0; i < n && rc == 0; i++) full = full || is_out_of_memory(&x[i].answer);
    if (rc == 0 && full && size > 1) rc = 1;
    for (int i = 0; i < n && rc == 0; i++) {
        int64_t from = i * size, to = from + size < c->n ? from + size : c->n;
        rc = take_answer(c, &x[i], from, to, e);
    }
    free_exchanges(x, n);
    return rc;
}

static int send_call(external *m, call *c, lra_err *e)
{
    for (;;) {
        int64_t size = m->batch < c->n ? m->batch : c->n;
        if (c->n == 0) return 0;
        int rc = send_pieces(m, c, size, e);
        if (rc != 1) return rc;
        m->batch = size / 2;
        lra_note("the model is out of memory with %lld rows; continuing with %lld", (long long)size,
                 (long long)m->batch);
    }
}

static int check_request(const external *m, const char *op, uint32_t answers, const lra_request *q,
                         lra_err *e)
{
    if (!lra_responder_answers(&m->base, answers))
        return lra_fail_absent(e, "the model does not answer '%s'", op);
    if (!q) return 0;
    if (q->towers != m->task.towers || !q->token == (m->task.vocab > 0))
        LRA_BUG("a request of another kind than the task");
    if (q->place && !lra_responder_answers(&m->base, LRA_ANSWERS_PLACE))
        return lra_fail_absent(e, "the model does not accept position ids");
    if (q->keep && !m->ready.mask) return lra_fail_absent(e, "the model does not accept 'keep'");
    return 0;
}

/* Sets the rows of a call to those of its request that are not missing. */
static void set_rows(call *c)
{
    const lra_request *q = c->q;
    c->n = 0, c->row = lra_alloc_array((size_t)q->B + 1, sizeof *c->row);
    for (int64_t i = 0; i < q->B; i++)
        if (!q->row || q->row[i] >= 0) c->row[c->n++] = i;
}

/* ---- forward, features ----------------------------------------------------------------------- */

static int shape_of_logits(const call *c, int64_t n, int64_t dims[LRA_MAX_DIMS])
{
    dims[0] = n, dims[1] = c->width;
    return 2;
}

static int take_logits(call *c, const lra_message *m, int64_t from, int64_t to, lra_err *e)
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
static int answer_rows(external *m, uint32_t answers, call *c, lra_err *e)
{
    int rc = check_request(m, c->op, answers, c->q, e);
    if (rc != 0) return rc;
    set_rows(c);
    rc = send_call(m, c, e);
    lra_free(c->row);
    return rc;
}

static int forward(lra_responder *r, const lra_request *q, float *logits, lra_err *e)
{
    call c = {.op = "forward",
              .q = q,
              .take = take_logits,
              .shape = shape_of_logits,
              .name = "logits",
              .out = logits,
              .width = r->facts.classes};
    return answer_rows(of(r), LRA_ANSWERS_FORWARD, &c, e);
}

/* Writes the shape (rows[,2],T,last) of an answer, with an axis of 2 for two towers; returns the
 * rank. */
static int shape_of_rows(const call *c, int64_t rows, int64_t last, int64_t dims[LRA_MAX_DIMS])
{
    int rank = 0;
    dims[rank++] = rows;
    if (c->q->towers > 1) dims[rank++] = c->q->towers;
    dims[rank++] = c->q->T;
    if (last != 0) dims[rank++] = last;
    return rank;
}

static int shape_of_features(const call *c, int64_t n, int64_t dims[LRA_MAX_DIMS])
{
    return shape_of_rows(c, n, c->width, dims);
}

static int take_features(call *c, const lra_message *m, int64_t from, int64_t to, lra_err *e)
{
    int64_t dims[LRA_MAX_DIMS], n = to - from, each = c->q->T * c->width;
    int rank = shape_of_rows(c, n, c->width, dims);
    float *rows = lra_try_array(n * c->q->towers * each, sizeof *rows, "features", e);
    int rc = rows ? lra_message_floats(m, "features", rank, dims, rows, e) : LRA_FAILED;
    if (rc == 0) lra_wire_scatter(c->out, c->q, c->row + from, n, each, sizeof *rows, rows);
    lra_free(rows);
    return rc;
}

static int take_width(call *c, const lra_message *m, int64_t from, int64_t to, lra_err *e)
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

static int features(lra_responder *r, const lra_request *q, const char *layer, float *out,
                    lra_err *e)
{
    call c = {.op = "features",
              .layer = layer,
              .q = q,
              .take = take_features,
              .shape = shape_of_features,
              .name = "features",
              .out = out,
              .width = r->facts.width};
    return answer_rows(of(r), LRA_ANSWERS_FEATURES, &c, e);
}

/* ---- logprob --------------------------------------------------------------------------------- */

static void add_targets(const call *c, int64_t from, int64_t to, lra_wire *w, lra_config *meta)
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
    call c = {.op = "logprob",
              .q = q,
              .add = add_targets,
              .take = take_logits,
              .shape = shape_of_logits,
              .name = "logprob",
              .out = out,
              .width = q->T,
              .target = target};
    return answer_rows(of(r), LRA_ANSWERS_LOGPROB, &c, e);
}

/* ---- vjp: a row of a message is a row of the request and a draw ------------------------------ */

static void add_vjp(const call *c, int64_t from, int64_t to, lra_wire *w, lra_config *meta)
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

static int shape_of_vjp(const call *c, int64_t n, int64_t dims[LRA_MAX_DIMS])
{
    return shape_of_rows(c, n, 0, dims);
}

static int take_vjp(call *c, const lra_message *m, int64_t from, int64_t to, lra_err *e)
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
    external *m = of(r);
    int rc = check_request(m, "vjp", LRA_ANSWERS_VJP, q, e);
    if (rc != 0) return rc;
    int64_t *row = lra_alloc_array((size_t)(q->B * draws) + 1, sizeof *row), n = 0;
    int32_t *draw = lra_alloc_array((size_t)(q->B * draws) + 1, sizeof *draw);
    for (int64_t b = 0; b < q->B; b++) {
        bool wanted = position[b] >= 0 || (q->towers > 1 && position[q->B + b] >= 0);
        for (int32_t d = 0; d < draws && wanted; d++) row[n] = b, draw[n++] = d;
    }
    call c = {.op = "vjp",
              .layer = layer,
              .q = q,
              .n = n,
              .row = row,
              .add = add_vjp,
              .take = take_vjp,
              .shape = shape_of_vjp,
              .name = "grad_sq",
              .out = grad_sq,
              .width = r->facts.width,
              .position = position,
              .draw = draw,
              .cotangent = cotangent,
              .draws = draws};
    rc = send_call(m, &c, e);
    lra_free(row);
    lra_free(draw);
    return rc;
}

/* ---- attention, kernels ---------------------------------------------------------------------- */

static void add_attention(const call *c, int64_t from, int64_t to, lra_wire *w, lra_config *meta)
{
    (void)from, (void)to, (void)w;
    char *rows = lra_format("%lld:%lld", (long long)c->from, (long long)c->to);
    lra_config_set(meta, "rows", rows);
    lra_free(rows);
}

/* Shape of attention matrices, with one head where the number of heads is not known. */
static int shape_of_attention(const call *c, int64_t n, int64_t dims[LRA_MAX_DIMS])
{
    int rank = 0;
    dims[rank++] = n;
    if (c->q->towers > 1) dims[rank++] = c->q->towers;
    dims[rank++] = c->answer->value ? c->answer->dims[1] : 1;
    dims[rank++] = c->to - c->from;
    dims[rank++] = c->width;
    return rank;
}

/* Sets the weights of the pairs that `attn_allowed` excludes, an array of the shape of `attn`. */
static int take_allowed(const lra_message *m, int rank, const int64_t *dims, float *weight,
                        lra_err *e)
{
    const lra_ndarray *a = lra_safetensors_find(&m->t, "attn_allowed");
    if (!a) return 0;
    bool fits = a->rank == rank && a->element == 1;
    for (int i = 0; i < rank && fits; i++) fits = a->dims[i] == dims[i];
    if (!fits) return lra_fail(e, "'attn_allowed' is not a BOOL array of the shape of 'attn'");
    const uint8_t *allowed = a->bytes;
    for (int64_t i = 0; i < a->n; i++)
        if (!allowed[i]) weight[i] = LRA_MASKED_WEIGHT;
    return 0;
}

/* Fails because `attn` has another shape than (rows[,2],H,Q,P). Nullable: a */
static int wrong_shape(const lra_ndarray *a, int two, int64_t Q, int64_t P, lra_err *e)
{
    lra_text found = {0};
    if (!a) return lra_fail(e, "'attn' is missing");
    for (int i = 0; i < a->rank; i++)
        lra_text_add(&found, "%s%lld", i ? "," : "", (long long)a->dims[i]);
    lra_fail(e,
             "'attn' has the shape (%s), expected (B,%sH,%lld,%lld): batch, heads, the requested "
             "rows, all positions",
             found.s ? found.s : "", two ? "2," : "", (long long)Q, (long long)P);
    lra_text_free(&found);
    return LRA_FAILED;
}

/* Stores attention matrices (rows[,2],H,to - from,P), P = prepended + T. H follows from the first
 * answer. */
static int take_attention(call *c, const lra_message *m, int64_t from, int64_t to, lra_err *e)
{
    int64_t n = to - from, Q = c->to - c->from, P = c->width, towers = c->q->towers;
    int two = towers > 1;
    const lra_ndarray *a = lra_safetensors_find(&m->t, "attn");
    int64_t H = a && a->rank == 4 + two ? a->dims[1 + two] : -1;
    if (c->answer->value) H = c->answer->dims[1];
    int64_t dims[5] = {n, towers, H, Q, P};
    if (!two) dims[1] = H, dims[2] = Q, dims[3] = P;
    bool fits = a && H >= 1 && a->rank == 4 + two;
    for (int i = 0; i < 4 + two && fits; i++) fits = a->dims[i] == dims[i];
    if (!fits) return wrong_shape(a, two, Q, P, e);
    if (!c->answer->value) {
        *c->answer = (lra_answer){.rank = 4, .dims = {c->q->B * towers, H, Q, P}};
        c->answer->value = lra_try_array(c->q->B * towers * H * Q * P, sizeof(float), "attention",
                                         e);
        if (!c->answer->value) return LRA_FAILED;
    }
    float *rows = lra_try_array(n * towers * H * Q * P, sizeof *rows, "attention", e);
    int rc = rows ? lra_message_floats(m, "attn", 4 + two, dims, rows, e) : LRA_FAILED;
    if (rc == 0) rc = take_allowed(m, 4 + two, dims, rows, e);
    if (rc == 0)
        lra_wire_scatter(c->answer->value, c->q, c->row + from, n, H * Q * P, sizeof *rows, rows);
    lra_free(rows);
    return rc;
}

static void clear_answer(lra_answer *a)
{
    lra_free(a->value);
    *a = (lra_answer){.rank = 0};
}

static int attention(lra_responder *r, const lra_request *q, const char *layer, int64_t from,
                     int64_t to, lra_answer *out, lra_err *e)
{
    external *m = of(r);
    *out = (lra_answer){.rank = 0};
    int rc = check_request(m, "attn", LRA_ANSWERS_ATTENTION, q, e);
    if (rc != 0) return rc;
    call c = {.op = "attn",
              .layer = layer,
              .q = q,
              .add = add_attention,
              .take = take_attention,
              .shape = shape_of_attention,
              .name = "attn",
              .width = r->facts.prepended + q->T,
              .from = from,
              .to = to,
              .answer = out};
    set_rows(&c);
    rc = send_call(m, &c, e);
    if (rc != 0) clear_answer(out);
    lra_free(c.row);
    return rc;
}

/* Sends a request without inputs to one copy or, if `all`, to every copy, so that all copies have
 * the same weights. */
static int single(external *m, const char *op, const lra_config *meta, bool all,
                  lra_message *answer, lra_err *e)
{
    int n = all && m->n_processes ? m->n_processes : 1, rc = 0;
    lra_model_exchange *x = lra_alloc_array((size_t)n, sizeof *x);
    int64_t id = next_id(m);
    for (int i = 0; i < n && rc == 0; i++) {
        x[i] = (lra_model_exchange){.op = op, .id = id, .slot = i};
        x[i].frame = lra_frame_write(op, id, meta, 0, NULL, &x[i].n, e);
        if (!x[i].frame) rc = LRA_FAILED;
    }
    if (rc == 0)
        rc = exchange(m, x, n, 1, e); /* the answers of all copies are equal; one is recorded */
    if (rc == 0 && !x[0].answer.op) rc = lra_fail_absent(e, "'%s' has no answer yet", op);
    for (int i = 0; i < (m->replay ? 1 : n) && rc == 0; i++) rc = check_error(&x[i], e);
    if (rc == 0 && answer) {
        *answer = x[0].answer;
        x[0].answer = (lra_message){.id = -1};
    }
    free_exchanges(x, n);
    return rc;
}

static int kernels(lra_responder *r, const char *layer, int64_t lags, lra_kernels_answer *out,
                   lra_err *e)
{
    external *m = of(r);
    lra_message answer = {.id = -1};
    *out = (lra_kernels_answer){.channels = 0};
    int rc = check_request(m, "kernels", LRA_ANSWERS_KERNELS, NULL, e);
    if (rc != 0) return rc;
    lra_config *meta = lra_config_new();
    if (layer) lra_config_set(meta, "layer", layer);
    lra_config_set_int(meta, "lags", lags);
    rc = single(m, "kernels", meta, false, &answer, e);
    lra_config_free(meta);
    if (rc == 0) rc = lra_kernels_of_message(&answer.t, lags, out, e);
    if (rc != 0) lra_kernels_answer_free(out);
    lra_message_free(&answer);
    return rc;
}

/* ---- reset, restore -------------------------------------------------------------------------- */

static int reset(lra_responder *r, uint64_t seed, lra_err *e)
{
    int rc = check_request(of(r), "reset", LRA_ANSWERS_RESET, NULL, e);
    if (rc != 0) return rc;
    of(r)->reset = of(r)->offline ? (int64_t)(seed & INT64_MAX) : -1;
    if (of(r)->offline) return 0;
    lra_config *meta = lra_config_new();
    lra_config_set_int(meta, "seed", (int64_t)(seed & INT64_MAX));
    rc = single(of(r), "reset", meta, true, NULL, e);
    lra_config_free(meta);
    return rc;
}

static int restore(lra_responder *r, lra_err *e)
{
    int rc = check_request(of(r), "restore", LRA_ANSWERS_RESET, NULL, e);
    of(r)->reset = -1;
    return rc || of(r)->offline ? rc : single(of(r), "restore", NULL, true, NULL, e);
}

/* ---- opening and closing --------------------------------------------------------------------- */

static int say_hello(external *m, lra_err *e)
{
    lra_message answer = {.id = -1};
    lra_config *meta = lra_config_new();
    lra_hello_meta(&m->task, meta);
    int rc = single(m, "hello", meta, true, &answer, e);
    lra_config_free(meta);
    if (rc == LRA_ABSENT) rc = LRA_FAILED;
    if (rc == 0) rc = lra_ready_read(&answer, &m->task, &m->ready, e);
    lra_message_free(&answer);
    return rc;
}

/* Determines D: requests the features of one row of two tokens (or of the model's fixed length) and
 * reads the last axis of the answer. */
static int learn_width(external *m, lra_err *e)
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
    call c = {.op = "features", .q = &q, .n = 1, .row = &row, .take = take_width};
    int rc = send_call(m, &c, e);
    m->base.facts.width = c.width;
    lra_free(token);
    lra_free(value);
    return rc;
}

static int settle(external *m, const lra_process_options *o, lra_err *e)
{
    m->base.facts = m->ready.facts;
    m->batch = o->batch;
    if (m->ready.max_batch && m->ready.max_batch < m->batch) m->batch = m->ready.max_batch;
    uint32_t *answers = &m->base.facts.answers;
    if (m->base.facts.width == 0 && (*answers & LRA_ANSWERS_FEATURES)) return learn_width(m, e);
    if (m->base.facts.width == 0 && (*answers & LRA_ANSWERS_VJP)) {
        lra_warn("gradients are not used: 'ready' has no 'width', the number of features of a "
                 "position, and the model does not answer 'features'");
        *answers &= ~(uint32_t)LRA_ANSWERS_VJP;
    }
    return 0;
}

static int release(external *m, bool bye, lra_err *e)
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
    lra_free(m->broken);
    lra_free(m);
    return rc;
}

static void close_external(lra_responder *r)
{
    lra_err e;
    if (release(of(r), false, &e) != 0) lra_warn("%s", e.msg);
}

static const lra_responder_functions functions = {.forward = forward,
                                                  .logprob = logprob,
                                                  .features = features,
                                                  .vjp = vjp,
                                                  .attention = attention,
                                                  .kernels = kernels,
                                                  .reset = reset,
                                                  .restore = restore,
                                                  .close = close_external};

static int start_all(external *m, const lra_process_options *o, lra_err *e)
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
    external *m = lra_alloc(sizeof *m);
    *m = (external){.base = {.is = &functions},
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
    return ((const external *)r)->batch;
}

int lra_process_responder_end(lra_responder *r, lra_err *e)
{
    return release(of(r), true, e);
}
