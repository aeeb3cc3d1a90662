/* labels: slow timeout: 600 */
/* Exact resume: a run that is killed by SIGKILL at 20 random moments ends with bitwise the same
 * results as an uninterrupted run, with one thread and with two; so does a run that stops on a
 * signal; the logs are equal. A moment is given in processor time of the run, so that it does not
 * depend on the load of the machine. */
#include "tests/fixtures/test.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "datasets/prepare.h"
#include "datasets/registry.h"
#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/os/process.h"
#include "kernels/base/os/signals.h"
#include "kernels/base/os/terminal.h"
#include "kernels/cpu/device.h"
#include "models/training/train.h"
#include "tests/fixtures/log_text.h"

enum { KILLS = 20 };

/* ---- the child: trains in a folder and leaves the hash of the final state there -------------- */

/* Sends the signal after this process has used `microseconds` of processor time; 0: never. */
static int interrupt_after(int number, int64_t microseconds)
{
    timer_t timer;
    struct sigevent what = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = number};
    struct itimerspec when = {
        .it_value = {microseconds / 1000000, 1000 * (microseconds % 1000000)}};
    if (microseconds == 0) return 0;
    if (timer_create(CLOCK_PROCESS_CPUTIME_ID, &what, &timer) != 0) return -1;
    return timer_settime(timer, 0, &when, NULL);
}

/* All runs train on the same rows, which are made once. */
static int train_in(const char *folder, const char *rows, int threads, lra_type type)
{
    lra_err e = {{0}};
    lra_device device;
    lra_train_report report;
    lra_config *task = lra_task_config(&lra_task_listops, "quick", &e);
    lra_config_set(task, "train", "480");
    lra_config_set(task, "val", "100");
    lra_config_set(task, "test", "100");
    lra_config *model = lra_keys_config(lra_model_resconv.keys);
    lra_keys_apply(lra_model_resconv.keys, model, "layers=2 width=16 hidden=32 dropout=0.1");
    lra_dataset *data = lra_dataset_open(&lra_task_listops, task, rows, NULL, &e);
    lra_train_spec s = {.folder = folder,
                        .title = "resume",
                        .config = "x=1\n",
                        .data = data,
                        .model = &lra_model_resconv,
                        .model_config = model,
                        .type = type,
                        .batch = 32,
                        .seed = 11,
                        .threads = threads,
                        .augment = true,
                        .checkpoint_every = 0.01,
                        .schedule = {.rate = 0.004,
                                     .warmup = 0.1,
                                     .factor = 0.5,
                                     .patience = 1,
                                     .final_share = 0.4,
                                     .final_rate = 0.1,
                                     .epochs = 5},
                        .optimizer = {0.9, 0.999, 1e-8, 0.01, 1.0, 0.004}};
    int rc = data ? lra_cpu_device(&device, threads, &e) : LRA_FAILED;
    if (rc == 0) rc = lra_train(&s, &device, &report, &e);
    if (rc < 0) fprintf(stderr, "%s\n", e.msg);
    if (rc == 0) {
        char *path = lra_format("%s/hash", folder), text[64];
        snprintf(text, sizeof text, "%016" PRIx64 " %.9f", report.hash,
                 (double)report.test.right / (double)report.test.n);
        rc = lra_file_write(path, text, strlen(text), &e);
        lra_free(path);
        lra_train_report_free(&report);
    }
    lra_dataset_free(data);
    lra_config_free(task);
    lra_config_free(model);
    return rc == 0 ? 0 : rc == LRA_STOPPED ? 130 : 1;
}

/* ---- the tests ------------------------------------------------------------------------------- */

static lra_type precision; /* precision of the current test */

static char *place; /* folder that contains all run folders */

static void start(lra_process *p, const char *folder, int threads, int number, int64_t microseconds)
{
    lra_err e = {{0}};
    char count[8], signal[8], when[24];
    snprintf(count, sizeof count, "%d", threads);
    snprintf(signal, sizeof signal, "%d", number);
    snprintf(when, sizeof when, "%" PRId64, microseconds);
    char *type = precision == LRA_BF16 ? "bf16" : "f32";
    char *argv[] = {"resume_test", (char *)(uintptr_t)folder, place, count, type, signal, when,
                    NULL};
    assert_int_equal(lra_process_start(p, argv, LRA_SELF, &e), 0);
}

