/* Runs of the tiny tasks, for tests of training; folders are below that of folder.h. */
#ifndef LRA_TESTS_GOAL_RUN_H
#define LRA_TESTS_GOAL_RUN_H

#include <string.h>

#include "kernels/base/terminal.h"
#include "kernels/cpu/device.h"
#include "models/training/train.h"
#include "tests/folder.h"
#include "tests/log_text.h"
#include "tests/tiny_tasks.h"

static const char model_text[] =
    "layers=1 width=16 hidden=16 kernel=3 dilation=1 groups=1 causal=%d dropout=0.1";

typedef struct {
    lra_goal goal;
    lra_dataset *data;
    lra_config *model;
    lra_device device;
    lra_train_spec spec;
} run;

static inline void open_run(run *r, lra_goal goal, const char *name, int64_t epochs)
{
    lra_err e;
    char text[128];
    snprintf(text, sizeof text, model_text, goal == LRA_GOAL_NEXT);
    lra_terminal_init(LRA_LOG_QUIET, true);
    *r = (run){.goal = goal, .data = tiny_dataset(goal), .model = lra_config_parse(text, &e)};
    assert_int_equal(lra_cpu_device(&r->device, 1, &e), 0);
    r->spec = (lra_train_spec){.folder = lra_format("%s/%s-%d", folder, name, (int)goal),
                               .title = tiny_tasks[goal].name,
                               .config = "x=1\n",
                               .data = r->data,
                               .model = &lra_model_resconv,
                               .model_config = r->model,
                               .type = LRA_F32,
                               .batch = 8,
                               .seed = 3,
                               .threads = 1,
                               .checkpoint_every = 1e9,
                               .schedule = {.rate = 0.02,
                                            .warmup = 0.1,
                                            .factor = 0.5,
                                            .patience = 2,
                                            .final_share = 0.3,
                                            .final_rate = 0.1,
                                            .epochs = epochs},
                               .optimizer = {0.9, 0.999, 1e-8, 0, 1.0, 0.02}};
}

static inline void close_run(run *r)
{
    lra_free((void *)(uintptr_t)r->spec.folder);
    lra_dataset_free(r->data);
    lra_config_free(r->model);
}

static inline lra_train_report train(run *r)
{
    lra_err e = {{0}};
    lra_train_report report;
    if (lra_train(&r->spec, &r->device, &report, &e) != 0) fail_msg("%s", e.msg);
    return report;
}

static inline char *log_of(const run *r)
{
    lra_err e;
    size_t n;
    char *path = lra_format("%s/log.jsonl", r->spec.folder);
    char *text = lra_file_read(path, 1 << 20, &n, &e);
    if (!text) fail_msg("%s", e.msg);
    lra_free(path);
    return text;
}

/* Trains both to the end, the second in parts; nobody can tell.  Closes them. */
static inline void same_in_parts(run *whole, run *parts)
{
    lra_err e = {{0}};
    lra_train_report a = train(whole), b;
    for (int stop = 5; stop < 24; stop += 6) {
        parts->spec.stop_after = stop;
        assert_int_equal(lra_train(&parts->spec, &parts->device, &b, &e), LRA_STOPPED);
    }
    parts->spec.stop_after = 0;
    b = train(parts);
    assert_true(a.hash == b.hash);
    assert_true(a.test.loss == b.test.loss);
    char *log[] = {log_of(whole), log_of(parts)};
    assert_string_equal(without_times(log[0]), without_times(log[1]));
    for (int k = 0; k < 2; k++) {
        run *r = k ? parts : whole;
        lra_free_large(log[k]);
        remove_below(r->spec.folder);
        close_run(r);
    }
    lra_train_report_free(&a);
    lra_train_report_free(&b);
}

#endif
