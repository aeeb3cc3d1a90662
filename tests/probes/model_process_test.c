/* External models that violate the protocol: each case gives its message, none blocks, and no
 * process remains. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/warnings.h"
#include "kernels/base/os/signals.h"
#include "kernels/base/os/terminal.h"
#include "probes/audit/process_responder.h"
#include "tests/fixtures/stub_responder.h"
#include "tests/fixtures/test.h"

static char *program(void)
{
    const char *build = getenv("LRA_BUILD");
    return lra_format("%s/tests/stub_model", build ? build : ".");
}

static lra_process_options options_of(char *const *argv)
{
    lra_process_options o = {
        .command = lra_model_command_default(),
        .task = {.task = "made-up", .classes = 3, .vocab = 12, .length = 16, .towers = 1},
        .processes = 1,
        .batch = 4};
    o.command.argv = argv;
    return o;
}

/* A request of 6 rows of 16 tokens. */
static int32_t token[6 * 16], length[6];

static lra_request a_request(void)
{
    for (int i = 0; i < 6 * 16; i++) token[i] = (7 * i + i / 5) % 12;
    for (int i = 0; i < 6; i++) length[i] = 16 - 2 * i;
    return (lra_request){.B = 6, .T = 16, .towers = 1, .token = token, .length = length};
}

static int run_forward(const lra_process_options *o, float logits[18], lra_err *e)
{
    lra_responder *r = lra_process_responder_open(o, e);
    if (!r) return LRA_FAILED;
    lra_request q = a_request();
    int rc = r->is->forward(r, &q, logits, e);
    if (rc == 0) return lra_process_responder_end(r, e);
    lra_responder_close(r);
    return rc;
}

/* Runs the stub model with switches (separated by blanks); fails unless `said` is part of the
 * message. */
static void expect(const char *switches, const char *said)
{
    lra_err e = {{0}};
    float logits[18];
    char *path = program(), *words = lra_copy_text(switches), *argv[8] = {path}, *rest = words;
    for (int n = 1; rest && *rest; n++) {
        argv[n] = rest;
        rest = strchr(rest, ' ');
        if (rest) *rest++ = 0;
    }
    lra_process_options o = options_of(argv);
    o.command.bye_limit = o.command.term_limit = 0.2;
    int rc = run_forward(&o, logits, &e);
    assert_int_not_equal(rc, 0);
    if (!strstr(e.msg, said)) fail_msg("%s: '%s' without '%s'", switches, e.msg, said);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child process remains */
    assert_int_equal(errno, ECHILD);
    lra_free(words);
    lra_free(path);
}

TEST(faults_of_the_protocol)
{
    expect("prints",
           "model wrote text to stdout: 'Loading checkpoint...'; stdout is for answers only, "
           "print to stderr");
    expect("echo", "model answered 'hello' with op 'hello', expected 'ready' or 'error'");
    expect("wrong-id", "model answered 'forward' with id 2, expected 1");
    expect("wrong-op", "model answered 'forward' with op 'ready', expected 'result' or 'error'");
    expect("wrong-shape", "answer to 'forward' (id 1): 'logits' is F32 (1,2), expected F32 (4,3)");
    expect("oversized", "at most 4.0 GiB are accepted (--max-frame)");
    expect("bad-image", "model sent no valid message: 'message': the header does not start with");
    expect("version", "LRAX version 2, expected 1");
    expect("flags", "flags 4, expected 0");
    expect("bad-classes", "the model has 7 outputs, the task 'made-up' has 3");
    expect("values",
           "the task has other inputs than the model: tokens or values, one or two documents");
    expect("scored",
           "expected 'forward' among them: log-probabilities of given tokens are not enough");
    expect("early", "'ready' has no 'protocol' in its metadata");
    expect("error", "error code 'tired', expected unsupported, out_of_memory, bad_request");
    expect("internal", "the model failed at 'forward' (id 1): no more today");
}

TEST(ends_of_the_process)
{
    expect("dies",
           "model ended with exit status 3; unanswered: request 'forward' (id 1), in the middle "
           "of its answer; last line of its stderr: 'stub: KeyError: 'x''");
    expect("exits",
           "model ended with exit status 4; unanswered: request 'forward' (id 1); last line of "
           "its stderr: 'stub: done'");
    expect("killed", "model ended with signal 9 (Killed); unanswered: request 'forward' (id 1)");
    expect("no-such-switch",
           "model ended with exit status 2; unanswered: request 'hello' (id 0); last "
           "line of its stderr: 'stub_model: 'no-such-switch' is no switch'");
}

