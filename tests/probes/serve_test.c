/* A built-in model that is used through the protocol gives the same results as in memory; the
 * command `serve` does so for each kind of weights. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/os/process.h"
#include "models/training/session.h"
#include "probes/audit/check.h"
#include "probes/audit/process_responder.h"
#include "probes/audit/serve_frames.h"
#include "probes/shared/engine_responder.h"
#include "tests/fixtures/test.h"
#include "tests/fixtures/tiny_group.h"

GROUP(tiny_set_up, tiny_tear_down);
enum { B = 5, T = 22, D = 4 };

static int32_t token[B * T], length[B], position[B];
static float cotangent[B * D];

static lra_request a_request(void)
{
    for (int i = 0; i < B * T; i++) token[i] = 1 + (3 * i + i * i / 5) % 9;
    for (int i = 0; i < B; i++) length[i] = T - 3 * i, position[i] = length[i] / 2;
    for (int i = 0; i < B * D; i++) cotangent[i] = (float)(i % 7) - 3;
    return (lra_request){.B = B, .T = T, .towers = 1, .token = token, .length = length};
}

typedef struct {
    int fd, rc;
    lra_err e;
} server;

static void *serve_tiny(void *context)
{
    server *s = context;
    lra_responder *r = lra_engine_responder_new(&trained.run.spec, &trained.device);
    const lra_network_spec network = lra_session_network(&trained.run.spec);
    const lra_wire_shape shape = {network.vocab, network.channels, 1};
    s->rc = lra_serve_frames(r, &shape, s->fd, s->fd, &s->e);
    lra_responder_close(r);
    return NULL;
}

typedef struct {
    float logits[B * TINY_CLASSES], features[B * T * D], grad[B * T], initial[B * TINY_CLASSES];
} answers;

static void ask(lra_responder *r, answers *a)
{
    lra_err e = {{0}};
    lra_request q = a_request();
    OK(r->is->forward(r, &q, a->logits, &e));
    assert_int_equal(r->facts.classes, TINY_CLASSES);
    OK(r->is->features(r, &q, NULL, a->features, &e));
    assert_int_equal(r->facts.width, D);
    OK(r->is->vjp(r, &q, NULL, position, 1, cotangent, a->grad, &e));
    OK(r->is->reset(r, 1, &e));
    OK(r->is->forward(r, &q, a->initial, &e));
    OK(r->is->restore(r, &e));
}

/* Compares results; those at positions of the padding are undefined. */
static void compare(const float *a, const float *b, int64_t rows, int64_t each, int64_t per)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k < (per ? length[i] * per : each); k++) {
            float x = a[i * each + k], y = b[i * each + k];
            if (!(fabsf(x - y) <= 1e-5F * (1 + fabsf(x))))
                fail_msg("row %d, %d: %g, expected %g", (int)i, (int)k, (double)x, (double)y);
        }
}

static lra_process_options options_of(char *const *argv)
{
    lra_process_options o = {
        .command = lra_model_command_default(),
        .task = {.task = "listops", .classes = TINY_CLASSES, .vocab = 10, .length = T, .towers = 1},
        .processes = 1,
        .batch = 3};
    o.command.argv = argv;
    return o;
}

TEST(answers_equal_those_in_memory)
{
    lra_err e = {{0}};
    static answers expected, got;
    int pair[2];
    pthread_t thread;
    lra_responder *r = lra_engine_responder_new(&trained.run.spec, &trained.device);
    ask(r, &expected);
    lra_responder_close(r);

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    server s = {.fd = pair[1]};
    assert_int_equal(pthread_create(&thread, NULL, serve_tiny, &s), 0);
    lra_process_options o = options_of(NULL);
    o.command.fd = pair[0];
    r = lra_process_responder_open(&o, &e);
    NOT_NULL(r);
    ask(r, &got);
    compare(got.logits, expected.logits, B, TINY_CLASSES, 0);
    compare(got.initial, expected.initial, B, TINY_CLASSES, 0);
    compare(got.features, expected.features, B, T * D, D);
    compare(got.grad, expected.grad, B, T, 1);
    assert_memory_not_equal(got.initial, got.logits, sizeof got.logits);

    /* The check finds no fault except the low accuracy after one epoch. */
    lra_request q = a_request();
    lra_check c;
    lra_check_spec spec = {.examples = &q, .batch = 3, .seed = 1};
    OK(lra_check_model(r, &spec, &c, &e));
    for (int i = 0; i < LRA_N_CHECKS; i++)
        if (c.row[i].outcome == LRA_CHECK_FAILED) {
            lra_check_print(&c, stderr);
            fail_msg("'%s' failed", c.row[i].label);
        }
    assert_int_equal(c.row[LRA_CHECK_gradient].outcome, LRA_CHECK_PASSED);
    lra_check_free(&c);
    OK(lra_process_responder_end(r, &e));
    pthread_join(thread, NULL);
    close(pair[0]);
    close(pair[1]);
    if (s.rc != 0) fail_msg("%s", s.e.msg);
}

static void run(char *const *argv, char **out)
{
    lra_err e = {{0}};
    char *err;
    int status = lra_process_run(argv, NULL, out, &err, &e);
    if (status != 0) fail_msg("exit %d: %s", status, status < 0 ? e.msg : err);
    lra_free(err);
}

static void ask_command(char *program, char *name, char *out, char *weights, float *logits)
{
    lra_err e = {{0}};
    char serve[] = "serve", option[] = "--weights", to[] = "--out";
    char *argv[] = {program, serve, name, to, out, option, weights, NULL};
    lra_process_options o = options_of(argv);
    lra_responder *r = lra_process_responder_open(&o, &e);
    NOT_NULL(r);
    assert_string_equal(r->facts.model, "resconv");
    assert_string_equal(r->facts.weights, weights);
    lra_request q = a_request();
    OK(r->is->forward(r, &q, logits, &e));
    OK(lra_process_responder_end(r, &e));
}

TEST(command)
{
    const char *build = getenv("LRA_BUILD");
    char *program = lra_format("%s/lra-probe", build ? build : "."),
         *out = lra_format("%s/o", folder);
    char train[] = "train", set[] = "--set", a[] = "train=640", b[] = "val=64", c[] = "test=64",
         d[] = "epochs=2", w[] = "width=8", h[] = "hidden=8", l[] = "layers=1", to[] = "--out",
         quiet[] = "-q";
    char *argv[] = {program, train, set, a, set, b, set, c,   set,   d,
                    set,     w,     set, h, set, l, to,  out, quiet, NULL};
    float best[B * TINY_CLASSES], initial[B * TINY_CLASSES], last[B * TINY_CLASSES];
    run(argv, NULL);
    char **names = NULL, *runs = lra_format("%s/runs", out);
    lra_err e;
    assert_int_equal(lra_folder_list(runs, &names, &e), 1);
    char word_best[] = "best", word_initial[] = "initial", word_last[] = "last";
    ask_command(program, names[0], out, word_best, best);
    ask_command(program, names[0], out, word_initial, initial);
    ask_command(program, names[0], out, word_last, last);
    assert_memory_not_equal(best, initial, sizeof best);
    assert_memory_not_equal(last, initial, sizeof best);
    lra_names_free(names, 1);
    lra_free(runs);
    lra_free(out);
    lra_free(program);
}
