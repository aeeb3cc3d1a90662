/* Measurements of language models whose context is known exactly, compared with losses computed by
 * hand. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"
#include "probes/audit/process_responder.h"
#include "probes/audit/serve_frames.h"
#include "probes/influence/documents.h"
#include "probes/influence/registry.h"
#include "tests/fixtures/goal_run.h"
#include "tests/fixtures/subject.h"

GROUP(make_folder, remove_folder);

enum { V = 12, ROWS = 60, LONG = 200, BOS = 11, WORDS = 11 };
static int64_t T = 48;          /* tokens of a row, or of the longest row */
static const double sure = 0.9; /* probability that a model gives to the token that it predicts */

/* ---- models ---------------------------------------------------------------------------------- */

/* A simple model; expects() returns the token predicted after n tokens x, or -1 if all tokens are
 * equally likely. */
typedef struct toy toy;
struct toy {
    lra_responder base;
    int32_t (*expects)(const toy *m, const int32_t *x, int64_t n);
    int64_t k;
    int64_t longest, shortest; /* largest and smallest length of the requests received */
};

/* k-gram model: a function of exactly the last k tokens. */
static int32_t gram(const toy *m, const int32_t *x, int64_t n)
{
    int32_t sum = 3;
    if (n < m->k) return -1;
    for (int64_t i = n - m->k; i < n; i++) sum += (int32_t)(i - n + m->k + 1) * x[i];
    return sum % WORDS;
}

static int32_t copy(const toy *m, const int32_t *x, int64_t n)
{
    return n < m->k ? -1 : x[n - m->k];
}

static int32_t nothing(const toy *m, const int32_t *x, int64_t n)
{
    (void)m, (void)x, (void)n;
    return -1;
}

/* The same as gram() after a bos token; without it there is no prediction. */
static int32_t gram_with_bos(const toy *m, const int32_t *x, int64_t n)
{
    return x[0] == BOS ? gram(m, x + 1, n - 1) : -1;
}

/* Predicts the token after the last earlier occurrence of the last five tokens, within the last k
 * tokens. */
static int32_t induction(const toy *m, const int32_t *x, int64_t n)
{
    for (int64_t i = n - 6; i >= 0 && i >= n - m->k; i--)
        if (memcmp(x + i, x + n - 5, 5 * sizeof *x) == 0) return x[i + 5];
    return -1;
}

static void logits_of(const toy *m, const int32_t *x, int64_t n, float *to)
{
    int32_t next = m->expects(m, x, n);
    for (int c = 0; c < V; c++)
        to[c] = (float)log(next < 0 ? 1.0 / V : c == next ? sure : (1 - sure) / (V - 1));
}

static int forward(lra_responder *r, const lra_request *q, float *logits, lra_err *e)
{
    toy *m = (toy *)r;
    (void)e;
    if (q->T > m->longest) m->longest = q->T;
    for (int64_t i = 0; i < q->B; i++) {
        if (!m->shortest || q->length[i] < m->shortest) m->shortest = q->length[i];
        logits_of(m, q->token + i * q->T, q->length[i], logits + i * V);
    }
    return 0;
}

static int logprob(lra_responder *r, const lra_request *q, const int32_t *target, float *out,
                   lra_err *e)
{
    float logits[V];
    (void)e;
    for (int64_t i = 0; i < q->B; i++)
        for (int64_t t = 0; t < q->length[i]; t++) {
            if (target[i * q->T + t] < 0) continue;
            logits_of((const toy *)r, q->token + i * q->T, t + 1, logits);
            out[i * q->T + t] = (float)-lra_token_loss(V, logits, target[i * q->T + t]);
        }
    return 0;
}

static void close_toy(lra_responder *r)
{
    (void)r;
}

static const lra_responder_functions functions = {
    .forward = forward, .logprob = logprob, .close = close_toy};

