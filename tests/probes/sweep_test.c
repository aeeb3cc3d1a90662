/* labels: slow timeout: 900 */
/* A sweep that is killed by SIGKILL at random moments, after a random number of changes of its
 * files. The same command then completes it, every file of the run folders can be read at any
 * moment, and the results are bitwise equal to those of an uninterrupted sweep. Cases: one process,
 * cells in processes of their own that end with the sweep, and cells that survive it. LRA_KILLS=200
 * kills 200 times (default 6); LRA_KILLS_SEED selects other moments. */
#include "tests/fixtures/test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernels/base/os/file.h"
#include "kernels/base/formats/h5.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/cli/options.h"
#include "kernels/base/core/philox.h"
#include "kernels/base/os/process.h"
#include "kernels/base/os/terminal.h"
#include "reports/results/result.h"
#include "tests/fixtures/log_text.h"

enum { CELLS = 4 };

static char *folder, *program; /* folder of this test; path of lra-probe */

static int64_t number(const char *name, int64_t other)
{
    int64_t value;
    const char *text = getenv(name);
    return text && lra_parse_int(text, &value) ? value : other;
}

/* ---- one sweep ------------------------------------------------------------------------------- */

/* Starts a sweep in a process group of its own; its stdout is written to OUT.txt, its stderr to
 * OUT.err. */
static pid_t start(const char *out, char *jobs)
{
    char *answer = lra_format("%s.txt", out), *complaints = lra_format("%s.err", out);
    char *argv[] = {program,
                    "receptive-field",
                    "--set",
                    "train=640",
                    "--set",
                    "val=64",
                    "--set",
                    "test=64",
                    "--set",
                    "epochs=3",
                    "--set",
                    "width=8",
                    "--set",
                    "hidden=8",
                    "--set",
                    "layers=1",
                    "--kernels",
                    "3,65",
                    "--seeds",
                    "2",
                    "--precision",
                    "f32",
                    "--threads",
                    "1",
                    "--checkpoint-every",
                    "0.005",
                    "--quiet",
                    "--json",
                    "--jobs",
                    jobs,
                    "--out",
                    (char *)(uintptr_t)out,
                    NULL};
    pid_t pid = fork();
    if (pid == 0) {
        int to = open(answer, O_WRONLY | O_CREAT | O_TRUNC, 0666),
            err = open(complaints, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        setpgid(0, 0);
        dup2(to, 1);
        dup2(err, 2);
        execv(program, argv);
        _exit(127);
    }
    assert_true(pid > 0);
    setpgid(pid, pid); /* both processes call it, because either may be first */
    lra_free(answer);
    lra_free(complaints);
    return pid;
}

static char *read_text(const char *out, const char *suffix)
{
    lra_err e = {{0}};
    size_t n;
    char *path = lra_format("%s%s", out, suffix), *text = lra_file_read(path, 1 << 20, &n, &e);
    NOT_NULL(text);
    lra_free(path);
    return text;
}

/* Returns a hash of the names, sizes and times of all files in a folder. */
static uint64_t view_of(const char *path)
{
    char **names = NULL;
    lra_err e;
    int n = lra_is_folder(path) ? lra_folder_list(path, &names, &e) : 0;
    uint64_t view = 0;
    for (int i = 0; i < n; i++) {
        struct stat s;
        char *below = lra_format("%s/%s", path, names[i]);
        if (lstat(below, &s) == 0) {
            uint64_t of_file[] = {view,
                                  lra_hash64(names[i], strlen(names[i])),
                                  (uint64_t)s.st_ino,
                                  (uint64_t)s.st_size,
                                  (uint64_t)s.st_mtim.tv_sec,
                                  (uint64_t)s.st_mtim.tv_nsec,
                                  S_ISDIR(s.st_mode) ? view_of(below) : 0};
            view = lra_hash64(of_file, sizeof of_file);
        }
        lra_free(below);
    }
    if (n >= 0) lra_names_free(names, n);
    return view;
}

/* Waits until the files of a sweep have changed `most` times, or it has ended; returns the number
 * of changes. */
static int64_t watch(const char *out, pid_t pid, int64_t most)
{
    uint64_t last = view_of(out);
    int64_t seen = 0;
    siginfo_t ended = {0};
    const struct timespec pause = {0, 200000};
    while (seen < most && ended.si_pid == 0) {
        uint64_t now = view_of(out);
        seen += now != last, last = now;
        nanosleep(&pause, NULL);
        assert_int_equal(waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOHANG | WNOWAIT), 0);
    }
    return seen;
}

/* Runs a sweep to its end; returns how often its files changed. */
static int64_t run(const char *out, char *jobs)
{
    int status;
    pid_t pid = start(out, jobs);
    int64_t changes = watch(out, pid, INT64_MAX);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (status != 0) fail_msg("status %d: %s", status, read_text(out, ".err"));
    return changes;
}

/* ---- its files ------------------------------------------------------------------------------- */

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);
    return n >= m && strcmp(name + n - m, end) == 0;
}

/* Checks that every HDF5 file in a folder has a valid seal and that results can be read completely;
 * returns the number of files. finished: checks that no partial file remains. */
