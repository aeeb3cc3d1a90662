/* lra-probe kernels: reach and decay of the convolution kernels of a run, and how training changes
 * them.
 *
 * Kernels are found by op in the network at the length of the longest examples
 * (probes/kernels/extract.h): convolutions, long convolutions with any kernel, state spaces with
 * their modes, scans between dense layers. Each channel is measured by analysis/kernel_shape.h. A
 * layer is described by the median over its channels, with quartiles, minimum and maximum. The
 * initial weights of the same run are measured too. The direct path (skip, D u) is not part of a
 * kernel, unless --kernel-skip is set.
 * The memory of an LSTM depends on its input, so it has no kernel; use 'influence' for it.
 * On tasks with a known distance (tests/bench/known_truth.sh), shift.peak of the layer with the
 * largest shift is within a factor of sqrt 2 of the distance in 7 of 10 runs of S4D, including all
 * four of copy, but in none of 16 runs of convolutions with small kernels.
 * The measurements are written to RUN/kernels.h5. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/cli/progress.h"
#include "probes/kernels/channels_csv.h"
#include "probes/kernels/layer_measurements.h"
#include "probes/kernels/uncovered.h"
#include "probes/probe.h"
#include "probes/run/dry_run.h"
#include "probes/run/each_run.h"
#include "probes/run/finished_run.h"
#include "probes/run/option_rows.h"
#include "probes/run/origin.h"
#include "probes/run/shuffled.h"
#include "reports/report.h"

static const lra_option own[] = {
    LRA_JSON_OPTION("print one JSON document instead of a table"),
    {.name = "kernel-skip",
     .kind = LRA_OPTION_FLAG,
     .help = "count the direct path D u, parallel to a kernel, as lag 0 of the kernel"},
    {.name = "channels",
     .kind = LRA_OPTION_TEXT,
     .arg = "FILE",
     .help = "write the decay of each channel to FILE (CSV)"},
    LRA_NULL_OPTION,
    {.name = "dry-run", .kind = LRA_OPTION_FLAG, .help = "list the kernels, measure nothing"},
    {.name = NULL}};
static const lra_option *const tables[] = {own, lra_finished_run_options, lra_common_options, NULL};
static const lra_command command = {
    .program = "lra-probe kernels",
    .summary = "Measures reach and decay of the convolution kernels of trained models.",
    .usage = "RUN...",
    .examples = "  lra-probe kernels listops-s4d-0123456789abcdef --out lra-out\n"
                "  lra-probe kernels lra-out/runs/listops-* --json",
    .notes =
        "  On tasks that depend on one known distance, the kernels of S4D mostly show it\n"
        "  (shift.peak of the layer that training changed most: in 7 of 10 runs). Those of\n"
        "  convolutions with small kernels do not (0 of 16 runs). A kernel describes one layer;\n"
        "  'lra-probe influence' measures the complete model.",
    .min_args = 1,
    .max_args = -1,
    .tables = tables,
};

/* Names of the nodes that mix positions without a kernel (uncovered.h). The caller frees the
 * text. */
static char *find_uncovered(const lra_finished_run *run, lra_err *e)
{
    lra_train_spec spec;
    lra_device device = run->job.device;
    lra_finished_run_spec(run, &spec);
    char *names = lra_uncovered_nodes(&spec, &device, e);
    lra_job_spec_free(&spec);
    return names;
}

static void list_kernels(const lra_finished_run *run, const lra_extract *f)
{
    for (int i = 0; i < f->n; i++) {
        const lra_extracted_kernels *k = &f->kernels[i];
        printf("%s %s %s: %" PRId64 " channels, lags %" PRId64 " to %" PRId64 "%s\n", run->folder,
               k->name, k->op, k->channels, -k->behind, k->ahead - 1,
               k->skip[LRA_FOUND_TRAINED] ? ", D u counted at lag 0" : "");
    }
}

/* Writes RUN/kernels.h5 and reads it again, so that the printed values are those that lra-report
 * will read. */
static lra_probe_result *through_file(const lra_finished_run *run, const lra_probe_result *r,
                                      lra_err *e)
{
    char *path = lra_format("%s/kernels.h5", run->to);
    lra_probe_result *again = NULL;
    if (lra_probe_result_write(path, r, e) == 0) again = lra_probe_result_read(path, "kernels", e);
    if (again) lra_note("wrote %s", path);
    lra_free(path);
    return again;
}

/* Extracts the kernels of a run. Returns LRA_ABSENT if it has none. */
static int find(const lra_finished_run *run, const lra_options *o, lra_extract *f, lra_err *e)
{
    static const char none[] =
        "run '%s': model '%s' has no convolution kernels; use 'lra-probe attention' or 'lra-probe "
        "influence'";
    lra_train_spec spec;
    lra_device device = run->job.device;
    lra_finished_run_spec(run, &spec);
    int rc = lra_extract_open(f, &spec, &device, lra_option_flag(o, "kernel-skip"), e);
    lra_job_spec_free(&spec);
    if (rc != 0) return lra_fail_in(e, "run '%s'", run->folder);
    if (f->n) return 0;
    lra_fail(e, none, run->folder, run->result->model);
    return LRA_ABSENT;
}

/* For --kernel-skip: reports how many kernels have no direct path. */
static void tell_skip(const lra_finished_run *run, const lra_extract *f)
{
    int n = 0;
    for (int i = 0; i < f->n; i++) n += f->kernels[i].skip[LRA_FOUND_TRAINED] != NULL;
    if (n < f->n)
        lra_note("%s: %d of %d kernels have no direct path D u; --kernel-skip does not change them",
                 run->folder, f->n - n, f->n);
}