TEST(closed_stdout)
{
    lra_err e = {{0}};
    float logits[18];
    char *path = program(), mode[] = "closes-stdout", *argv[] = {path, mode, NULL};
    lra_process_options o = options_of(argv);
    o.command.exit_limit = 0.1;
    assert_int_not_equal(run_forward(&o, logits, &e), 0);
    assert_string_equal(
        e.msg, "model closed its stdout and did not exit; unanswered: request 'forward' (id 1)");
    lra_free(path);
}

static void expect_timeout(const char *mode, double start, double limit, const char *said)
{
    lra_err e = {{0}};
    float logits[18];
    char *path = program(), *word = lra_copy_text(mode), *argv[] = {path, word, NULL};
    lra_process_options o = options_of(argv);
    o.command.start_limit = start, o.command.limit = limit, o.command.term_limit = 0.2;
    assert_int_not_equal(run_forward(&o, logits, &e), 0);
    if (!strstr(e.msg, said)) fail_msg("%s: '%s' without '%s'", mode, e.msg, said);
    lra_free(word);
    lra_free(path);
}

TEST(time_limits)
{
    expect_timeout(
        "silent", 600, 0.2,
        "model did not answer 'forward' (id 1) within 0.2 s; --model-timeout gives it more");
    expect_timeout("mute", 0.2, 600, "model did not answer 'hello' within 0.2 s of its start; it");
}

TEST(not_a_program)
{
    lra_err e = {{0}};
    float logits[18];
    char name[] = "no-such-program-at-all", *argv[] = {name, NULL};
    lra_process_options o = options_of(argv);
    assert_int_not_equal(run_forward(&o, logits, &e), 0);
    assert_string_equal(e.msg, "'no-such-program-at-all' is not a program (not found in PATH)");
}

/* Checks the warning at the end of a model that has answered all requests. */
static void expect_warning(const char *mode, const char *said)
{
    lra_err e = {{0}};
    lra_text warned = {0};
    float logits[18];
    char *path = program(), *word = lra_copy_text(mode), *argv[] = {path, word, NULL};
    lra_process_options o = options_of(argv);
    if (strcmp(mode, "stubborn") == 0 || strcmp(mode, "stays") == 0) o.command.bye_limit = 0.2;
    if (strcmp(mode, "stubborn") == 0) o.command.term_limit = 0.2;
    lra_text *before = lra_warn_into(&warned);
    int rc = run_forward(&o, logits, &e);
    lra_warn_into(before);
    OK(rc);
    if (!said ? warned.n != 0 : !warned.s || !strstr(warned.s, said))
        fail_msg("%s: '%s' without '%s'", mode, warned.s ? warned.s : "", said ? said : "");
    lra_text_free(&warned);
    lra_free(word);
    lra_free(path);
}

TEST(ends_after_bye)
{
    expect_warning("slow", NULL);
    expect_warning("none", NULL);
    expect_warning("talks-after-bye", "model wrote 8 bytes after 'bye', which has no answer");
    expect_warning("stays", "model did not exit after 'bye' and was ended by SIGTERM");
    expect_warning("stubborn",
                   "model did not exit after 'bye' and SIGTERM and was ended by SIGKILL");
}

/* Waits until a process has ended, or is a zombie that its new parent has not reaped. */
static void wait_gone(long pid)
{
    char *stat = lra_format("/proc/%ld/stat", pid), letter = 'R';
    while (letter != 'Z' && letter != 'X') {
        FILE *f = fopen(stat, "r");
        if (!f) break;
        if (fscanf(f, "%*d %*s %c", &letter) != 1) letter = 'X';
        fclose(f);
    }
    lra_free(stat);
}

/* Runs in a child process: sends a request that is never answered. */
static void wait_for_silence(int to)
{
    lra_err e = {{0}};
    float logits[18];
    char *path = program(), a[] = "silent", b[] = "stubborn", c[] = "lines";
    char *argv[] = {path, a, b, c, NULL};
    lra_process_options o = options_of(argv);
    o.command.term_limit = 0.2;
    dup2(to, 2);
    lra_signals_init();
    int rc = run_forward(&o, logits, &e);
    fprintf(stderr, "%s\n", e.msg);
    lra_free(path);
    _exit(rc == 0 ? 0 : 7);
}

