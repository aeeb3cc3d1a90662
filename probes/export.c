/* lra-probe export: the weights of a run as a safetensors file, in PyTorch's layout. */
#include <stdio.h>

#include "kernels/base/file.h"
#include "kernels/base/mem.h"
#include "kernels/base/shell.h"
#include "kernels/base/terminal.h"
#include "models/training/weights.h"
#include "probes/run/again.h"
#include "probes/run/done.h"
#include "probes/option_rows.h"
#include "probes/probe.h"

static const lra_option own[] = {
    {.name = "last",
     .kind = LRA_OPTION_FLAG,
     .help = "the weights of the last checkpoint instead of the selected epoch's"},
    LRA_FORCE_OPTION("replace FILE when it is there"),
    LRA_OUT_OPTION("where runs are looked for by name"),
    {.name = NULL}};
static const lra_option *const tables[] = {own, lra_common_options, NULL};
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
    char *again = lra_run_again(run, out, &why), *file = lra_shell_word(weights);
    if (again)
        printf("next  %s --weights %s --evaluate\n", again, file);
    else
        lra_detail("no next command: %s", why.msg);
    lra_free(again);
    lra_free(file);
}

static int export_run(const lra_options *o, lra_err *e)
{
    const char *to = lra_option_arg(o, 1);
    if (lra_is_folder(to)) return lra_fail(e, "'%s' is a folder, expected the name of a file", to);
    if (lra_file_exists(to) && !lra_option_flag(o, "force"))
        return lra_fail(e, "'%s' is there already; --force replaces it", to);
    char *run;
    int rc = lra_done_find(lra_option_arg(o, 0), lra_option_text(o, "out"), &run, e);
    if (rc != 0) return rc;
    char *from = lra_format("%s/%s", run, lra_option_flag(o, "last") ? "checkpoint.h5" : "best.h5");
    int n;
    rc = lra_weights_export(from, to, &n, e);
    if (rc == 0) printf("wrote %s: %d arrays of '%s'\n", to, n, from);
    if (rc == 0) print_next(run, lra_option_text(o, "out"), to);
    lra_free(from);
    lra_free(run);
    return rc;
}

const lra_probe lra_probe_export = {"export", "weights of a run as a safetensors file", &command,
                                    export_run};
