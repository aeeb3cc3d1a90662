/* labels: slow timeout: 600 */
/* Exact resume: a run that is killed with SIGKILL at 20 random moments ends with the same bits as one that
 * was not, with one thread and with two; so does one that stops on a signal; the log ends the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "datasets/prepare.h"
#include "datasets/registry.h"
#include "kernels/base/file.h"
#include "kernels/base/mem.h"
#include "kernels/base/process.h"
#include "kernels/base/terminal.h"
#include "kernels/cpu/device.h"
#include "models/training/train.h"
#include "tests/log_text.h"

enum { KILLS = 20 };

/* ---- the child: trains in a folder and leaves the hash of the final state there ------------------------- */

static int train_in(const char *folder, int threads, lra_type type)
{
    lra_err e = {{0}};
    lra_device device;
    lra_train_report report;
    lra_terminal_init(LRA_LOG_QUIET, true);
    lra_signals_init();
    lra_config *task = lra_task_config(&lra_task_listops, "quick", &e);
    lra_config_set(task, "train", "3200");
    lra_config_set(task, "val", "200");
    lra_config_set(task, "test", "200");
    lra_config *model = lra_keys_config(lra_model_resconv.keys);
    lra_keys_apply(lra_model_resconv.keys, model, "layers=2 width=16 hidden=32 dropout=0.1");
    lra_dataset *data = lra_dataset_open(&lra_task_listops, task, folder, NULL, &e);
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
                        .checkpoint_every = 0.02,
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

/* ---- the tests ------------------------------------------------------------------------------------------- */

static lra_type precision; /* of the test that runs */

static void start(lra_process *p, const char *folder, int threads)
{
    lra_err e = {{0}};
    char count[8];
    snprintf(count, sizeof count, "%d", threads);
    char *type = precision == LRA_BF16 ? "bf16" : "f32";
    char *argv[] = {"resume_test", (char *)(uintptr_t)folder, count, type, NULL};
    assert_int_equal(lra_process_start(p, argv, LRA_SELF, &e), 0);
}

static char *read_file(const char *folder, const char *name)
{
    lra_err e = {{0}};
    size_t n;
    char *path = lra_format("%s/%s", folder, name), *text = lra_file_read(path, 1 << 20, &n, &e);
    if (!text) fail_msg("%s", e.msg);
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

/* Runs to the end in a fresh folder and returns "hash accuracy". */
static char *whole_run(const char *folder, int threads)
{
    lra_err e = {{0}};
    lra_process p;
    remove_folder(folder);
    start(&p, folder, threads);
    assert_int_equal(lra_process_wait(&p, &e), 0);
    return read_file(folder, "hash");
}

static void sleep_ms(double ms)
{
    struct timespec t = {(time_t)(ms / 1000), (long)(1e6 * (ms - 1000 * (double)(int)(ms / 1000)))};
    nanosleep(&t, NULL);
}

/* Interrupts a fresh run again and again until it is through; returns how often. */
static int interrupted_run(const char *folder, int threads, int number, lra_rng *rng, double ms)
{
    lra_err e = {{0}};
    int hits = 0;
    remove_folder(folder);
    for (;;) {
        lra_process p;
        start(&p, folder, threads);
        sleep_ms(lra_rng_u01(rng) * ms);
        lra_process_signal(&p, number);
        int status = lra_process_wait(&p, &e);
        if (status == 0) return hits;
        /* Before the handlers stand, SIGTERM kills. */
        assert_true(status == 128 + number || status == 130);
        hits++;
    }
}

static void same_bits(int number)
{
    double begin = lra_now();
    char *expected = whole_run("resume_a", 1);
    double whole_ms = 1000 * (lra_now() - begin);
    char *log = without_times(read_file("resume_a", "log.jsonl"));
    for (int threads = 1; threads <= 2; threads++) {
        lra_rng rng = lra_rng_new(3, (uint32_t)number, (uint64_t)threads);
        for (int hits = 0; hits < KILLS;) {
            hits += interrupted_run("resume_b", threads, number, &rng, whole_ms / 2);
            char *found = read_file("resume_b", "hash"),
                 *found_log = read_file("resume_b", "log.jsonl");
            assert_string_equal(found, expected);
            assert_string_equal(without_times(found_log), log);
            lra_free_large(found);
            lra_free_large(found_log);
        }
    }
    lra_free_large(expected);
    lra_free_large(log);
    remove_folder("resume_a");
    remove_folder("resume_b");
}

static void killed_at_random_moments(void **state)
{
    (void)state;
    precision = LRA_F32;
    same_bits(SIGKILL);
}

static void killed_in_bf16(void **state)
{
    (void)state;
    precision = LRA_BF16;
    same_bits(SIGKILL);
}

static void stopped_by_a_signal(void **state)
{
    (void)state;
    precision = LRA_F32;
    same_bits(SIGTERM);
}

int main(int argc, char **argv)
{
    if (argc == 4)
        return train_in(argv[1], (int)strtol(argv[2], NULL, 10),
                        strcmp(argv[3], "bf16") == 0 ? LRA_BF16 : LRA_F32);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_at_random_moments),
        cmocka_unit_test(killed_in_bf16),
        cmocka_unit_test(stopped_by_a_signal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
