/* Answers LRAX/1 requests by calling a responder. */
#include "probes/audit/serve_frames.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/printable.h"
#include "probes/audit/kernel_arrays.h"

struct lra_server {
    lra_responder *r;
    lra_wire_shape shape;
    int64_t longest;   /* maximum length of an input, from hello */
    uint32_t prepared; /* LRA_ANSWERS_.. bits that were announced to the responder */
};

/* Return code for an invalid request, which is answered by bad_request. */
enum { LRA_REFUSED = -100 };

/* ---- frames on blocking descriptors ---------------------------------------------------------- */

int lra_serve_read(int in, lra_message *m, bool *end, lra_err *e)
{
    lra_frame_reader f;
    *m = (lra_message){.id = -1};
    *end = false;
    lra_frame_reader_init(&f, "lra-probe", NULL);
    int rc = 0;
    for (bool complete = false; rc == 0 && !complete;) {
        void *to;
        size_t room = lra_frame_room(&f, &to);
        ssize_t n = read(in, to, room);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            rc = lra_fail_errno(e, "cannot read a request");
        } else if (n == 0) {
            *end = lra_frame_reader_empty(&f);
            if (!*end) rc = lra_fail(e, "the input ended inside a frame");
            break;
        } else {
            rc = lra_frame_took(&f, (size_t)n, &complete, e);
        }
    }
    if (rc == 0 && !*end) rc = lra_frame_message(&f, m, e);
    lra_frame_reader_free(&f);
    return rc;
}

int lra_serve_write(int out, const char *frame, size_t n, lra_err *e)
{
    for (size_t sent = 0; sent < n;) {
        ssize_t k = write(out, frame + sent, n - sent);
        if (k < 0 && errno == EINTR) continue;
        if (k < 0) return lra_fail_errno(e, "cannot write an answer");
        sent += (size_t)k;
    }
    return 0;
}

/* ---- requests -------------------------------------------------------------------------------- */

/* Announces requests of an op with at most T tokens to the responder, unless they were announced
 * before. T 0: the announced length stays. */
static int prepare(lra_server *s, uint32_t answers, int64_t T, lra_err *e)
{
    lra_responder *r = s->r;
    if (!lra_responder_answers(r, answers))
        return lra_fail_absent(e, "the model does not answer this op");
    bool ready = (s->prepared & answers) == answers && T <= s->longest;
    if (ready || !r->is->prepare) return 0;
    /* logits at all positions are expensive: only graphs for logprob compute them */
    bool all = answers & LRA_ANSWERS_LOGPROB;
    s->prepared = all ? answers : (s->prepared & ~(uint32_t)LRA_ANSWERS_LOGPROB) | answers;
    if (T > s->longest) s->longest = T;
    const int64_t length[] = {r->facts.max_length, s->longest};
    lra_preparation p = {.answers = s->prepared, .exact = true, .draws = 1, .longest = s->longest};
    if (length[0] > 0 && length[1] > length[0]) p.n_lengths = 2, p.length = length;
    return r->is->prepare(r, &p, e);
}

static int check_op(const lra_server *s, uint32_t answers, lra_err *e)
{
    if (lra_responder_answers(s->r, answers)) return 0;
    return lra_fail_absent(e, "the model does not answer this op");
}

static uint32_t place_of(const lra_request *q)
{
    return q->place ? LRA_ANSWERS_PLACE : 0;
}

static int read_inputs(const lra_server *s, const lra_message *m, lra_wire_request *w, lra_err *e)
{
    return lra_wire_read(m, &s->shape, w, e) == 0 ? 0 : LRA_REFUSED;
}

/* Adds an array (towers,B,inner) to the answer as (B[,2],inner[,last]). */
static void add_answer(lra_wire *out, const char *name, const lra_request *q, const float *from,
                       int n_dims, const int64_t *dims)
{
    int64_t all[6] = {q->B}, inner = 1;
    int rank = 1;
    if (q->towers > 1) all[rank++] = q->towers;
    for (int i = 0; i < n_dims; i++) all[rank++] = dims[i], inner *= dims[i];
    int64_t *row = lra_alloc_array((size_t)q->B, sizeof *row);
    for (int64_t i = 0; i < q->B; i++) row[i] = i;
    lra_wire_add(out, name, LRA_DTYPE_F32, rank, all,
                 lra_wire_gather(from, q, row, q->B, inner, sizeof(float)));
    lra_free(row);
}

