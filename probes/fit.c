/* lra-probe fit: trains an external model by the reference protocol, together with a program that
 * has the model (ll.fit of the Python package). --batches writes the batches and settings with
 * which 'lra-probe train' would train a built-in model; --inputs writes the inputs of an epoch if
 * they change from epoch to epoch; --import writes the result of the training
 * as a run, which tables, ladders and figures read like any other. */
#include <stdio.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "probes/fit/exchange.h"
#include "probes/influence/model_run.h"
#include "probes/probe.h"
#include "probes/run/finished_run.h"
#include "probes/run/job_options.h"
#include "probes/run/option_rows.h"
#include "reports/results/result_metric.h"

static const lra_option own[] = {
    {.name = "batches",
     .kind = LRA_OPTION_TEXT,
     .arg = "FILE",
     .help = "write row indices and padded lengths of all batches, learning rates and settings to "
             "FILE (safetensors)"},
    {.name = "inputs",
     .kind = LRA_OPTION_TEXT,
     .arg = "FILE",
     .help = "write the augmented inputs of the training batches of --epoch to FILE (safetensors)"},
    LRA_COUNT_OPTION("epoch", "0", 0, 1e9, "with --inputs: epoch, counted from 0"),
    {.name = "import",
     .kind = LRA_OPTION_TEXT,
     .arg = "FILE",
     .help = "read outputs and history of the trained model from FILE (safetensors) and write "
             "OUT/runs/TASK-user.NAME-HASH/result.h5"},
    {.name = "name",
     .kind = LRA_OPTION_TEXT,
     .value = "model",
     .arg = "NAME",
     .help = "name of the external model in files and tables"},
    {.name = "source",
     .kind = LRA_OPTION_TEXT,
     .arg = "HASH",
     .help = "hash of the model's source text, 16 hex digits; part of the identity of the run"},
    {.name = "settings",
     .kind = LRA_OPTION_TEXT,
     .arg = "HASH",
     .help = "hash of the model's settings, 16 hex digits; part of the identity of the run"},
    LRA_COUNT_OPTION("reach", "-1", -1, 1e9,
                     "declared one-sided reach of the model, in tokens (-1 = unbounded)"),
    {.name = "rung", .kind = LRA_OPTION_FLAG, .help = "the run is a rung of a ladder over --reach"},
    {.name = "seed",
     .letter = 's',
     .kind = LRA_OPTION_INT,
     .value = "0",
     .min = 0,
     .max = 1e9,
     .arg = "N",
     .help = "seed of data order and of the model"},
    {.name = NULL}};
static const lra_option *const tables[] = {own, lra_job_options, lra_common_options, NULL};
static const lra_command command = {
    .program = "lra-probe fit",
    .summary = "Trains an external model by the reference protocol; used by ll.fit of Python.\n"
               "Learning rate and weight decay are those that the preset gives to --model.",
    .usage = "--batches FILE | --inputs FILE | --import FILE",
    .examples = "  lra-probe fit --task listops --name net --seed 1 --batches batches.safetensors\n"
                "  lra-probe fit --task listops --name net --seed 1 --import trained.safetensors",
    .min_args = 0,
    .max_args = 0,
    .tables = tables,
};

/* Fails unless the text is a hash of 16 hex digits. Nullable: text */
static int check_hash(const char *option, const char *text, lra_err *e)
{
    if (!text || (strlen(text) == 16 && strspn(text, "0123456789abcdef") == 16)) return 0;
    return lra_fail_usage(e, "--%s '%s': expected 16 hex digits", option, text);
}

static int check_options(const lra_options *o, lra_err *e)
{
    int files = !!lra_option_text(o, "batches") + !!lra_option_text(o, "inputs") +
                !!lra_option_text(o, "import");
    if (files != 1)
        return lra_fail_usage(e, "expected one of --batches FILE, --inputs FILE and --import FILE");
    if (lra_option_flag(o, "rung") && lra_option_int(o, "reach") < 1)
        return lra_fail_usage(e, "--rung needs --reach N of at least 1");
    int rc = check_hash("source", lra_option_text(o, "source"), e);
    return rc == 0 ? check_hash("settings", lra_option_text(o, "settings"), e) : rc;
}

static int print_result(const char *path, lra_err *e)
{
    lra_result *r = lra_finished_run_result(path, e);
    if (!r) return LRA_FAILED;
    char *text = lra_result_text(r);
    printf("test %s\nwrote %s\n", text, path);
    lra_free(text);
    lra_result_free(r);
    return 0;
}

static int fit(const lra_options *o, lra_err *e)
{
    lra_job job = {0};
    int rc = check_options(o, e);
    char *path = NULL, *name = lra_model_run_name(lra_option_text(o, "name"));
    const lra_fit_model model = {.name = name,
                                 .source = lra_option_text(o, "source"),
                                 .settings = lra_option_text(o, "settings"),
                                 .reach = lra_option_int(o, "reach"),
                                 .rung = lra_option_flag(o, "rung"),
                                 .seed = (uint64_t)lra_option_int(o, "seed")};
    const char *batches = lra_option_text(o, "batches"), *import = lra_option_text(o, "import"),
               *inputs = lra_option_text(o, "inputs");
    if (rc == 0) rc = lra_job_open(&job, o, e);
    if (rc == 0) rc = lra_job_load_data(&job, e);
    if (rc == 0) rc = lra_fit_check(&job, e);
    if (rc == 0 && batches) rc = lra_fit_write_batches(&job, &model, batches, e);
    if (rc == 0 && inputs)
        rc = lra_fit_write_inputs(&job, &model, lra_option_int(o, "epoch"), inputs, e);
    if (rc == 0 && import) rc = lra_fit_import(&job, &model, import, &path, e);
    if (rc == 0 && import) rc = print_result(path, e);
    lra_free(path);
    lra_free(name);
    lra_job_close(&job);
    return rc;
}

const lra_probe lra_probe_fit = {
    "fit", "trains an external model by the reference protocol (ll.fit)", &command, fit};
