/* lra-probe export: writes the weights of a run as a safetensors file in PyTorch's layout. With
 * --gradients, writes the weights of a run or of an untrained model together with one batch and its
 * gradients, for comparison with another implementation (models/training/gradients.h). */
#include <stdio.h>
#include <string.h>

#include "kernels/base/os/file.h"
#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/os/shell.h"
#include "models/training/loaded_model.h"
#include "models/training/weights.h"
#include "probes/probe.h"
#include "probes/run/finished_run.h"
#include "probes/run/gradient_file.h"
#include "probes/run/option_rows.h"
#include "probes/run/train_command.h"

static const lra_option own[] = {
    {.name = "last",
     .kind = LRA_OPTION_FLAG,
     .help = "export the weights of the last checkpoint instead of the best epoch"},
    LRA_FORCE_OPTION("replace FILE if it exists"),
    {.name = "gradients",
     .kind = LRA_OPTION_FLAG,
     .help =
         "export weights, one batch, its outputs, its loss and the gradients of all weights, in "
         "evaluation mode (no dropout, running statistics of batch norms); the batch is the first "
         "training rows of RUN, or random tokens for --model"},
    {.name = "model",
     .letter = 'm',
     .kind = LRA_OPTION_TEXT,
     .arg = "MODEL",
     .help =
         "with --gradients, instead of RUN: a model at initialisation ('lra-probe list models')"},
    LRA_SET_OPTION("the model"),
    {.name = "precision",
     .kind = LRA_OPTION_CHOICE,
     .value = "f32",
     .choices = "f32|f64|bf16",
     .help = "with --model: storage type of weights and computations"},
    LRA_COUNT_OPTION("batch", "2", 1, 1 << 20,
                     "with --model: number of sequences, each shorter than the previous one"),
    LRA_COUNT_OPTION("length", "64", 1, 1 << 20,
                     "with --model: length of the first sequence, in tokens"),
    LRA_COUNT_OPTION("vocab", "16", 2, 1 << 16, "with --model: vocabulary size"),
    LRA_COUNT_OPTION("classes", "10", 2, 1 << 16, "with --model: number of classes"),
    {.name = "seed",
     .kind = LRA_OPTION_INT,
     .value = "1",
     .min = 0,
     .max = INT32_MAX,
     .arg = "N",
     .help = "with --model: seed of weights and tokens"},
    {.name = NULL}};
static const lra_option *const tables[] = {own, lra_finished_run_options, lra_common_options, NULL};
static const lra_command command = {
    .program = "lra-probe export",
    .summary = "Writes the weights of a run as a safetensors file, in PyTorch's layout.",
    .usage = "[RUN] FILE",
    .examples =
        "  lra-probe export lra-out/runs/listops-resconv-0123456789abcdef weights.safetensors\n"
        "  lra-probe export --gradients --model s4d --set width=32 --precision f64 s4d.safetensors",
    .min_args = 1,
    .max_args = 2,
    .tables = tables,
};

/* Prints the command that evaluates the exported weights. There is none for an unfinished run,
 * which must be continued instead. */
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

/* Writes the weights by loading the run's model, which defines the layout of each array. */
static int write_weights(const lra_finished_run *run, bool last, const char *to, int *n, lra_err *e)
{
    lra_train_spec spec;
    lra_device device = run->job.device;
    lra_loaded_model m;
    lra_gradient_spec(run, &spec);
    int rc = lra_load_model(&m, &spec, &device, last ? LRA_LAST_WEIGHTS : LRA_BEST_WEIGHTS, e);
    if (rc == 0) {
        lra_length_graph *v = lra_loaded_graph(&m, 1, m.buckets.length[0]);
        lra_length_graph_output(v, v->network.output);
        rc = lra_loaded_plan(&m, e);
    }
    if (rc == 0) rc = lra_weights_export(m.params, run->result->config, m.step, to, n, e);
    lra_loaded_free(&m);
    lra_job_spec_free(&spec);
    return rc;
}

