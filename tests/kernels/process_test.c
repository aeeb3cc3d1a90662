/* Child processes without a shell, signals, and properties of the machine. */
#include "tests/fixtures/test.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernels/base/os/executable.h"
#include "kernels/base/os/file.h"
#include "kernels/base/os/machine.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/os/process.h"
#include "kernels/base/os/signals.h"

static lra_err err;

TEST(a_program_is_fed_and_heard)
{
    char *argv[] = {"sh", "-c", "cat; echo aside >&2; exit 3", NULL}, *out, *aside;
    assert_int_equal(lra_process_run(argv, "to the child\n", &out, &aside, &err), 3);
    assert_string_equal(out, "to the child\n");
    assert_string_equal(aside, "aside\n");
    lra_free(out);
    lra_free(aside);
}

/* Transfers more bytes than a pipe holds in both directions at the same time: neither side may wait
 * for the other. */
TEST(long_conversations_do_not_block)
{
    enum { N = 1000000 };
    char *argv[] = {"cat", NULL}, *out;
    char *input = lra_alloc(N + 1);
    memset(input, 'x', N);
    assert_int_equal(lra_process_run(argv, input, &out, NULL, &err), 0);
    assert_int_equal(strlen(out), N);
    lra_free(input);
    lra_free(out);
}

TEST(a_child_that_does_not_listen_is_no_failure)
{
    enum { N = 1000000 };
    char *argv[] = {"sh", "-c", "exec 0<&-; echo done", NULL}, *out;
    char *input = lra_alloc(N + 1);
    memset(input, 'x', N);
    assert_int_equal(lra_process_run(argv, input, &out, NULL, &err), 0);
    assert_string_equal(out, "done\n");
    lra_free(input);
    lra_free(out);
}

TEST(arguments_meet_no_shell)
{
    char *argv[] = {"printf", "%s|", "a b", "$HOME", "*", "", NULL}, *out;
    assert_int_equal(lra_process_run(argv, NULL, &out, NULL, &err), 0);
    assert_string_equal(out, "a b|$HOME|*||");
    lra_free(out);
}

/* A child with binary output in another working folder; no more bytes are read than requested. */
TEST(a_child_in_a_folder)
{
    char *argv[] = {"sh", "-c", "pwd; printf 'a\\0b'", NULL};
    lra_text out = {0};
    assert_int_equal(lra_process_run_in("/", argv, 5, &out, NULL, &err), 0);
    assert_int_equal(out.n, 5);
    assert_memory_equal(out.s, "/\na\0b", 5);
    lra_text_free(&out);
    assert_int_equal(lra_process_run_in("/", argv, 4, &out, NULL, &err), -1);
    assert_string_equal(err.msg, "'sh' wrote more than 4 bytes");
    lra_text_free(&out);
    assert_int_equal(lra_process_run_in("/no-such-folder", argv, 5, &out, NULL, &err), 126);
    lra_text_free(&out);
}

static void make_program(const char *path, const char *says)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "#!/bin/sh\necho %s\n", says);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(path, 0755), 0);
}

/* The program is searched before the child enters its folder: a file of that name in the folder is
 * not started, whatever PATH contains. */
TEST(a_planted_program_is_not_started)
{
    static const char *const paths[] = {":%s", "%s:", ".:%s", "bin:%s", "%s"};
    char folder[] = "/tmp/lra-process-XXXXXX", *out_of_here = getcwd(NULL, 0);
    char *before = lra_copy_text(getenv("PATH"));
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    char *good = lra_format("%s/good", folder), *results = lra_format("%s/results", folder);
    assert_int_equal(mkdir(good, 0755) | mkdir(results, 0755) | mkdir("results/bin", 0755), 0);
    make_program("good/lra-drawer", "good");
    make_program("results/lra-drawer", "planted");
    make_program("results/bin/lra-drawer", "planted");
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char *argv[] = {"lra-drawer", NULL}, *path = lra_format(paths[i], good);
        lra_text out = {0};
        setenv("PATH", path, 1);
        int status = lra_process_run_in(results, argv, 100, &out, NULL, &err);
        setenv("PATH", before, 1);
        assert_int_equal(status, 0);
        assert_string_equal(out.s, "good\n");
        lra_text_free(&out);
        lra_free(path);
    }
    /* Empty elements of PATH are skipped; relative ones refer to the working directory. */
    assert_int_equal(chdir("results"), 0);
    setenv("PATH", "::", 1);
    char *none = lra_process_find("lra-drawer");
    setenv("PATH", "bin", 1);
    char *relative = lra_process_find("lra-drawer");
    setenv("PATH", before, 1);
    assert_null(none);
    assert_non_null(relative);
    assert_int_equal(*relative, '/');
    lra_free(relative);
    assert_int_equal(chdir(out_of_here), 0);
    char *argv[] = {"rm", "-r", folder, NULL};
    assert_int_equal(lra_process_run(argv, NULL, NULL, NULL, &err), 0);
    free(out_of_here);
    lra_free(before);
    lra_free(good);
    lra_free(results);
}