static bool is_one_of(const char *name, int n, const char *const *list)
{
    for (int i = 0; i < n; i++)
        if (strcmp(name, list[i]) == 0) return true;
    return false;
}

/* Reads the distance limit of a request, if it has one. */
static int read_limit(const lra_server *s, const lra_message *m, lra_request *q,
                      lra_request_limit *limit, lra_err *e)
{
    const lra_responder_facts *f = &s->r->facts;
    if (!lra_message_text(m, "limit")) return 0;
    if (!f->limits) return lra_fail_absent(e, "the model accepts no distance limits");
    if (lra_message_int(m, "limit", 0, INT64_MAX, &limit->r, e) != 0) return LRA_REFUSED;
    limit->layer = lra_message_text(m, "layer");
    if (limit->layer && !is_one_of(limit->layer, f->n_limit_layers, f->limit_layer)) {
        lra_fail(e, "layer '%.80s' cannot be limited alone", limit->layer);
        return LRA_REFUSED;
    }
    q->limit = limit;
    return 0;
}

static int forward(lra_server *s, const lra_message *m, lra_wire *out, lra_err *e)
{
    lra_wire_request w;
    int rc = check_op(s, LRA_ANSWERS_FORWARD, e);
    if (rc != 0) return rc;
    lra_request_limit limit = {.r = 0};
    rc = read_inputs(s, m, &w, e);
    if (rc == 0) rc = read_limit(s, m, &w.q, &limit, e);
    if (rc == 0) rc = prepare(s, LRA_ANSWERS_FORWARD | place_of(&w.q), w.q.T, e);
    int64_t dims[2] = {w.q.B, s->r->facts.classes};
    float *logits = NULL;
    if (rc == 0) {
        logits = lra_try_array(dims[0] * dims[1], sizeof *logits, "logits", e);
        rc = logits ? s->r->is->forward(s->r, &w.q, logits, e) : LRA_FAILED;
    }
    if (rc == 0)
        lra_wire_add(out, "logits", LRA_DTYPE_F32, 2, dims, logits);
    else
        lra_free(logits);
    lra_wire_request_free(&w);
    return rc;
}

static int logprob(lra_server *s, const lra_message *m, lra_wire *out, lra_err *e)
{
    lra_wire_request w = {.q = {.B = 0}};
    int rc = check_op(s, LRA_ANSWERS_LOGPROB, e);
    if (rc != 0) return rc;
    rc = read_inputs(s, m, &w, e);
    if (rc == 0) rc = prepare(s, LRA_ANSWERS_LOGPROB | place_of(&w.q), w.q.T, e);
    int64_t dims[2] = {w.q.B, w.q.T};
    int32_t *target = NULL;
    float *to = NULL;
    if (rc == 0) {
        target = lra_wire_read_array(m, "target", LRA_DTYPE_I32, &w.q, w.q.T, e);
        rc = target ? 0 : LRA_REFUSED;
    }
    for (int64_t i = 0; i < dims[0] * dims[1] && rc == 0; i++) {
        if (target[i] >= -1 && target[i] < s->r->facts.classes) continue;
        lra_fail(e, "target %d, expected -1 to %lld", target[i],
                 (long long)s->r->facts.classes - 1);
        rc = LRA_REFUSED;
    }
    if (rc == 0) {
        to = lra_try_array(dims[0] * dims[1], sizeof *to, "log-probabilities", e);
        rc = to ? s->r->is->logprob(s->r, &w.q, target, to, e) : LRA_FAILED;
    }
    if (rc == 0)
        lra_wire_add(out, "logprob", LRA_DTYPE_F32, 2, dims, to);
    else
        lra_free(to);
    lra_free(target);
    lra_wire_request_free(&w);
    return rc;
}

/* Reads the layer of a request; NULL, for the features before the pool, if the key is missing or
 * "". */