static int export_run(const lra_options *o, const char *to, lra_err *e)
{
    bool last = lra_option_flag(o, "last"), gradients = lra_option_flag(o, "gradients");
    lra_finished_run run;
    int n;
    int rc = lra_finished_run_open(&run, lra_option_arg(o, 0), NULL, o, e);
    if (rc == 0) rc = lra_finished_run_load_data(&run, e);
    if (rc == 0 && gradients)
        rc = lra_gradient_file_of_run(&run, last ? LRA_LAST_WEIGHTS : LRA_BEST_WEIGHTS, to, &n, e);
    else if (rc == 0)
        rc = write_weights(&run, last, to, &n, e);
    if (rc == 0)
        printf("wrote %s: %d arrays of '%s/%s'\n", to, n, run.folder,
               last ? "checkpoint.h5" : "best.h5");
    if (rc == 0 && !gradients) print_next(run.folder, lra_option_text(o, "out"), to);
    lra_finished_run_close(&run);
    return rc;
}

static int export_fresh(const lra_options *o, const char *to, lra_err *e)
{
    const char *precision = lra_option_text(o, "precision");
    lra_fresh_model m = {.model = lra_model_find(lra_option_text(o, "model"), e),
                         .type = strcmp(precision, "f64") == 0    ? LRA_F64
                                 : strcmp(precision, "bf16") == 0 ? LRA_BF16
                                                                  : LRA_F32,
                         .B = lra_option_int(o, "batch"),
                         .T = lra_option_int(o, "length"),
                         .vocab = lra_option_int(o, "vocab"),
                         .classes = lra_option_int(o, "classes"),
                         .seed = (uint64_t)lra_option_int(o, "seed"),
                         .threads = (int)lra_option_int(o, "threads")};
    int n, rc = 0;
    if (!m.model) return LRA_USAGE;
    m.config = lra_keys_config(m.model->keys);
    char *what = lra_format("model '%s'", m.model->name);
    for (int i = 0; rc == 0 && lra_option_repeat(o, "set", i); i++)
        rc = lra_keys_assign(m.model->keys, m.config, lra_option_repeat(o, "set", i), what, e);
    lra_free(what);
    if (rc == 0) rc = lra_gradient_file_of_model(&m, to, &n, e);
    if (rc == 0) printf("wrote %s: %d arrays of '%s' at initialisation\n", to, n, m.model->name);
    lra_config_free(m.config);
    return rc;
}

/* Fails if options for an untrained model are combined with a run, or the reverse. */
static int check(const lra_options *o, lra_err *e)
{
    static const char *const fresh[] = {"set",   "precision", "batch", "length",
                                        "vocab", "classes",   "seed"};
    enum { N_FRESH = sizeof fresh / sizeof *fresh };
    bool model = lra_option_given(o, "model");
    if (model && !lra_option_flag(o, "gradients"))
        return lra_fail_usage(e, "option '--model' needs '--gradients'");
    for (int i = 0; i < N_FRESH && !model; i++)
        if (lra_option_given(o, fresh[i]))
            return lra_fail_usage(e, "option '--%s' needs '--gradients --model MODEL'", fresh[i]);
    if (model && lra_option_flag(o, "last"))
        return lra_fail_usage(e, "option '--last' needs a RUN; '--model' has no checkpoint");
    if (lra_option_n_args(o) == (model ? 1 : 2)) return 0;
    return model ? lra_fail_usage(e, "found both a RUN and '--model'; expected one of them")
                 : lra_fail_usage(e, "expected RUN FILE, or --gradients --model MODEL FILE");
}

static int export(const lra_options *o, lra_err *e)
{
    const char *to = lra_option_arg(o, lra_option_n_args(o) - 1);
    if (check(o, e) != 0) return LRA_USAGE;
    if (lra_is_folder(to)) return lra_fail(e, "'%s' is a folder; expected a file name", to);
    if (lra_file_exists(to) && !lra_option_flag(o, "force"))
        return lra_fail(e, "'%s' already exists; --force replaces it", to);
    return lra_option_given(o, "model") ? export_fresh(o, to, e) : export_run(o, to, e);
}

const lra_probe lra_probe_export = {"export", "writes the weights of a run as a safetensors file",
                                    &command, export};