static toy model_of(int32_t (*expects)(const toy *, const int32_t *, int64_t), int64_t k)
{
    return (toy){.base = {.is = &functions,
                          .facts = {.answers = LRA_ANSWERS_FORWARD | LRA_ANSWERS_LOGPROB,
                                    .model = "toy",
                                    .classes = V,
                                    .vocab = V,
                                    .causal = true,
                                    .next = true}},
                 .expects = expects,
                 .k = k};
}

/* ---- data ------------------------------------------------------------------------------------ */

static const lra_task task = {
    .name = "toy", .goal = LRA_GOAL_CLASS, .n_classes = 2, .input.vocab = V};

/* Makes rows in which the prediction of model m is right with probability `sure`. ragged: lengths
 * are 2 to T; bos: rows begin with BOS. */
static lra_dataset *rows_of(const toy *m, bool ragged, bool bos)
{
    lra_dataset *d = lra_dataset_new(&task);
    lra_rng rng = lra_rng_new(3, 1, 0);
    d->config = lra_config_new();
    for (int s = 0; s < LRA_N_SPLITS; s++)
        for (int i = 0; i < ROWS; i++) {
            int32_t x[LONG];
            uint16_t token[LONG];
            int64_t n = ragged ? 2 + lra_rng_below(&rng, (uint32_t)T - 1) : T;
            for (int64_t t = 0; t < n; t++) {
                int32_t next = t == 0 ? -1 : m->expects(m, x, t);
                bool drawn = next < 0 || lra_rng_u01(&rng) > sure;
                x[t] = drawn ? (int32_t)lra_rng_below(&rng, WORDS) : next;
                if (bos && t == 0) x[0] = BOS;
                token[t] = (uint16_t)x[t];
            }
            lra_sequences_add_tokens(&d->split[s], token, n, 0);
        }
    d->max_length = d->longest = T;
    return d;
}

/* ---- measurements ---------------------------------------------------------------------------- */

static lra_result result;

static lra_influence influence_of(toy *m, lra_dataset *d)
{
    static char empty[] = "";
    lra_origin origin = {0};
    result = (lra_result){.task = empty,
                          .model = empty,
                          .preset = empty,
                          .precision = empty,
                          .fingerprint = empty,
                          .run = empty,
                          .config = empty,
                          .reach = -1,
                          .n = ROWS};
    lra_influence p = {.result = &result, .subject = lra_subject_of(&m->base, d, "toy", 7, 0)};
    p.steps.bar = lra_progress_new("toy", 1);
    p.out = lra_probe_result_new("influence", &result, &origin);
    return p;
}

static void close_influence(lra_influence *p)
{
    lra_progress_free(p->steps.bar);
    lra_probe_result_free(p->out);
}

static lra_influence measure(toy *m, lra_dataset *d, const lra_influence_part *part)
{
    lra_err e = {{0}};
    lra_influence p = influence_of(m, d);
    assert_null(lra_part_undefined(part, &p));
    OK(lra_part_measure(part, &p, 0, &e));
    return p;
}

static const lra_measurement *value_of(const lra_influence *p, const char *unit, const char *id)
{
    const lra_measurement *f = lra_probe_measurement(lra_probe_unit_find(p->out, unit), id);
    assert_non_null(f);
    return f;
}

static const lra_probe_array *array_of(const lra_influence *p, const char *unit, const char *name)
{
    const lra_probe_array *a = lra_probe_array_find(lra_probe_unit_find(p->out, unit), name);
    assert_non_null(a);
    return a;
}

static double bits(double p)
{
    return -log2(p);
}

/* ---- tests ----------------------------------------------------------------------------------- */

/* Checks that the curve is constant from k on, that all thresholds are k, and that the loss below k
 * is that without context. */
