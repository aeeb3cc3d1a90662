/* Child processes without a shell, signals, and what the machine has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernels/base/mem.h"
#include "kernels/base/process.h"

static lra_err err;

static void a_program_is_fed_and_heard(void **state)
{
    (void)state;
    char *argv[] = {"sh", "-c", "cat; echo aside >&2; exit 3", NULL}, *out, *aside;
    assert_int_equal(lra_process_run(argv, "to the child\n", &out, &aside, &err), 3);
    assert_string_equal(out, "to the child\n");
    assert_string_equal(aside, "aside\n");
    lra_free(out);
    lra_free(aside);
}

/* More than any pipe holds, both ways at once: neither side may wait for the other. */
static void long_conversations_do_not_block(void **state)
{
    (void)state;
    enum { N = 1000000 };
    char *argv[] = {"cat", NULL}, *out;
    char *input = lra_alloc(N + 1);
    memset(input, 'x', N);
    assert_int_equal(lra_process_run(argv, input, &out, NULL, &err), 0);
    assert_int_equal(strlen(out), N);
    lra_free(input);
    lra_free(out);
}

static void a_child_that_does_not_listen_is_no_failure(void **state)
{
    (void)state;
    enum { N = 1000000 };
    char *argv[] = {"sh", "-c", "exec 0<&-; echo done", NULL}, *out;
    char *input = lra_alloc(N + 1);
    memset(input, 'x', N);
    assert_int_equal(lra_process_run(argv, input, &out, NULL, &err), 0);
    assert_string_equal(out, "done\n");
    lra_free(input);
    lra_free(out);
}

static void arguments_meet_no_shell(void **state)
{
    (void)state;
    char *argv[] = {"printf", "%s|", "a b", "$HOME", "*", "", NULL}, *out;
    assert_int_equal(lra_process_run(argv, NULL, &out, NULL, &err), 0);
    assert_string_equal(out, "a b|$HOME|*||");
    lra_free(out);
}

static void a_missing_program_is_named(void **state)
{
    (void)state;
    char *argv[] = {"lra-no-such-program", NULL};
    assert_int_equal(lra_process_run(argv, NULL, NULL, NULL, &err), -1);
    assert_string_equal(err.msg, "'lra-no-such-program' is not installed");
    assert_false(lra_process_found("lra-no-such-program"));
    assert_true(lra_process_found("sh"));
    assert_true(lra_process_found("/bin/sh"));
}

static void a_killed_child_says_by_what(void **state)
{
    (void)state;
    char *argv[] = {"sleep", "60", NULL};
    lra_process p;
    assert_int_equal(lra_process_start(&p, argv, LRA_QUIET_OUT, &err), 0);
    lra_process_signal(&p, SIGTERM);
    assert_int_equal(lra_process_wait(&p, &err), 128 + SIGTERM);
    assert_int_equal(p.pid, 0);
}

static void any_child_is_waited_for(void **state)
{
    (void)state;
    char *slow[] = {"sleep", "60", NULL}, *fast[] = {"sh", "-c", "exit 4", NULL};
    lra_process p[3] = {{0, -1, -1}, {0, -1, -1}, {0, -1, -1}};
    int status;
    assert_int_equal(lra_process_start(&p[0], slow, 0, &err), 0);
    assert_int_equal(lra_process_start(&p[2], fast, 0, &err), 0);
    assert_int_equal(lra_process_wait_any(p, 3, &status, &err), 2);
    assert_int_equal(status, 4);
    lra_process_signal(&p[0], SIGKILL);
    assert_int_equal(lra_process_wait_any(p, 3, &status, &err), 0);
    assert_int_equal(status, 128 + SIGKILL);
    assert_int_equal(lra_process_wait_any(p, 3, &status, &err), -1);
}

/* In a child of this test: a signal is noted; a second SIGINT ends the process. */
static int status_after(int first, int second)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        lra_signals_init();
        raise(SIGPIPE);
        if (lra_stop_signal() != 0) _exit(1);
        raise(first);
        if (lra_stop_signal() != first) _exit(2);
        raise(second);
        _exit(lra_stop_signal() == second ? 0 : 3);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void signals_ask_and_the_second_interrupt_ends(void **state)
{
    (void)state;
    assert_int_equal(status_after(SIGTERM, SIGUSR1), 0);
    assert_int_equal(status_after(SIGUSR1, SIGINT), 0);
    int status = status_after(SIGINT, SIGINT);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGINT);
}

/* The parent alone is told to stop, while it waits. */
static void a_request_to_stop_reaches_the_children(void **state)
{
    (void)state;
    int status;
    pid_t parent = fork();
    if (parent == 0) {
        char *slow[] = {"sleep", "60", NULL};
        lra_process p;
        lra_signals_init();
        if (lra_process_start(&p, slow, 0, &err) != 0) _exit(1);
        pid_t self = getpid();
        if (fork() == 0) { /* tells it until it is gone */
            for (int i = 0; i < 100 && getppid() == self; i++) {
                kill(self, SIGTERM);
                struct timespec t = {0, 50000000};
                nanosleep(&t, NULL);
            }
            _exit(0);
        }
        int i = lra_process_wait_any(&p, 1, &status, &err);
        _exit(i == 0 && status == 128 + SIGTERM && lra_stop_signal() == SIGTERM ? 0 : 2);
    }
    assert_int_equal(waitpid(parent, &status, 0), parent);
    assert_int_equal(status, 0);
}

static void the_machine_is_described(void **state)
{
    (void)state;
    char *self = lra_self_path();
    assert_non_null(strstr(self, "process_test"));
    lra_free(self);
    assert_true(lra_cpu_count() >= 1);
    assert_true(lra_cpu_count() <= sysconf(_SC_NPROCESSORS_CONF));
    assert_true(lra_memory_free() > 1e6);
    assert_true(lra_memory_peak() > 1e5);
    assert_true(lra_memory_within(1e9, "max\n", "5000\n") == 1e9);
    assert_true(lra_memory_within(1e9, "", "") == 1e9);
    assert_true(lra_memory_within(1e9, "600000000\n", "100000000\n") == 5e8);
    assert_true(lra_memory_within(1e9, "9223372036854771712\n", "100000000\n") == 1e9);
    assert_true(lra_memory_within(1e9, "100\n", "200\n") == 1);
    assert_true(lra_memory_within(0, "600\n", "100\n") == 500);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_is_fed_and_heard),
        cmocka_unit_test(long_conversations_do_not_block),
        cmocka_unit_test(a_child_that_does_not_listen_is_no_failure),
        cmocka_unit_test(arguments_meet_no_shell),
        cmocka_unit_test(a_missing_program_is_named),
        cmocka_unit_test(a_killed_child_says_by_what),
        cmocka_unit_test(any_child_is_waited_for),
        cmocka_unit_test(signals_ask_and_the_second_interrupt_ends),
        cmocka_unit_test(a_request_to_stop_reaches_the_children),
        cmocka_unit_test(the_machine_is_described),
    };
    return cmocka_run_group_tests_name("process", tests, NULL, NULL);
}