/* Adds the unit "model", the mean over layers, if only kernels mix positions; otherwise records the
 * nodes without a kernel. */
static int add_whole(const lra_finished_run *run, lra_probe_result *r, lra_err *e)
{
    char *uncovered = find_uncovered(run, e);
    if (!uncovered) return LRA_FAILED;
    if (*uncovered) {
        char *value = lra_copy_text(uncovered); /* values of settings must not contain blanks */
        for (char *at = value; *at; at++)
            if (*at == ' ') *at = '+';
        lra_probe_result_set(r, "uncovered", "%s", value);
        lra_free(value);
        lra_note("%s: positions are also mixed without a kernel: %s; the row 'model' is omitted",
                 run->folder, uncovered);
    } else {
        lra_layers_add_model(r);
    }
    lra_free(uncovered);
    return 0;
}

static void measure_found(const lra_finished_run *run, const lra_options *o, const lra_extract *f,
                          lra_probe_result *r)
{
    lra_progress *bar = lra_progress_new("kernels", f->n);
    lra_probe_result_set(r, "weight", "energy");
    lra_probe_result_set(r, "skip", "%d", lra_option_flag(o, "kernel-skip"));
    for (int i = 0; i < f->n; i++) {
        lra_progress_at(bar, i, f->kernels[i].name);
        lra_layer_measure(&f->kernels[i], run->result->grid, r);
    }
    lra_progress_free(bar);
}

static int measure(lra_finished_run *run, const lra_options *o, lra_probe_result *r, lra_err *e)
{
    lra_extract f = {0};
    int rc = find(run, o, &f, e);
    if (rc == 0 && lra_option_flag(o, "kernel-skip")) tell_skip(run, &f);
    if (rc == 0) measure_found(run, o, &f, r);
    if (rc == 0) rc = add_whole(run, r, e);
    lra_extract_close(&f);
    return rc;
}

static int print_found(const lra_finished_run *run, const lra_options *o, lra_err *e)
{
    lra_extract f = {0};
    int rc = find(run, o, &f, e);
    if (rc == 0) list_kernels(run, &f);
    lra_extract_close(&f);
    char *uncovered = rc == 0 ? find_uncovered(run, e) : NULL;
    if (rc == 0 && !uncovered) rc = LRA_FAILED;
    if (rc == 0 && *uncovered) printf("%s mixed without kernels: %s\n", run->folder, uncovered);
    lra_free(uncovered);
    return rc;
}

static int measure_and_write(lra_finished_run *run, const lra_options *o, lra_probe_result **to,
                             lra_err *e)
{
    lra_origin origin;
    char *shuffled;
    int rc = lra_shuffled_find(run, o, &shuffled, e);
    if (rc == 0) rc = lra_finished_run_writable(run, "kernels.h5", e);
    if (rc != 0) {
        lra_free(shuffled);
        return rc;
    }
    lra_probe_origin(&run->job.device, &origin);
    lra_probe_result *r = lra_probe_result_new("kernels", run->result, &origin);
    rc = measure(run, o, r, e);
    if (rc == 0 && shuffled) rc = lra_shuffled_add(shuffled, o, measure, r, e);
    if (rc == 0) rc = (*to = through_file(run, r, e)) ? 0 : LRA_FAILED;
    lra_probe_result_free(r);
    lra_free(shuffled);
    return rc;
}

/* Measures one run. For a model without kernels, *to stays NULL and the run is skipped if the
 * command was given several runs. */
static int probe_run(const char *name, const lra_options *o, lra_probe_result **to, lra_err *e)
{
    lra_finished_run run;
    int rc = lra_finished_run_open(&run, name, NULL, o, e);
    if (rc == 0) rc = lra_finished_run_load_data(&run, e);
    if (rc == 0 && lra_option_flag(o, "dry-run"))
        rc = print_found(&run, o, e);
    else if (rc == 0)
        rc = measure_and_write(&run, o, to, e);
    lra_finished_run_close(&run);
    return rc;
}

static int kernels(const lra_options *o, lra_err *e)
{
    int requested = lra_option_n_args(o), n = 0, rc = 0, failed = 0;
    bool dry = lra_option_flag(o, "dry-run");
    if (dry) lra_dry_run_limit();
    lra_probe_result **list = lra_alloc_array((size_t)requested, sizeof *list);
    for (int i = 0; i < requested && rc == 0; i++) {
        if (lra_run_is_unfinished(o, lra_option_arg(o, i))) continue;
        rc = probe_run(lra_option_arg(o, i), o, &list[n], e);
        rc = lra_run_outcome(o, rc, &failed, e);
        lra_run_count(lra_option_arg(o, i), list, &n);
    }
    if (rc == 0 && !dry && n == 0 && failed == 0)
        rc = lra_fail_usage(e, "none of the %d runs has convolution kernels", requested);
    if (rc == 0 && !dry && lra_option_given(o, "channels"))
        rc = lra_channels_csv(lra_option_text(o, "channels"), n, list, e);
    lra_report_input in = {.probes = list, .n_probes = n};
    if (rc == 0 && !dry && n) {
        rc = lra_report_print(&lra_table_kernels, stdout, &in,
                              lra_option_flag(o, "json") ? "json" : "text", e);
        if (rc == 0) lra_note("figures: lra-report figures --figure las-1 RUN... (also decay)");
    }
    lra_probe_results_free(list, n);
    return rc == 0 ? lra_runs_outcome(o, failed, e) : rc;
}

const lra_probe lra_probe_kernels = {
    "kernels", "measures reach and decay of convolution kernels before and after training",
    &command, kernels};