static void check_context(toy m, const lra_dataset *d)
{
    lra_influence p = measure(&m, (lra_dataset *)(uintptr_t)d, &lra_part_context_curve);
    const lra_probe_array *x = array_of(&p, "context-curve", "x"),
                          *loss = array_of(&p, "context-curve", "loss"),
                          *kl = array_of(&p, "context-curve", "kl");
    int64_t n = x->dims[0];
    double full = (double)loss->value[3 * (n - 1)];
    assert_true(full > bits(sure) && full < 1.5);
    for (int64_t i = 0; i < n; i++) {
        bool enough = (double)x->value[i] >= (double)m.k;
        double expected = enough ? full : bits(1.0 / V);
        assert_true(fabs((double)loss->value[3 * i] - expected) < 1e-5);
        assert_true(enough ? kl->value[3 * i] == 0 : kl->value[3 * i] > 1);
    }
    static const char *const ids[] = {"context.c50", "context.c90", "context.c95", "context.c99"};
    for (int i = 0; i < 4; i++) {
        const lra_measurement *f = value_of(&p, "context-curve", ids[i]);
        if (f->value != (double)m.k) fail_msg("%s is %g, expected %d", ids[i], f->value, (int)m.k);
        assert_true(f->lo == f->value && f->hi == f->value && !(f->flags & LRA_CENSORED));
    }
    close_influence(&p);
}

TEST(context_of_a_k_gram)
{
    for (int64_t k = 1; k <= 6; k++) {
        toy m = model_of(gram, k);
        lra_dataset *d = rows_of(&m, false, false);
        check_context(m, d);
        lra_dataset_free(d);
    }
}

TEST(context_of_a_copy)
{
    static const int64_t distance[] = {1, 5, 8, 13};
    for (int i = 0; i < 4; i++) {
        toy m = model_of(copy, distance[i]);
        lra_dataset *d = rows_of(&m, false, false);
        check_context(m, d);
        lra_dataset_free(d);
    }
}

/* A bos token remains at the beginning of every context and is not counted. */
TEST(context_after_bos)
{
    toy m = model_of(gram_with_bos, 3), forgets = m;
    m.base.facts.has_bos = true, m.base.facts.bos = BOS;
    lra_dataset *d = rows_of(&m, false, true);
    check_context(m, d);
    /* the same model, which does not declare its bos token */
    lra_influence p = measure(&forgets, d, &lra_part_context_curve);
    assert_true(value_of(&p, "context-curve", "context.c50")->value > 3);
    close_influence(&p);
    lra_dataset_free(d);
}

/* Rows that are too short are left out and counted; contexts never extend beyond the start of a
 * row. */
TEST(ragged_rows)
{
    lra_err e = {{0}};
    toy m = model_of(gram, 2);
    lra_dataset *d = rows_of(&m, true, false);
    check_context(m, d);
    lra_influence p = measure(&m, d, &lra_part_context_curve);
    const lra_sequences *test = &d->split[LRA_TEST_SPLIT];
    double longest = 0, context = array_of(&p, "context-curve", "x")->value[0];
    const lra_probe_array *x = array_of(&p, "context-curve", "x");
    for (int64_t i = 0; i + 1 < x->dims[0]; i++) context = fmax(context, (double)x->value[i]);
    int64_t out = 0;
    for (int64_t i = 0; i < ROWS; i++) {
        double before = (double)lra_sequences_length(test, i) - 1;
        out += before < context, longest = fmax(longest, before);
    }
    const lra_measurement *f = value_of(&p, "context-curve", "loss.full");
    assert_true(out > 5 && out < ROWS / 2);
    assert_int_equal(f->undefined, out);
    assert_int_equal(f->examples, ROWS - out);
    assert_true((double)x->value[x->dims[0] - 1] == longest);
    assert_true(m.longest <= (int64_t)longest && m.longest > (int64_t)context);
    assert_int_equal(m.shortest, 1);
    close_influence(&p);
    lra_documents none = {0};
    lra_subject s = lra_subject_of(&m.base, d, "toy", 7, 0);
    OK(lra_documents_load(&s, 5, &none, &e));
    assert_int_equal(none.n, 5);
    lra_documents_free(&none);
    lra_dataset_free(d);
}

