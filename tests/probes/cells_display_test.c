/* The estimated remaining time of cells that run in parallel, compared with schedules computed by
 * hand. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/os/terminal.h"
#include "models/training/run_status.h"
#include "probes/run/cells_display.h"
#include "tests/fixtures/folder.h"

enum { N = 4 };

static lra_err err;
static lra_run_cell cells[N];
static char name[] = "K = 3 seed 0";

/* Makes cells that are planned to take 10, 20, 30 and 40 s, each with a folder of its own. */
static lra_run_cells make_cells(void)
{
    for (int i = 0; i < N; i++) {
        char *own = lra_format("%s/%d", folder, i);
        assert_int_equal(lra_folder_make(own, &err), 0);
        cells[i] = (lra_run_cell){
            .name = name, .result = lra_format("%s/result.h5", own), .seconds = 10 * (i + 1)};
        lra_free(own);
    }
    return (lra_run_cells){.n_parts = 1, .n = N, .cell = cells};
}

static void free_cells(void)
{
    for (int i = 0; i < N; i++) lra_free(cells[i].result);
}

/* Writes the status file of a run: step number of 100, and the remaining time in seconds. */
static void say(int i, int step, double left)
{
    char line[LRA_RUN_STATUS_BYTES + 1], text[256];
    char *path = lra_format("%s/%d/status", folder, i);
    snprintf(text, sizeof text,
             "{\"title\":\"t\",\"value\":\"v\",\"epoch\":1,\"epochs\":1,\"step\":%d,\"steps\":100,"
             "\"left\":%.3f}",
             step, left);
    snprintf(line, sizeof line, "%-*s\n", LRA_RUN_STATUS_BYTES - 1, text);
    assert_int_equal(lra_file_write(path, line, LRA_RUN_STATUS_BYTES, &err), 0);
    lra_free(path);
}

static void check_left(lra_run_cells l, int n_jobs, double seconds)
{
    lra_cells_display *d = lra_cells_display_new(&l, n_jobs);
    assert_true(fabs(lra_cells_display_left(d) - seconds) < 1e-9);
    lra_cells_display_free(d);
}

/* Two processes: one runs the cells of 10 and 30 s, the other those of 20 and 40 s. */
TEST_WITH(waiting_cells_are_dealt_as_processes_become_free, make_folder, remove_folder)
{
    lra_run_cells l = make_cells();
    check_left(l, 1, 100);
    check_left(l, 2, 60);
    check_left(l, 4, 40);
    l.n_parts = 3, l.part = 1; /* another part with one cell of 100 s */
    check_left(l, 2, 60 + 50);
    free_cells();
}

/* Half of the fourth cell was trained earlier, and the first one already has its result. */
TEST_WITH(what_was_done_before_is_not_counted, make_folder, remove_folder)
{
    lra_run_cells l = make_cells();
    say(3, 50, 1e6); /* this estimate is from an earlier session and must be ignored */
    assert_int_equal(lra_file_write(cells[0].result, "", 0, &err), 0);
    check_left(l, 1, 20 + 30 + 20);
    free_cells();
}

/* The estimate of a running cell has priority over the plan. */
TEST_WITH(cells_that_run_say_how_long_yet, make_folder, remove_folder)
{
    lra_run_cells l = make_cells();
    lra_cells_display *d = lra_cells_display_new(&l, 4);
    for (int i = 0; i < N; i++) lra_cells_display_start(d, i);
    /* no progress is known, so the planned 40 s remain */
    assert_true(fabs(lra_cells_display_left(d) - 40) < 1e-9);
    for (int i = 0; i < N; i++) say(i, 10, i == 1 ? 77 : 5);
    lra_cells_display_draw(d);
    assert_true(fabs(lra_cells_display_left(d) - 77) < 1e-9);
    lra_cells_display_end(d, 1);
    assert_true(fabs(lra_cells_display_left(d) - 5) < 1e-9);
    lra_cells_display_free(d);
    free_cells();
}

/* The 89 steps after the first took e seconds, so the estimate for the remaining ten is e 10/89. e
 * is at most the time measured around the calls. */
TEST_WITH(a_run_counts_the_steps_to_come, make_folder, remove_folder)
{
    lra_run_status s;
    double began = lra_now();
    lra_run_reporter *r = lra_run_reporter_new(folder, "t", 1, 100);
    lra_run_reporter_at(r, 1, 1, NULL);
    for (double since = lra_now(); lra_now() - since < 0.05;) {}
    lra_run_reporter_at(r, 1, 90, NULL);
    double most = (lra_now() - began) * 10 / 89;
    assert_true(lra_run_status_read(folder, &s));
    assert_true(s.step == 90 && s.left > 0.004 &&
                s.left <= most + 0.0005); /* the status file has a resolution of 1 ms */
    lra_run_reporter_free(r, true);
    assert_false(lra_run_status_read(folder, &s));
}
