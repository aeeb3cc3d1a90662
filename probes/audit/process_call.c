/* Sends requests to an external model (process_call.h). */
#include "probes/audit/process_call.h"

#include <string.h>

#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"
#include "kernels/base/os/file.h"

/* ---- exchanges ------------------------------------------------------------------------------- */

/* Returns the id of the next request. Offline requests are numbered when they are written. */
static int64_t next_id(lra_external *m)
{
    return m->offline ? 0 : m->id++;
}

/* Sends n requests and waits for the answers. The first `kept` exchanges are recorded. */
static int exchange(lra_external *m, lra_model_exchange *x, int n, int kept, lra_err *e)
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

static char *make_frame(lra_external *m, const lra_call *c, int64_t from, int64_t to, int64_t id,
                        size_t *n, lra_err *e)
{
    lra_wire w = {0};
    lra_config *meta = lra_config_new();
    if (c->layer) lra_config_set(meta, "layer", c->layer);
    if (m->reset >= 0) lra_config_set_int(meta, "reset", m->reset);
    if (c->q->limit) lra_config_set_int(meta, "limit", c->q->limit->r);
    if (c->q->limit && c->q->limit->layer) lra_config_set(meta, "layer", c->q->limit->layer);
    lra_request q = *c->q;
    if (!m->ready.mask) q.keep = NULL;
    lra_wire_inputs(&w, &q, c->row + from, to - from);
    if (c->add) c->add(c, from, to, &w, meta);
    char *frame = lra_frame_write(c->op, id, meta, w.n, w.tensor, n, e);
    lra_config_free(meta);
    lra_wire_free(&w);
    return frame;
}

/* Sets the rows of attention matrices: half of the weight is on the own token, half on the token
 * before it, so that the matrix is causal and agrees with any window of two tokens. number
 * (rows,last) */
static void fill_attention(const lra_call *c, int64_t rows, int64_t last, float *number)
{
    memset(number, 0, (size_t)(rows * last) * sizeof *number);
    for (int64_t r = 0; r < rows; r++) {
        int64_t at = c->from + r % (c->to - c->from), before = at > 0 ? at - 1 : at;
        number[r * last + before] += 0.5f;
        number[r * last + at] += 0.5f;
    }
}

/* Sets the numbers of a placeholder: random numbers in (0,1) whose sum over the last axis is 1,
 * which depend only on the request; for gradients, 1 at the position itself and 0 elsewhere, which
 * agrees with any declared reach. */
static void fill_placeholder(const lra_call *c, const lra_model_exchange *x, int64_t from,
                             int64_t n, int64_t last, float *number)
{
    if (c->answer) {
        fill_attention(c, n / last, last, number);
        return;
    }
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
static int take_placeholder(lra_call *c, const lra_model_exchange *x, int64_t from, int64_t to,
                            lra_err *e)
{
    if (!c->shape) return lra_fail_absent(e, "'%s' has no answer yet", x->op);
    c->guessed = true;
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
static int take_answer(lra_call *c, const lra_model_exchange *x, int64_t from, int64_t to,
                       lra_err *e)
{
    if (!x->answer.op) return take_placeholder(c, x, from, to, e);
    int rc = check_error(x, e);
    if (rc == 0) rc = c->take(c, &x->answer, from, to, e);
    if (rc == LRA_FAILED && !is_error(&x->answer))
        lra_fail_in(e, "the model's answer to '%s' (id %lld)", c->op, (long long)x->id);
    return rc;
}

/* Sends a request in messages of `size` rows. Returns 1 if the model is out of memory. */
static int send_pieces(lra_external *m, lra_call *c, int64_t size, lra_err *e)
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

int lra_call_send(lra_external *m, lra_call *c, lra_err *e)
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

int lra_call_check(const lra_external *m, const char *op, uint32_t answers, const lra_request *q,
                   lra_err *e)
{
    if (!lra_responder_answers(&m->base, answers))
        return lra_fail_absent(e, "the model does not answer '%s'", op);
    if (!q) return 0;
    if (q->towers != m->task.towers || !q->token == (m->task.vocab > 0))
        LRA_BUG("a request of another kind than the task");
    if (q->place && !lra_responder_answers(&m->base, LRA_ANSWERS_PLACE))
        return lra_fail_absent(e, "the model does not accept position ids");
    if (q->limit && !m->base.facts.limits)
        return lra_fail_absent(e, "the model accepts no distance limits");
    if (q->keep && !m->ready.mask) return lra_fail_absent(e, "the model does not accept 'keep'");
    return 0;
}

void lra_call_rows(lra_call *c)
{
    const lra_request *q = c->q;
    c->n = 0, c->row = lra_alloc_array((size_t)q->B + 1, sizeof *c->row);
    for (int64_t i = 0; i < q->B; i++)
        if (!q->row || q->row[i] >= 0) c->row[c->n++] = i;
}

/* ---- a request without inputs ---------------------------------------------------------------- */

int lra_call_single(lra_external *m, const char *op, const lra_config *meta, bool all,
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