/* For a model without predictions the thresholds of the context are undefined. */
TEST(uniform_model)
{
    toy m = model_of(nothing, 0), of_data = model_of(gram, 2);
    lra_dataset *d = rows_of(&of_data, false, false);
    lra_influence p = measure(&m, d, &lra_part_context_curve);
    assert_true(isnan(value_of(&p, "context-curve", "context.c95")->value));
    assert_true(isnan(value_of(&p, "context-curve", "context.c99")->lo));
    const lra_measurement *full = value_of(&p, "context-curve", "loss.full");
    assert_true(fabs(full->value - bits(1.0 / V)) < 1e-6 && full->lo <= full->value);
    assert_true(value_of(&p, "context-curve.key", "key.share.16")->value == 0);
    assert_null(lra_probe_array_find(lra_probe_unit_find(p.out, "context-curve.key"), "token"));
    close_influence(&p);
    lra_dataset_free(d);
}

/* With fewer than k tokens of context, key tokens are exactly the targets that the k-gram model
 * predicts; with k tokens or more there are none. */
TEST(key_tokens)
{
    toy m = model_of(gram, 4);
    lra_dataset *d = rows_of(&m, false, false);
    const lra_sequences *test = &d->split[LRA_TEST_SPLIT];
    for (int64_t c = 2; c <= 4; c += 2) {
        lra_err e = {{0}};
        char number[8];
        lra_options *o;
        snprintf(number, sizeof number, "%d", (int)c);
        const lra_option *const tables[] = {lra_part_context_curve_options, NULL};
        const lra_command command = {.program = "test", .tables = tables};
        char option[] = "--key-context", *argv[] = {option, number};
        o = lra_options_parse(&command, 2, argv, &e);
        NOT_NULL(o);
        lra_influence p = influence_of(&m, d);
        p.options = o;
        OK(lra_part_measure(&lra_part_context_curve, &p, 0, &e));
        const lra_probe_unit *u = lra_probe_unit_find(p.out, "context-curve.key");
        const lra_probe_array *list = lra_probe_array_find(u, "token");
        assert_true(lra_probe_array_find(u, "length")->value[0] == (float)c);
        assert_int_equal(list != NULL, c < 4);
        double n = (double)array_of(&p, "context-curve", "targets")->value[0], share = 0;
        for (int64_t i = 0; list && i < list->dims[0]; i++) {
            const float *x = list->value + 5 * i;
            int64_t row = (int64_t)x[0], at = (int64_t)x[1];
            int32_t before[LONG];
            for (int64_t t = 0; t < at; t++) before[t] = test->token[test->start[row] + t];
            assert_int_equal((int64_t)x[2], test->token[test->start[row] + at]);
            /* column 2 of a key token is the token itself */
            assert_int_equal((int64_t)x[2], gram(&m, before, at));
            assert_true(fabs((double)x[3] - log(sure)) < 1e-5);
            assert_true(fabs((double)x[4] - log(1.0 / V)) < 1e-5);
            share += 1 / n;
        }
        char *id = lra_format("key.share.%d", (int)c);
        const lra_measurement *f = value_of(&p, "context-curve.key", id);
        /* share of targets that the model predicts correctly, computed from its mean loss */
        double wrong = bits((1 - sure) / (V - 1)), right = bits(sure);
        double full = value_of(&p, "context-curve", "loss.full")->value;
        double expected = c < 4 ? (wrong - full) / (wrong - right) : 0;
        assert_true(fabs(f->value - expected) < 1e-5 && fabs(share - expected) < 1e-5);
        lra_free(id);
        close_influence(&p);
        lra_options_free(o);
    }
    lra_dataset_free(d);
}

/* Losses by position agree with the definition, both with one `logprob` request and with requests
 * for each token. */