static int check_files(const char *path, bool finished)
{
    lra_err e = {{0}};
    char **names = NULL;
    int n = lra_folder_list(path, &names, &e), n_files = 0;
    for (int i = 0; i < n; i++) {
        char *below = lra_format("%s/%s", path, names[i]);
        if (lra_is_folder(below)) {
            n_files += check_files(below, finished);
        } else if (ends_with(below, ".h5")) {
            lra_h5 *f = lra_h5_open(below, NULL, &e);
            NOT_NULL(f);
            lra_h5_close(f);
            n_files++;
        } else if (finished && ends_with(below, ".tmp")) {
            fail_msg("'%s' is left behind", below);
        }
        if (strcmp(names[i], "result.h5") == 0) {
            lra_result *r = lra_result_read(below, &e);
            NOT_NULL(r);
            lra_result_free(r);
        }
        lra_free(below);
    }
    if (n >= 0) lra_names_free(names, n);
    return n_files;
}

/* Checks that two results are equal except for times. */
static void same_result(const lra_result *a, const lra_result *b)
{
    assert_string_equal(a->run, b->run);
    assert_string_equal(a->config, b->config);
    assert_int_equal(a->training.steps, b->training.steps);
    assert_int_equal(a->training.best_epoch, b->training.best_epoch);
    assert_int_equal(a->n_epochs, b->n_epochs);
    for (int64_t i = 0; i < a->n_epochs; i++)
        assert_memory_equal(a->history + 7 * i, b->history + 7 * i, 6 * sizeof *a->history);
    assert_int_equal(a->n, b->n);
    assert_memory_equal(a->logits, b->logits, (size_t)(a->n * a->n_classes) * sizeof *a->logits);
    assert_memory_equal(a->label, b->label, (size_t)a->n * sizeof *a->label);
}

static void same_results(const char *out, const char *expected)
{
    lra_err e = {{0}};
    lra_result **a = NULL, **b = NULL;
    int n = lra_results_load(1, &out, &a, &e), m = lra_results_load(1, &expected, &b, &e);
    assert_int_equal(n, CELLS);
    assert_int_equal(m, CELLS);
    for (int i = 0; i < n; i++) {
        same_result(a[i], b[i]);
        char *log = lra_format("/runs/%s-%s-%s/log.jsonl", a[i]->task, a[i]->model, a[i]->run);
        char *p = read_text(out, log), *q = read_text(expected, log);
        assert_string_equal(without_times(p), without_times(q));
        lra_free_large(p);
        lra_free_large(q);
        lra_free(log);
    }
    lra_results_free(a, n);
    lra_results_free(b, m);
    char *p = read_text(out, ".txt"), *q = read_text(expected, ".txt");
    assert_string_equal(p, q);
    lra_free_large(p);
    lra_free_large(q);
}

/* ---- kills ----------------------------------------------------------------------------------- */

static void remove_folder(const char *path)
{
    lra_err e;
    char *argv[] = {"rm", "-rf", (char *)(uintptr_t)path, NULL};
    lra_process_run(argv, NULL, NULL, NULL, &e);
}

/* Starts a sweep in a new folder and kills it repeatedly until it ends; returns how often it was
 * killed. alone: only the sweep is killed, and its cells survive. */
static int killed_sweep(const char *out, char *jobs, bool alone, lra_rng *rng, int64_t most)
{
    remove_folder(out);
    for (int hits = 0;; hits++) {
        int status;
        pid_t pid = start(out, jobs);
        watch(out, pid, lra_rng_below(rng, (uint32_t)most + 1));
        kill(alone ? pid : -pid, SIGKILL);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        if (WIFEXITED(status)) {
            if (status != 0) fail_msg("status %d: %s", status, read_text(out, ".err"));
            return hits;
        }
        check_files(out, false);
    }
}

TEST(killed_at_random_moments)
{
    static const struct {
        char *jobs;
        bool alone;
        const char *what;
    } ways[] = {{"1", false, "one process"},
                {"2", false, "two cells at once"},
                {"2", true, "the sweep alone, its cells live on"}};
    enum { WAYS = sizeof ways / sizeof *ways };
    char *calm = lra_format("%s/calm", folder), *out = lra_format("%s/killed", folder);
    int64_t wanted = number("LRA_KILLS", 6);
    double begin = lra_now();
    int64_t whole = run(calm, "1");
    for (int w = 0; w < WAYS; w++) {
        lra_rng rng = lra_rng_new((uint64_t)number("LRA_KILLS_SEED", 1), 0x5EE9, (uint64_t)w);
        int64_t share = (wanted + w) / WAYS, hits = 0;
        int sweeps = 0, files = 0;
        for (; hits < share; sweeps++) {
            hits += killed_sweep(out, ways[w].jobs, ways[w].alone, &rng, whole);
            files = check_files(out, true);
            assert_int_equal(files, 1 + 3 * CELLS);
            same_results(out, calm);
        }
        printf("%-36s %4lld kills, %3d sweeps completed, %d files each, all equal\n", ways[w].what,
               (long long)hits, sweeps, files);
    }
    printf("in %.0f s; the files of an undisturbed sweep change %lld times\n", lra_now() - begin,
           (long long)whole);
    lra_free(calm);
    lra_free(out);
}

static int set_up(void **state)
{
    (void)state;
    lra_err e = {{0}};
    const char *build = getenv("LRA_BUILD");
    program = lra_format("%s/lra-probe", build ? build : ".");
    /* SIGKILL does not affect the page cache, so that a folder in memory gives the same results
     * without waiting for a disk. */
    const char *fast = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : ".";
    folder = lra_format("%s/lra-sweep-%ld", fast, (long)getpid());
    return lra_folder_make(folder, &e);
}

static int tear_down(void **state)
{
    (void)state;
    remove_folder(folder);
    lra_free(folder);
    lra_free(program);
    return 0;
}

GROUP(set_up, tear_down);
