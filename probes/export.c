/* lra-probe export: the weights of a run as a safetensors file, in PyTorch's layout. */
#include <stdio.h>

#include "kernels/base/file.h"
#include "kernels/base/log.h"
#include "kernels/base/mem.h"
#include "kernels/base/shell.h"
#include "models/training/open.h"
#include "models/training/weights.h"
#include "probes/probe.h"
#include "probes/run/finished_run.h"
#include "probes/run/option_rows.h"
#include "probes/run/train_command.h"

static const lra_option own[] = {
    {.name = "last",
     .kind = LRA_OPTION_FLAG,
     .help = "the weights of the last checkpoint instead of the selected epoch's"},
    LRA_FORCE_OPTION("replace FILE when it is there"),
    {.name = NULL}};
static const lra_option *const tables[] = {own, lra_finished_run_options, lra_common_options, NULL};
static const lra_command command = {
    .program = "lra-probe export",
    .summary = "Writes the weights of a run as a safetensors file, in PyTorch's layout.",
    .usage = "RUN FILE",
    .examples =
        "  lra-probe export lra-out/runs/listops-resconv-0123456789abcdef weights.safetensors\n"
        "  lra-probe train --set kernel=5 --weights weights.safetensors",
    .min_args = 2,
    .max_args = 2,
    .tables = tables,
};

/* A run that is not finished has no next command: it goes on itself. */
static void print_next(const char *run, const char *out, const char *weights)
{
    lra_err why;
    char *again = lra_train_command(run, out, &why), *file = lra_shell_word(weights);
    if (again)
        printf("next  %s --weights %s --evaluate\n", again, file);
    else
        lra_detail("no next command: %s", why.msg);
    lra_free(again);
    lra_free(file);
}

/* The weights as the run's model has them: it knows the layout of each. */
static int write_weights(const lra_finished_run *run, bool last, const char *to, int *n, lra_err *e)
{
    lra_train_spec spec;
    lra_device device = run->job.device;
    lra_opened m;
    lra_job_spec(&run->job, run->result->seed, &spec);
    lra_free((void *)(uintptr_t)spec.folder);
    spec.folder = lra_copy_text(run->folder); /* it may have been moved */
    int rc = lra_open(&m, &spec, &device, last ? LRA_LAST_WEIGHTS : LRA_BEST_WEIGHTS, e);
    if (rc == 0) {
        lra_view *v = lra_open_graph(&m, 1, m.buckets.length[0]);
        lra_view_ask(v, v->network.output);
        rc = lra_open_plan(&m, e);
    }
    if (rc == 0) rc = lra_weights_export(m.params, run->result->config, m.step, to, n, e);
    lra_open_close(&m);
    lra_job_spec_free(&spec);
    return rc;
}

static int export_run(const lra_options *o, lra_err *e)
{
    const char *to = lra_option_arg(o, 1);
    bool last = lra_option_flag(o, "last");
    lra_finished_run run;
    int n;
    if (lra_is_folder(to)) return lra_fail(e, "'%s' is a folder, expected the name of a file", to);
    if (lra_file_exists(to) && !lra_option_flag(o, "force"))
        return lra_fail(e, "'%s' is there already; --force replaces it", to);
    int rc = lra_finished_run_open(&run, lra_option_arg(o, 0), NULL, o, e);
    if (rc == 0) rc = lra_finished_run_load_data(&run, e);
    if (rc == 0) rc = write_weights(&run, last, to, &n, e);
    if (rc == 0)
        printf("wrote %s: %d arrays of '%s/%s'\n", to, n, run.folder,
               last ? "checkpoint.h5" : "best.h5");
    if (rc == 0) print_next(run.folder, lra_option_text(o, "out"), to);
    lra_finished_run_close(&run);
    return rc;
}

const lra_probe lra_probe_export = {"export", "weights of a run as a safetensors file", &command,
                                    export_run};