/* Sends a signal `n` times to a process that waits for the model's answer; the model must end as
 * well. */
static void interrupt(int number, int n, int expected_status)
{
    int to[2], status = 0;
    assert_int_equal(pipe(to), 0);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) wait_for_silence(to[1]);
    close(to[1]);
    FILE *f = fdopen(to[0], "r");
    char line[256];
    long model = 0;
    while (model == 0 && fgets(line, sizeof line, f)) sscanf(line, "model: pid %ld", &model);
    assert_true(model > 0);
    for (int i = 0; i < n; i++) {
        kill(pid, number);
        if (waitpid(pid, &status, WNOHANG) == pid) n = -1;
    }
    if (n >= 0) assert_int_equal(waitpid(pid, &status, 0), pid);
    if (expected_status >= 0) assert_int_equal(WEXITSTATUS(status), expected_status);
    wait_gone(model);
    fclose(f);
}

TEST(signals_end_the_model)
{
    interrupt(SIGTERM, 1, 7);
    interrupt(SIGHUP, 1, 7);
    interrupt(SIGINT, 1, 7);
    interrupt(SIGINT, 1000, -1); /* the second signal ends the program at once */
}

/* A process that the model has started in its group ends with the model. */
TEST(children_of_the_model_end)
{
    lra_err e = {{0}};
    char *path = program(), mode[] = "child", *argv[] = {path, mode, NULL};
    lra_model_command c = lra_model_command_default();
    c.argv = argv;
    lra_model_process *p = lra_model_process_start(&c, 0, 1, &e);
    NOT_NULL(p);
    lra_config *meta = lra_config_new();
    lra_model_task task = {.task = "x", .classes = 3, .vocab = 12, .length = 4, .towers = 1};
    lra_hello_meta(&task, meta);
    lra_model_exchange x = {.op = "hello", .slot = -1};
    x.frame = lra_frame_write("hello", 0, meta, 0, NULL, &x.n, &e);
    OK(lra_model_exchange_all(&p, 1, &x, 1, &e));
    long pid = 0;
    /* waits until the line with the pid arrives on stderr */
    for (const char *at = lra_model_process_stderr(p); pid == 0;) {
        if (sscanf(at, "child %ld", &pid) == 1 && strchr(at, '\n')) break;
        pid = 0;
        x.id++;
        lra_message_free(&x.answer);
        lra_free_large((char *)x.frame);
        x.frame = lra_frame_write("hello", x.id, meta, 0, NULL, &x.n, &e);
        OK(lra_model_exchange_all(&p, 1, &x, 1, &e));
        at = lra_model_process_stderr(p);
    }
    assert_int_equal(kill((pid_t)pid, 0), 0);
    lra_model_process_bye(p, 9);
    /* the process was killed; its new parent may not have reaped it yet */
    wait_gone(pid);
    lra_message_free(&x.answer);
    lra_free_large((char *)x.frame);
    lra_config_free(meta);
    lra_free(path);
}

/* 1 MiB of stderr before the first response does not block the model, and the last 64 KiB are
 * kept. */
TEST(stderr_is_read_while_waiting)
{
    lra_err e = {{0}};
    char *path = program(), mode[] = "chatty", *argv[] = {path, mode, NULL};
    lra_process_options o = options_of(argv);
    float logits[18];
    lra_terminal_init(LRA_LOG_QUIET);
    OK(run_forward(&o, logits, &e));
    lra_terminal_init(LRA_LOG_NORMAL);
    lra_free(path);
}

/* A connected socket instead of a program: the model is in the parent process, as when called from
 * Python. */
TEST(connected)
{
    lra_err e = {{0}};
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        char *path = program();
        dup2(pair[1], 0);
        dup2(pair[1], 1);
        close(pair[0]);
        close(pair[1]);
        execl(path, path, (char *)NULL);
        _exit(127);
    }
    close(pair[1]);
    lra_process_options o = options_of(NULL);
    o.command.fd = pair[0];
    float logits[18], expected[18];
    OK(run_forward(&o, logits, &e));
    close(pair[0]);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    stub_spec s = stub_spec_default();
    lra_responder *r = stub_responder_new(&s);
    lra_request q = a_request();
    OK(r->is->forward(r, &q, expected, &e));
    assert_memory_equal(logits, expected, sizeof logits);
    lra_responder_close(r);
}