TEST(a_missing_program_is_named)
{
    char *argv[] = {"lra-no-such-program", NULL};
    assert_int_equal(lra_process_run(argv, NULL, NULL, NULL, &err), -1);
    assert_string_equal(err.msg, "'lra-no-such-program' is not installed");
    char *sh = lra_process_find("sh"), *path = lra_process_find("/bin/sh");
    assert_null(lra_process_find("lra-no-such-program"));
    assert_non_null(sh);
    assert_string_equal(path, "/bin/sh");
    lra_free(sh);
    lra_free(path);
}

TEST(a_killed_child_says_by_what)
{
    char *argv[] = {"sleep", "60", NULL};
    lra_process p;
    assert_int_equal(lra_process_start(&p, argv, LRA_QUIET_OUT, &err), 0);
    lra_process_signal(&p, SIGTERM);
    assert_int_equal(lra_process_wait(&p, &err), 128 + SIGTERM);
    assert_int_equal(p.pid, 0);
}

TEST(any_child_is_waited_for)
{
    char *slow[] = {"sleep", "60", NULL}, *fast[] = {"sh", "-c", "exit 4", NULL};
    lra_process p[3] = {{0, -1, -1}, {0, -1, -1}, {0, -1, -1}};
    int status;
    assert_int_equal(lra_process_start(&p[0], slow, 0, &err), 0);
    assert_int_equal(lra_process_start(&p[2], fast, 0, &err), 0);
    assert_int_equal(lra_process_wait_any(p, 3, -1, &status, &err), 2);
    assert_int_equal(status, 4);
    /* returns 3, the number of children: none has ended */
    assert_int_equal(lra_process_wait_any(p, 3, 0.01, &status, &err), 3);
    lra_process_signal(&p[0], SIGKILL);
    assert_int_equal(lra_process_wait_any(p, 3, 60, &status, &err), 0);
    assert_int_equal(status, 128 + SIGKILL);
    assert_int_equal(lra_process_wait_any(p, 3, -1, &status, &err), -1);
}

/* Runs a child that receives two signals: the first is recorded; a second SIGINT ends the process.
 * Returns its status. */
static int status_after(int first, int second)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        lra_signals_init();
        lra_signals_hold();
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

TEST(signals_ask_and_the_second_interrupt_ends)
{
    assert_int_equal(status_after(SIGTERM, SIGUSR1), 0);
    assert_int_equal(status_after(SIGUSR1, SIGINT), 0);
    int status = status_after(SIGINT, SIGINT);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGINT);
}

/* Sends a stop signal to this process alone while it waits for `seconds`. */
static void stop_one_that_waits(double seconds)
{
    int status;
    pid_t parent = fork();
    if (parent == 0) {
        char *slow[] = {"sleep", "60", NULL};
        lra_process p;
        lra_signals_init();
        lra_signals_hold();
        if (lra_process_start(&p, slow, 0, &err) != 0) _exit(1);
        pid_t self = getpid();
        if (fork() == 0) { /* sends the signal until the process has ended */
            for (int i = 0; i < 100 && getppid() == self; i++) {
                kill(self, SIGTERM);
                struct timespec t = {0, 50000000};
                nanosleep(&t, NULL);
            }
            _exit(0);
        }
        int i = lra_process_wait_any(&p, 1, seconds, &status, &err);
        _exit(i == 0 && status == 128 + SIGTERM && lra_stop_signal() == SIGTERM ? 0 : 2);
    }
    assert_int_equal(waitpid(parent, &status, 0), parent);
    assert_int_equal(status, 0);
}