static int read_layer(const lra_server *s, const lra_message *m, const char **layer, lra_err *e)
{
    const lra_responder_facts *f = &s->r->facts;
    *layer = lra_message_text(m, "layer");
    if (*layer && !**layer) *layer = NULL;
    if (!*layer || is_one_of(*layer, f->n_layers, f->layer) ||
        is_one_of(*layer, f->n_attention_layers, f->attention_layer) ||
        is_one_of(*layer, f->n_kernel_layers, f->kernel_layer) ||
        is_one_of(*layer, f->n_feature_layers, f->feature_layer))
        return 0;
    lra_fail(e, "there is no layer '%.80s'", *layer);
    return LRA_REFUSED;
}

/* Reads the layer and the inputs of a request for an op (an LRA_ANSWERS_ bit) and prepares the
 * model for it. The caller frees `w`, after a failure too. */
static int open_request(lra_server *s, const lra_message *m, uint32_t op, lra_wire_request *w,
                        const char **layer, lra_err *e)
{
    *w = (lra_wire_request){.q = {.B = 0}};
    int rc = check_op(s, op, e);
    if (rc == 0) rc = read_layer(s, m, layer, e);
    if (rc == 0) rc = read_inputs(s, m, w, e);
    return rc ? rc : prepare(s, op | place_of(&w->q), w->q.T, e);
}

static int features(lra_server *s, const lra_message *m, lra_wire *out, lra_err *e)
{
    lra_wire_request w;
    const char *layer;
    int rc = open_request(s, m, LRA_ANSWERS_FEATURES, &w, &layer, e);
    int64_t dims[2] = {w.q.T, 0};
    if (rc == 0) rc = lra_responder_width(s->r, layer, &dims[1], e);
    if (rc == 0) {
        float *h = lra_try_array(w.q.B * w.q.towers * dims[0] * dims[1], sizeof *h, "features", e);
        rc = h ? s->r->is->features(s->r, &w.q, layer, h, e) : LRA_FAILED;
        if (rc == 0) add_answer(out, "features", &w.q, h, 2, dims);
        lra_free(h);
    }
    lra_wire_request_free(&w);
    return rc;
}

static int head(lra_server *s, const lra_message *m, lra_wire *out, lra_err *e)
{
    lra_wire_request w;
    const char *layer;
    int rc = open_request(s, m, LRA_ANSWERS_HEAD, &w, &layer, e);
    const lra_request *q = &w.q;
    int64_t D = s->r->facts.width, dims[2] = {q->B, s->r->facts.classes};
    float *given = NULL, *logits = NULL;
    if (rc == 0) {
        given = lra_wire_read_channels(m, "features", LRA_DTYPE_F32, q, D, e);
        rc = given ? 0 : LRA_REFUSED;
    }
    if (rc == 0) {
        logits = lra_try_array(dims[0] * dims[1], sizeof *logits, "logits", e);
        rc = logits ? s->r->is->head(s->r, q, given, logits, e) : LRA_FAILED;
    }
    if (rc == 0)
        lra_wire_add(out, "logits", LRA_DTYPE_F32, 2, dims, logits);
    else
        lra_free(logits);
    lra_free(given);
    lra_wire_request_free(&w);
    return rc;
}

static int run_vjp(lra_server *s, const lra_message *m, const lra_request *q, const char *layer,
                   lra_wire *out, lra_err *e)
{
    int64_t D, n = q->B * q->towers;
    if (lra_responder_width(s->r, layer, &D, e) != 0) return LRA_ABSENT;
    int32_t *position = lra_wire_read_array(m, "position", LRA_DTYPE_I32, q, 0, e);
    float *cotangent = position ? lra_wire_read_array(m, "cotangent", LRA_DTYPE_F32, q, D, e)
                                : NULL;
    int rc = cotangent ? 0 : LRA_REFUSED;
    for (int64_t i = 0; i < n && rc == 0; i++) {
        if (position[i] >= -1 && position[i] < q->length[i]) continue;
        lra_fail(e, "position %d of row %lld, expected -1 to %d", position[i],
                 (long long)(i % q->B), q->length[i] - 1);
        rc = LRA_REFUSED;
    }
    float *grad = rc == 0 ? lra_try_array(n * q->T, sizeof *grad, "norms of gradients", e) : NULL;
    if (rc == 0)
        rc = grad ? s->r->is->vjp(s->r, q, layer, position, 1, cotangent, grad, e) : LRA_FAILED;
    if (rc == 0) add_answer(out, "grad_sq", q, grad, 1, &q->T);
    lra_free(grad);
    lra_free(cotangent);
    lra_free(position);
    return rc;
}

