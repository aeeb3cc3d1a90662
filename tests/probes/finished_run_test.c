/* Finished runs of another task, or with settings that this program does not know, are rejected. */
#include "tests/fixtures/test.h"

#include <inttypes.h>
#include <string.h>

#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"
#include "probes/run/finished_run.h"
#include "tests/fixtures/folder.h"

static const lra_option *const tables[] = {lra_finished_run_options, NULL};
static const lra_command command = {"test", "", "", "", NULL, 0, -1, tables};

/* Writes finished_runs/runs/RUN/result.h5 for a task. */
static void write_run(const char *task, const char *config)
{
    lra_err e = {{0}};
    lra_result *r = lra_alloc(sizeof *r);
    r->task = lra_copy_text(task), r->model = lra_copy_text("resconv");
    r->preset = lra_copy_text("quick"), r->precision = lra_copy_text("f32");
    r->fingerprint = lra_copy_text("0123456789abcdef"),
    r->run = lra_format("%016" PRIx64, lra_hash64(config, strlen(config)));
    r->config = lra_copy_text(config);
    r->deviations = lra_copy_text("");
    r->max_length = 8, r->n_epochs = 1, r->history = lra_alloc_array(7, sizeof(double));
    r->n = 1, r->n_classes = 2;
    r->logits = lra_alloc_array(2, sizeof(float)), r->label = lra_alloc_array(1, sizeof(int32_t));
    assert_int_equal(lra_folder_make("finished_runs/runs/a", &e), 0);
    OK(lra_result_write("finished_runs/runs/a/result.h5", r, &e));
    lra_result_free(r);
}

/* Returns the message of opening run `name` as a run of ListOps; "" if it opens. */
static const char *message(const char *name)
{
    static lra_err e;
    char *argv[] = {(char[]){"--out"}, (char[]){"finished_runs"}};
    lra_finished_run run;
    e = (lra_err){{0}};
    lra_options *o = lra_options_parse(&command, 2, argv, &e);
    NOT_NULL(o);
    lra_finished_run_open(&run, name, "listops", o, &e);
    lra_finished_run_close(&run);
    lra_options_free(o);
    return e.msg;
}

TEST(only_runs_of_the_task)
{
    write_run("pathfinder", "");
    assert_string_equal(message("a"),
                        "run 'finished_runs/runs/a' was trained on task 'pathfinder', expected "
                        "'listops'");
    write_run("listops", "");
    assert_string_equal(message("a"), "");
    assert_string_equal(message("finished_runs/runs/a/"), "");
    assert_string_equal(message("finished_runs/runs/a/result.h5"), "");
    remove_below("finished_runs");
}

TEST(settings_are_known)
{
    write_run("listops", "model.kernel=5\nmodel.colour=7\n");
    if (!strstr(message("a"), "has the key 'model.colour', which is unknown to this program"))
        fail_msg("%s", message("a"));
    write_run("listops", "model.kernel\n");
    assert_string_not_equal(message("a"), "");
    remove_below("finished_runs");
}