TEST(losses_by_position)
{
    toy m = model_of(gram, 3);
    for (int ragged = 0; ragged < 2; ragged++) {
        lra_dataset *d = rows_of(&m, ragged, false);
        const lra_sequences *test = &d->split[LRA_TEST_SPLIT];
        double sum[LONG] = {0}, n[LONG] = {0}, all = 0, rows = 0;
        for (int64_t i = 0; i < ROWS; i++) {
            int32_t x[LONG];
            int64_t size = lra_sequences_length(test, i);
            double own = 0;
            for (int64_t t = 0; t < size; t++) x[t] = test->token[test->start[i] + t];
            for (int64_t u = 1; u < size; u++) {
                int32_t next = gram(&m, x, u);
                double loss = bits(next < 0 ? 1.0 / V : next == x[u] ? sure : (1 - sure) / (V - 1));
                sum[u] += loss, n[u]++, own += loss / ((double)size - 1);
            }
            all += own, rows++;
        }
        for (int with = 1; with >= 0; with--) {
            if (!with) m.base.facts.answers &= ~(uint32_t)LRA_ANSWERS_LOGPROB;
            lra_influence p = measure(&m, d, &lra_part_token_loss);
            const lra_probe_array *x = array_of(&p, "token-loss", "x"),
                                  *loss = array_of(&p, "token-loss", "loss"),
                                  *reached = array_of(&p, "token-loss", "rows");
            for (int64_t b = 0; b < x->dims[0] && with; b++) {
                int64_t at = (int64_t)x->value[b];
                if (at >= 16) break;
                assert_true(fabs((double)loss->value[3 * b] - sum[at] / n[at]) < 1e-5);
                assert_true((double)reached->value[b] == n[at]);
            }
            const lra_measurement *mean = value_of(&p, "token-loss", "loss.mean");
            assert_int_equal(mean->flags & LRA_APPROX, with ? 0 : LRA_APPROX);
            if (with) assert_true(fabs(mean->value - all / rows) < 1e-5);
            assert_true(mean->lo < all / rows && all / rows < mean->hi);
            if (!ragged) assert_true(value_of(&p, "token-loss", "loss.late")->hi < 0);
            close_influence(&p);
        }
        m.base.facts.answers |= LRA_ANSWERS_LOGPROB;
        lra_dataset_free(d);
    }
}

/* A model that copies the token after an earlier occurrence within a window has this window as its
 * retrieval length. */
TEST(retrieval_within_a_window)
{
    static const struct {
        int64_t window;
        double length;
        bool censored;
    } of[] = {{1000, 128, true}, {64, 64, false}, {33, 32, false}};
    T = 160;
    toy uniform = model_of(nothing, 0);
    lra_dataset *d = rows_of(&uniform, false, false);
    for (int i = 0; i < 3; i++) {
        toy m = model_of(induction, of[i].window);
        lra_influence p = measure(&m, d, &lra_part_retrieval);
        const lra_measurement *f = value_of(&p, "retrieval", "retrieval.length");
        if (f->value != of[i].length) fail_msg("%g, expected %g", f->value, of[i].length);
        assert_int_equal((f->flags & LRA_CENSORED) != 0, of[i].censored);
        assert_true(f->lo <= f->value && f->value <= f->hi);
        close_influence(&p);
    }
    lra_influence p = measure(&uniform, d, &lra_part_retrieval);
    assert_true(isnan(value_of(&p, "retrieval", "retrieval.length")->value));
    const lra_measurement *f = value_of(&p, "retrieval", "retrieval.accuracy");
    assert_true(fabs(f->value - f->null[LRA_NULL_UNIFORM]) < 1e-9);
    T = 48;
    close_influence(&p);
    lra_dataset_free(d);
}

/* Models that do not predict the next token have none of these parts. */
TEST(other_models)
{
    toy m = model_of(gram, 1);
    m.base.facts.next = false;
    lra_dataset *d = rows_of(&m, false, false);
    lra_influence p = influence_of(&m, d);
    assert_string_equal(lra_part_undefined(&lra_part_context_curve, &p),
                        "the model does not predict the next token");
    assert_non_null(lra_part_undefined(&lra_part_token_loss, &p));
    assert_non_null(lra_part_undefined(&lra_part_retrieval, &p));
    close_influence(&p);
    lra_dataset_free(d);
}