static int vjp(lra_server *s, const lra_message *m, lra_wire *out, lra_err *e)
{
    lra_wire_request w;
    const char *layer;
    int rc = open_request(s, m, LRA_ANSWERS_VJP, &w, &layer, e);
    if (rc == 0) rc = run_vjp(s, m, &w.q, layer, out, e);
    lra_wire_request_free(&w);
    return rc;
}

/* Adds attention matrices, and the array of allowed pairs if the mask excludes some. */
static void add_attention(lra_wire *out, const lra_request *q, lra_answer *a)
{
    int64_t n = 1, masked = 0, per = a->dims[1] * a->dims[2] * a->dims[3];
    for (int i = 0; i < a->rank; i++) n *= a->dims[i];
    uint8_t *allowed = lra_alloc_array((size_t)n, 1);
    for (int64_t i = 0; i < n; i++) {
        allowed[i] = (uint8_t)(a->value[i] != LRA_MASKED_WEIGHT);
        if (allowed[i] == 0) a->value[i] = 0, masked++;
    }
    add_answer(out, "attn", q, a->value, 3, a->dims + 1);
    if (masked) {
        int64_t *row = lra_alloc_array((size_t)q->B, sizeof *row);
        int64_t all[5] = {q->B, q->towers, a->dims[1], a->dims[2], a->dims[3]};
        for (int64_t i = 0; i < q->B; i++) row[i] = i;
        if (q->towers == 1) memmove(all + 1, all + 2, 3 * sizeof *all);
        lra_wire_add(out, "attn_allowed", LRA_DTYPE_BOOL, q->towers > 1 ? 5 : 4, all,
                     lra_wire_gather(allowed, q, row, q->B, per, 1));
        lra_free(row);
    }
    lra_free(allowed);
}

static int attn(lra_server *s, const lra_message *m, lra_wire *out, lra_err *e)
{
    lra_wire_request w = {.q = {.B = 0}};
    const char *layer, *rows = lra_message_text(m, "rows");
    long long from = -1, to = -1;
    int used = 0;
    int rc = check_op(s, LRA_ANSWERS_ATTENTION, e);
    if (rc == 0) rc = read_layer(s, m, &layer, e);
    if (rc == 0) rc = read_inputs(s, m, &w, e);
    int64_t P = w.q.T + s->r->facts.prepended;
    bool valid = rows && sscanf(rows, "%18lld:%18lld%n", &from, &to, &used) == 2 && !rows[used];
    if (rc == 0 && (!valid || from < 0 || to <= from || to > P)) {
        lra_fail(e, "'rows' is '%.40s', expected 'a:b' with 0 <= a < b <= %lld", rows ? rows : "",
                 (long long)P);
        rc = LRA_REFUSED;
    }
    if (rc == 0) {
        lra_answer a = {.rank = 0};
        rc = s->r->is->attention(s->r, &w.q, layer, from, to, &a, e);
        if (rc == 0) add_attention(out, &w.q, &a);
        lra_free(a.value);
    }
    lra_wire_request_free(&w);
    return rc;
}

static int kernels(lra_server *s, const lra_message *m, lra_wire *out, lra_err *e)
{
    const char *layer;
    int64_t lags;
    int rc = check_op(s, LRA_ANSWERS_KERNELS, e);
    if (rc == 0) rc = read_layer(s, m, &layer, e);
    if (rc == 0 && lra_message_int(m, "lags", 1, 1 << 24, &lags, e) != 0) rc = LRA_REFUSED;
    if (rc != 0) return rc;
    lra_kernels_answer a = {.channels = 0};
    rc = s->r->is->kernels(s->r, layer, lags, &a, e);
    if (rc == 0) lra_kernels_to_message(&a, out);
    lra_kernels_answer_free(&a);
    return rc;
}

static int reset(lra_server *s, const lra_message *m, lra_wire *out, lra_err *e)
{
    (void)out;
    int64_t seed;
    int rc = check_op(s, LRA_ANSWERS_RESET, e);
    s->prepared = 0; /* requests to the new weights must be announced again */
    if (rc == 0 && lra_message_int(m, "seed", 0, INT64_MAX, &seed, e) != 0) rc = LRA_REFUSED;
    return rc ? rc : s->r->is->reset(s->r, (uint64_t)seed, e);
}