TEST(a_request_to_stop_reaches_the_children)
{
    stop_one_that_waits(-1);
    stop_one_that_waits(60);
}

/* Waits until all processes that have the other end of a pipe open have ended; fails if some
 * continue. */
static void all_are_gone(int from)
{
    char byte;
    struct pollfd p = {from, POLLIN, 0};
    assert_int_equal(poll(&p, 1, 20000), 1);
    assert_int_equal(read(from, &byte, 1), 0);
    close(from);
}

/* A child that has the same pipe open as its parent ends with the parent. */
TEST(children_end_with_their_parent)
{
    static const int ends[] = {SIGKILL, SIGHUP, SIGTERM};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        int held[2], status;
        assert_int_equal(pipe(held), 0);
        pid_t parent = fork();
        if (parent == 0) {
            char *slow[] = {"sleep", "60", NULL};
            lra_process p;
            close(held[0]);
            lra_signals_init();
            if (lra_process_start(&p, slow, 0, &err) != 0) _exit(1);
            raise(ends[i]);
            _exit(2);
        }
        close(held[1]);
        assert_int_equal(waitpid(parent, &status, 0), parent);
        assert_int_equal(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status),
                         ends[i] == SIGKILL ? 128 + SIGKILL : 130);
        all_are_gone(held[0]);
    }
}

/* nohup has an effect: SIGHUP remains ignored. */
TEST(an_ignored_hangup_stays_ignored)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGHUP, SIG_IGN);
        lra_signals_init();
        raise(SIGHUP);
        _exit(lra_stop_signal());
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* If no code waits for a safe point, a signal ends the program at once, and the file that was being
 * written is removed. */
TEST(a_signal_leaves_nothing_half_written)
{
    char folder[] = "/tmp/lra-process-XXXXXX";
    int status;
    assert_non_null(mkdtemp(folder));
    char *path = lra_format("%s/file", folder);
    pid_t pid = fork();
    if (pid == 0) {
        lra_signals_init();
        lra_file *w[3];
        for (int i = 0; i < 3; i++) w[i] = lra_file_create(path, &err);
        fputs("half", lra_file_stream(w[0]));
        if (lra_file_commit(w[1], &err) != 0) _exit(1); /* completes the second file */
        raise(SIGTERM);
        _exit(2);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WEXITSTATUS(status), 130);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
    lra_free(path);
}

/* Another program replaces the file of the program that is running. */
TEST(the_program_starts_itself_again_without_its_file)
{
    char folder[] = "/tmp/lra-process-XXXXXX", *out = NULL;
    assert_non_null(mkdtemp(folder));
    char *copy = lra_format("%s/program", folder);
    char *make[] = {"cp", "/proc/self/exe", copy, NULL}, *start[] = {copy, "again", copy, NULL};
    make[1] = lra_format("/proc/%ld/exe", (long)getpid());
    assert_int_equal(lra_process_run(make, NULL, NULL, NULL, &err), 0);
    assert_int_equal(lra_process_run(start, NULL, &out, NULL, &err), 0);
    assert_string_equal(out, "once more\n");
    assert_int_equal(rmdir(folder), 0);
    lra_free(out);
    lra_free(make[1]);
    lra_free(copy);
}

/* Program that the test above starts: it removes its own file and then starts itself. */
static int start_again(const char *file)
{
    char *argv[] = {"anything", "say", NULL};
    lra_process p;
    if (unlink(file) != 0 || lra_process_start(&p, argv, LRA_SELF, &err) != 0) return 1;
    return lra_process_wait(&p, &err);
}

TEST(the_machine_is_described)
{
    assert_true(lra_cpu_count() >= 1);
    assert_true(lra_cpu_count() <= sysconf(_SC_NPROCESSORS_CONF));
    assert_true(lra_memory_free() > 1e6);
    assert_true(lra_memory_peak() > 1e5);
}