/* ---- the built-in engine --------------------------------------------------------------------- */

enum { OWN_V = 5, B = 3, L = 6 };

/* Compares logprob() with the losses of forward(), for requests of any shape. */
static void check_logprob(lra_responder *r)
{
    lra_err e = {{0}};
    assert_true(r->facts.next && r->facts.classes == OWN_V);
    assert_true(lra_responder_answers(r, LRA_ANSWERS_LOGPROB));
    int32_t token[B * L], target[B * L], length[B] = {L, 4, 1};
    float out[B * L], logits[B * OWN_V];
    for (int i = 0; i < B * L; i++) token[i] = (i * i + i / 4) % OWN_V, target[i] = -1;
    for (int i = 0; i < B; i++)
        for (int t = 0; t < length[i]; t++)
            if ((i + t) % 3 != 1) target[i * L + t] = (2 * t + i) % OWN_V;
    const lra_request q = {.B = B, .T = L, .towers = 1, .token = token, .length = length};
    OK(r->is->logprob(r, &q, target, out, &e));
    for (int t = 0; t < L; t++) {
        int32_t prefix[B];
        for (int i = 0; i < B; i++) prefix[i] = t < length[i] ? t + 1 : 1;
        lra_request part = q;
        part.length = prefix;
        OK(r->is->forward(r, &part, logits, &e));
        for (int i = 0; i < B; i++) {
            if (t >= length[i] || target[i * L + t] < 0) continue;
            double loss = lra_token_loss(OWN_V, logits + i * OWN_V, target[i * L + t]);
            if (!(fabs((double)out[i * L + t] + loss) < 1e-4))
                fail_msg("%g, expected %g", (double)out[i * L + t], -loss);
        }
    }
}

typedef struct {
    const run *own;
    int fd, rc;
    lra_err e;
} server;

static void *serve_run(void *context)
{
    server *s = context;
    lra_device device = s->own->device;
    lra_responder *r = lra_engine_responder_new(&s->own->spec, &device);
    const lra_wire_shape shape = {OWN_V, 0, 1};
    s->rc = lra_serve_frames(r, &shape, s->fd, s->fd, &s->e);
    lra_responder_close(r);
    return NULL;
}

/* A built-in model, in memory and through the protocol. */
TEST(logprob_of_a_run)
{
    lra_err e = {{0}};
    run own;
    int pair[2];
    pthread_t thread;
    open_run(&own, LRA_GOAL_NEXT, "logprob", 1);
    lra_train_report report = train(&own);
    lra_subject s = subject_of(&own.spec, &own.device);
    check_logprob(s.model);
    close_subject(&s);

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    server serves = {.own = &own, .fd = pair[1]};
    assert_int_equal(pthread_create(&thread, NULL, serve_run, &serves), 0);
    lra_process_options o = {
        .command = lra_model_command_default(),
        .task = {.task = "next", .classes = OWN_V, .vocab = OWN_V, .length = L, .towers = 1},
        .processes = 1,
        .batch = 2};
    o.command.fd = pair[0];
    lra_responder *r = lra_process_responder_open(&o, &e);
    NOT_NULL(r);
    check_logprob(r);
    /* OWN_V is not an id of the vocabulary: the request is rejected */
    int32_t token = 0, length = 1, target = OWN_V;
    float out;
    const lra_request q = {.B = 1, .T = 1, .towers = 1, .token = &token, .length = &length};
    assert_int_not_equal(r->is->logprob(r, &q, &target, &out, &e), 0);
    assert_non_null(strstr(e.msg, "target 5, expected -1 to 4"));
    OK(lra_process_responder_end(r, &e));
    pthread_join(thread, NULL);
    close(pair[0]);
    close(pair[1]);
    if (serves.rc != 0) fail_msg("%s", serves.e.msg);
    lra_train_report_free(&report);
    close_run(&own);
}