static int restore(lra_server *s, const lra_message *m, lra_wire *out, lra_err *e)
{
    (void)m, (void)out;
    int rc = check_op(s, LRA_ANSWERS_RESET, e);
    s->prepared = 0;
    return rc ? rc : s->r->is->restore(s->r, e);
}

/* ---- answers --------------------------------------------------------------------------------- */

static int hello(lra_server *s, const lra_message *m, lra_config *meta, lra_err *e)
{
    const lra_responder_facts *f = &s->r->facts;
    lra_model_task t;
    if (lra_hello_read(m, &t, e) != 0) return LRA_REFUSED;
    if ((t.vocab == 0) != (s->shape.vocab == 0) || t.towers != s->shape.towers) {
        lra_fail(
            e, "the task has other inputs than the model: tokens or values, one or two documents");
        return LRA_REFUSED;
    }
    if (t.vocab == 0) s->shape.width = t.width;
    /* announces all requests together, so that the graphs are built once and D becomes known */
    const uint32_t all = LRA_ANSWERS_FORWARD | LRA_ANSWERS_FEATURES | LRA_ANSWERS_VJP;
    int rc = prepare(s, f->answers & all, t.length, e);
    if (rc == 0) lra_ready_meta(f, f->max_batch, meta);
    return rc;
}

static const char *code_of(int rc, const lra_err *e)
{
    return rc == LRA_REFUSED                      ? "bad_request"
           : rc == LRA_ABSENT                     ? "unsupported"
           : lra_err_cause(e) == LRA_CAUSE_MEMORY ? "out_of_memory"
                                                  : "internal";
}

static int answer(lra_server *s, const lra_message *m, lra_wire *out, lra_config *meta, lra_err *e)
{
    static const struct {
        const char *op;
        int (*answer)(lra_server *, const lra_message *, lra_wire *, lra_err *);
    } ops[] = {{"forward", forward}, {"features", features}, {"vjp", vjp},
               {"attn", attn},       {"kernels", kernels},   {"reset", reset},
               {"restore", restore}, {"logprob", logprob},   {"head", head}};
    if (strcmp(m->op, "hello") == 0) return hello(s, m, meta, e);
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (strcmp(m->op, ops[i].op) == 0) return ops[i].answer(s, m, out, e);
    return lra_fail_absent(e, "the op '%.40s' is unknown", m->op);
}

lra_server *lra_server_new(lra_responder *r, const lra_wire_shape *shape)
{
    lra_server *s = lra_alloc(sizeof *s);
    *s = (lra_server){.r = r, .shape = *shape};
    return s;
}

void lra_server_free(lra_server *s)
{
    lra_free(s);
}

char *lra_server_answer(lra_server *s, const lra_message *m, size_t *n, lra_err *e)
{
    lra_wire out = {0};
    lra_err why = {{0}};
    lra_config *meta = lra_config_new();
    const char *op = strcmp(m->op, "hello") == 0 ? "ready" : "result";
    int rc = answer(s, m, &out, meta, &why);
    if (rc != 0) {
        lra_config_set(meta, "code", code_of(rc, &why));
        lra_config_set(meta, "text", lra_make_printable(why.msg));
        op = "error";
    }
    char *frame = lra_frame_write(op, m->id, meta, out.n, out.tensor, n, e);
    lra_wire_free(&out);
    lra_config_free(meta);
    return frame;
}

int lra_serve_frames(lra_responder *r, const lra_wire_shape *shape, int in, int out, lra_err *e)
{
    lra_server *s = lra_server_new(r, shape);
    int rc = 0;
    for (bool end = false; rc == 0 && !end;) {
        lra_message m;
        size_t n;
        rc = lra_serve_read(in, &m, &end, e);
        if (rc == 0 && !end) end = strcmp(m.op, "bye") == 0;
        if (rc == 0 && !end) {
            char *frame = lra_server_answer(s, &m, &n, e);
            rc = frame ? lra_serve_write(out, frame, n, e) : LRA_FAILED;
            lra_free_large(frame);
        }
        lra_message_free(&m);
    }
    lra_server_free(s);
    return rc;
}