static char *read_file(const char *folder, const char *name)
{
    lra_err e = {{0}};
    size_t n;
    char *path = lra_format("%s/%s", folder, name), *text = lra_file_read(path, 1 << 20, &n, &e);
    NOT_NULL(text);
    lra_free(path);
    return text;
}

static void remove_folder(const char *folder)
{
    char *out = NULL, *argv[] = {"rm", "-rf", (char *)(uintptr_t)folder, NULL};
    lra_err e;
    lra_process_run(argv, NULL, &out, NULL, &e);
    lra_free(out);
}

/* Returns the processor time of all children so far, in microseconds. */
static int64_t work_done(void)
{
    struct rusage u;
    getrusage(RUSAGE_CHILDREN, &u);
    return 1000000 * (int64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + u.ru_utime.tv_usec +
           u.ru_stime.tv_usec;
}

/* Runs to the end in a new folder and returns "hash accuracy". */
static char *whole_run(const char *folder, int threads)
{
    lra_err e = {{0}};
    lra_process p;
    remove_folder(folder);
    start(&p, folder, threads, 0, 0);
    assert_int_equal(lra_process_wait(&p, &e), 0);
    return read_file(folder, "hash");
}

/* Starts a run in a new folder and interrupts it repeatedly, each time after a random part of
 * `most` microseconds of processor time, until it ends; returns the number of interruptions. */
static int interrupted_run(const char *folder, int threads, int number, lra_rng *rng, int64_t most)
{
    lra_err e = {{0}};
    int hits = 0;
    remove_folder(folder);
    for (;;) {
        lra_process p;
        start(&p, folder, threads, number, 1 + (int64_t)(lra_rng_u01(rng) * (double)most));
        int status = lra_process_wait(&p, &e);
        if (status == 0) return hits;
        assert_int_equal(status, number == SIGKILL ? 128 + number : 130);
        hits++;
    }
}

static void same_bits(int number)
{
    char *calm = lra_format("%s/a", place), *other = lra_format("%s/b", place);
    /* the first run also generates the rows, so that the second one can be timed */
    lra_free_large(whole_run(calm, 1));
    int64_t before = work_done();
    char *expected = whole_run(calm, 1);
    int64_t whole = work_done() - before;
    char *log = without_times(read_file(calm, "log.jsonl"));
    for (int threads = 1; threads <= 2; threads++) {
        lra_rng rng = lra_rng_new(3, (uint32_t)number, (uint64_t)threads);
        for (int hits = 0; hits < KILLS;) {
            hits += interrupted_run(other, threads, number, &rng, whole / 2);
            char *found = read_file(other, "hash"), *found_log = read_file(other, "log.jsonl");
            assert_string_equal(found, expected);
            assert_string_equal(without_times(found_log), log);
            lra_free_large(found);
            lra_free_large(found_log);
        }
    }
    lra_free_large(expected);
    lra_free_large(log);
    lra_free(calm);
    lra_free(other);
}

TEST(killed_at_random_moments)
{
    precision = LRA_F32;
    same_bits(SIGKILL);
}

TEST(killed_in_bf16)
{
    precision = LRA_BF16;
    same_bits(SIGKILL);
}

TEST(stopped_by_a_signal)
{
    precision = LRA_F32;
    same_bits(SIGTERM);
}

/* SIGKILL does not affect the page cache, so that a folder in memory gives the same results without
 * waiting for a disk. */
static int set_up(void **state)
{
    (void)state;
    lra_err e = {{0}};
    const char *fast = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : ".";
    place = lra_format("%s/lra-resume-%ld", fast, (long)getpid());
    return lra_folder_make(place, &e);
}

static int tear_down(void **state)
{
    (void)state;
    remove_folder(place);
    lra_free(place);
    return 0;
}

GROUP(set_up, tear_down);

int main(int argc, char **argv)
{
    if (argc == 7) {
        lra_terminal_init(LRA_LOG_QUIET);
        lra_signals_init();
        if (interrupt_after((int)strtol(argv[5], NULL, 10), strtoll(argv[6], NULL, 10)) != 0)
            return 1;
        return train_in(argv[1], argv[2], (int)strtol(argv[3], NULL, 10),
                        strcmp(argv[4], "bf16") == 0 ? LRA_BF16 : LRA_F32);
    }
    return tests_run();
}