/* Makes a file NAME with the given text in a simulated /sys/fs/cgroup. */
static void put(const char *root, const char *name, const char *text)
{
    char *path = lra_format("%s/%s", root, name), *folder = lra_copy_text(path);
    *strrchr(folder, '/') = 0;
    if (lra_folder_make(folder, &err) != 0 || lra_file_write(path, text, strlen(text), &err) != 0)
        fail_msg("%s", err.msg);
    lra_free(folder);
    lra_free(path);
}

TEST(control_groups_limit_the_memory)
{
    static const struct {
        const char *name, *text;
    } files[] = {
        {"memory.max", "max\n"},
        {"job/memory.max", "5000\n"},
        {"job/memory.current", "1500\n"},
        {"job/memory.stat", "anon 900\nactive_file 100\ninactive_file 400\nfile 600\n"},
        {"job/step/memory.max", "max\n"},
        {"job/tight/memory.max", "700\n"},
        {"job/tight/memory.current", "900\n"},
        {"memory/memory.limit_in_bytes", "9223372036854771712\n"},
        {"memory/memory.usage_in_bytes", "77\n"},
        {"memory/slurm/memory.limit_in_bytes", "3000\n"},
        {"memory/slurm/memory.usage_in_bytes", "2900\n"},
        {"memory/slurm/memory.stat", "inactive_file 1\ntotal_inactive_file 2000\n"},
    };
    static const struct {
        const char *groups;
        double left;
    } cases[] = {
        {"", 1e9},
        {"0::/\n", 1e9},
        {"0::/job\n", 4000},      /* the page cache can be reclaimed: 5000 - (1500 - 500) */
        {"0::/job/step\n", 4000}, /* the limit is that of the parent group */
        /* above the limit: no memory is left, which differs from 'unknown' */
        {"0::/job/tight\n", 1},
        {"0::/elsewhere/x\n", 1e9}, /* a group outside of the container's view */
        {"9:name=systemd:/\n4:memory:/slurm\n0::/\n", 2100},
        {"4:cpu,memory,pids:/slurm/uid_7\n", 2100},
        {"4:memoryless,cpu:/slurm\n", 1e9},
        {"no colon", 1e9},
    };
    char root[] = "/tmp/lra-groups-XXXXXX";
    assert_non_null(mkdtemp(root));
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        put(root, files[i].name, files[i].text);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double left = lra_memory_within(1e9, root, cases[i].groups);
        if (left != cases[i].left)
            fail_msg("'%s': %.0f bytes, expected %.0f", cases[i].groups, left, cases[i].left);
    }
    /* the size of the machine's memory is unknown */
    assert_true(lra_memory_within(0, root, "0::/job\n") == 4000);
    char *argv[] = {(char[]){"rm"}, (char[]){"-rf"}, root, NULL};
    assert_int_equal(lra_process_run(argv, NULL, NULL, NULL, &err), 0);
}

/* Freed memory is returned to the system, for use by any process, even if later blocks of the heap
 * are in use. */
TEST(large_memory_is_given_back)
{
#ifdef LRA_DEBUG
    skip(); /* the sanitizers need more address space than the limit allows */
#else
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        enum { LARGE = 24 << 20 };
        const struct rlimit limit = {(rlim_t)1 << 31, (rlim_t)1 << 31};
        if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(2);
        double before = lra_memory_free();
        for (int i = 0; i < 3; i++) {
            char *large = lra_try_alloc(LARGE, "it", &err), *above[100];
            if (!large) _exit(3);
            for (int k = 0; k < 100; k++) above[k] = lra_alloc(1000);
            lra_free_large(large);
            double left = lra_memory_free();
            for (int k = 0; k < 100; k++) lra_free(above[k]);
            if (left < before - LARGE / 2.0) _exit(1);
        }
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
#endif
}

TEST(an_address_space_limit_is_seen)
{
#ifdef LRA_DEBUG
    skip(); /* the sanitizers need more address space than this machine has memory */
#else
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        const struct rlimit limit = {(rlim_t)1 << 31, (rlim_t)1 << 31};
        if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(2);
        _exit(lra_memory_free() < 2147483648.0 ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
#endif
}

int main(int argc, char **argv)
{
    if (argc == 3) return start_again(argv[2]);
    if (argc == 2) return puts("once more") < 0;
    signal(SIGPIPE, SIG_IGN);
    return tests_run();
}
