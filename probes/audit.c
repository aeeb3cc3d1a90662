/* lra-probe audit: measures an external model, a program that answers requests (LRAX/1) on its
 * stdin and stdout. Measures those parts of lra-probe influence that only send requests to a model,
 * and writes a run folder, OUT/runs/TASK-user.NAME-HASH, which tables and figures read like that of
 * a trained run. The words after "--" are the program and its arguments; no shell is used. */
#include <stdio.h>
#include <string.h>

#include "datasets/own/own.h"
#include "datasets/prepare.h"
#include "datasets/registry.h"
#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "probes/audit/check.h"
#include "probes/audit/process_responder.h"
#include "probes/influence/measure_parts.h"
#include "probes/influence/model_run.h"
#include "probes/probe.h"
#include "probes/run/option_rows.h"
#include "reports/report.h"

static const lra_option of_data[] = {
    {.name = "task",
     .letter = 't',
     .kind = LRA_OPTION_TEXT,
     .value = "listops",
     .arg = "TASK",
     .help = "task whose test examples the model is asked about ('lra-probe list tasks')"},
    LRA_PRESET_OPTION("preset of task parameters; paper = the published benchmark"),
    LRA_SET_OPTION("the task"),
    LRA_DATA_DIR_OPTION(", instead of generated data"),
    {.name = NULL}};
static const lra_option of_model[] = {
    {.name = "name",
     .kind = LRA_OPTION_TEXT,
     .arg = "NAME",
     .help = "name of the model in files and tables (default: the name that the model declares)"},
    {.name = "into",
     .kind = LRA_OPTION_TEXT,
     .arg = "RUN",
     .help =
         "folder of the run that trained this model ('lra-probe fit'): measurements are written "
         "into it, with its name and seed"},
    LRA_COUNT_OPTION("batch", "16", 1, 65536, "maximum number of examples per request"),
    LRA_COUNT_OPTION("seed", "0", 0, 1e9, "seed of random draws, and number of the model's seed"),
    LRA_COUNT_OPTION("model-procs", "1", 1, LRA_MODEL_MOST_PROCESSES,
                     "number of copies of the program that answer at the same time"),
    LRA_COUNT_OPTION("model-timeout", "300", 1, 1e6,
                     "maximum time of one answer, in seconds (the start of the program: 600 s)"),
    LRA_COUNT_OPTION("max-frame", "4", 1, 1024, "maximum size of one answer, in GiB"),
    {.name = "model-gpus",
     .kind = LRA_OPTION_TEXT,
     .arg = "LIST",
     .help = "GPUs of the copies, such as 0,1: each copy finds its own in CUDA_VISIBLE_DEVICES"},
    {.name = "record",
     .kind = LRA_OPTION_TEXT,
     .arg = "FILE",
     .help = "store all requests and answers in FILE"},
    {.name = "replay",
     .kind = LRA_OPTION_TEXT,
     .arg = "FILE",
     .help = "answer from a recording instead of a program"},
    {.name = NULL}};
static const lra_option output[] = {
    {.name = "check",
     .kind = LRA_OPTION_FLAG,
     .help = "check the model (finite, deterministic, independent of batch and padding), measure "
             "nothing"},
    {.name = "no-check", .kind = LRA_OPTION_FLAG, .help = "measure without checking the model"},
    {.name = "dry-run",
     .kind = LRA_OPTION_FLAG,
     .help = "print the cost of each part, measure nothing"},
    LRA_FORCE_OPTION("measure again instead of using saved results"),
    LRA_JSON_OPTION("print the table as one JSON document"),
    LRA_OUT_OPTION("output folder; everything is written below it"),
    LRA_NO_LOCKS_OPTION,
    {.name = NULL}};
static const lra_option *const tables[] = {
    of_data, of_model,           lra_influence_sampling_options,
#define LRA_PART_OPTIONS(name) lra_part_##name##_options,
#include "probes/influence/parts.def"
    output,  lra_common_options, NULL};
static const lra_command command = {
    .program = "lra-probe audit",
    .summary =
        "Measures which inputs an external model relies on: a program that answers requests.",
    .usage = "[options] -- PROGRAM ARGS...",
    .examples =
        "  lra-probe audit --task listops --name mynet -- python3 my_model.py --checkpoint best.pt\n"
        "  lra-probe audit --task listops --check -- ssh host python3 my_model.py",
    .min_args = 0,
    .max_args = -1,
    .tables = tables,
};

/* ---- the data -------------------------------------------------------------------------------- */

static lra_dataset *open_data(const lra_options *o, lra_err *e)
{
    const lra_task *t = lra_task_find(lra_option_text(o, "task"), e);
    const char *files = lra_option_text(o, "data-dir");
    if (!t) return NULL;
    lra_config *c = files ? lra_keys_config(t->keys)
                          : lra_task_config(t, lra_option_text(o, "preset"), e);
    char *what = lra_format("task '%s'", t->name);
    int rc = c ? 0 : LRA_USAGE;
    for (int i = 0; rc == 0 && lra_option_repeat(o, "set", i); i++)
        rc = lra_keys_assign(t->keys, c, lra_option_repeat(o, "set", i), what, e);
    if (rc == 0 && t->validate) rc = t->validate(c, e);
    lra_dataset *d = rc == 0 ? lra_dataset_open(t, c, lra_option_text(o, "out"), files, e) : NULL;
    lra_config_free(c);
    lra_free(what);
    return d;
}

/* ---- the model ------------------------------------------------------------------------------- */

static lra_model_task task_of(const lra_dataset *d)
{
    const lra_task *t = d->task;
    const lra_masking none = {0};
    int64_t vocab = t->input.channels ? 0 : lra_mask_vocab(d, none);
    return (lra_model_task){.task = t->name,
                            .classes = t->unlabelled              ? 0
                                       : t->goal == LRA_GOAL_NEXT ? vocab
                                       : t->n_targets             ? t->n_targets
                                                                  : t->n_classes,
                            .vocab = vocab,
                            .width = lra_mask_channels(d, none),
                            .length = d->max_length,
                            .towers = t->goal == LRA_GOAL_PAIR ? 2 : 1};
}

/* Starts the model. argv: the program and its arguments, terminated by NULL; must stay valid as
 * long as the model. */
static lra_responder *open_model(const lra_options *o, const lra_dataset *d, char *const *argv,
                                 lra_err *e)
{
    lra_process_options p = {.command = lra_model_command_default(),
                             .task = task_of(d),
                             .processes = (int)lra_option_int(o, "model-procs"),
                             .batch = lra_option_int(o, "batch"),
                             .record = lra_option_text(o, "record"),
                             .replay = lra_option_text(o, "replay")};
    if (argv[0]) p.command.argv = argv;
    p.command.limit = (double)lra_option_int(o, "model-timeout");
    p.command.frame.payload = (uint64_t)lra_option_int(o, "max-frame") << 30;
    p.command.gpus = lra_option_text(o, "model-gpus");
    lra_responder *r = lra_process_responder_open(&p, e);
    /* forward() has one output per input, but this goal has one per position */
    if (r && d->task->goal == LRA_GOAL_TOKENS) r->facts.answers &= ~(uint32_t)LRA_ANSWERS_FORWARD;
    return r;
}

static int check_arguments(const lra_options *o, lra_err *e)
{
    bool replay = lra_option_text(o, "replay"), program = lra_option_n_args(o) > 0;
    if (replay && program)
        return lra_fail_usage(e,
                              "--replay and a program exclude each other: remove '%s' or "
                              "--replay",
                              lra_option_arg(o, 0));
    if (!replay && !program)
        return lra_fail_usage(e, "no program: 'lra-probe audit --task TASK -- PROGRAM ARGS...'");
    return lra_influence_check_names(lra_option_text(o, "parts"), e);
}

/* ---- the check ------------------------------------------------------------------------------- */

/* Checks the model on test rows, padded to one length. */
static int check_model(const lra_options *o, const lra_dataset *d, lra_responder *model,
                       lra_check *check, lra_err *e)
{
    enum { ROWS = 200 };
    int64_t n = d->split[LRA_TEST_SPLIT].n;
    lra_subject s = lra_subject_of(model, d, d->task->name, n < ROWS ? n : ROWS,
                                   (uint64_t)lra_option_int(o, "seed"));
    if (d->task->goal == LRA_GOAL_NEXT && s.batch > ROWS / 8) s.batch = ROWS / 8;
    s.buckets = (lra_buckets){1, {d->max_length}};
    lra_loader *l = lra_subject_loader(&s, s.batch);
    const lra_batch *b = lra_loader_get(l, 0);
    const lra_request q = lra_subject_request(&s, b);
    bool classes = !d->task->unlabelled &&
                   (d->task->goal == LRA_GOAL_CLASS || d->task->goal == LRA_GOAL_PAIR);
    const lra_check_spec spec = {.examples = &q,
                                 .label = classes ? b->label : NULL,
                                 .batch = lra_option_int(o, "batch"),
                                 .longest = model->facts.max_length,
                                 .seed = s.seed};
    int rc = lra_check_model(model, &spec, check, e);
    lra_check_print(check, lra_option_flag(o, "check") ? stdout : stderr);
    lra_loader_free(l);
    return rc;
}

static const char *refused(const void *check, const char *part)
{
    return lra_check_allows(check, part) ? NULL : "a check of the model failed";
}

/* ---- the command ----------------------------------------------------------------------------- */

/* Measures the parts. Nullable: check (the model was not checked) */
static int measure(const lra_options *o, const lra_dataset *d, lra_responder *model,
                   const lra_check *check, lra_err *e)
{
    const char *given = lra_option_text(o, "name");
    if (!given) given = model->facts.model ? model->facts.model : "model";
    char *name = lra_model_run_name(given), *folder = NULL;
    const lra_model_run run = {.model = model,
                               .data = d,
                               .name = name,
                               .out = lra_option_text(o, "out"),
                               .batch = lra_option_int(o, "batch"),
                               .seed = (uint64_t)lra_option_int(o, "seed"),
                               .sample_seed = (uint64_t)lra_option_int(o, "sample-seed"),
                               .refused = check ? refused : NULL,
                               .context = check,
                               .options = o,
                               .into = lra_option_text(o, "into")};
    lra_probe_result *out = NULL;
    bool dry = lra_option_flag(o, "dry-run"), json = lra_option_flag(o, "json");
    int rc = lra_model_run_measure(&run, &out, &folder, e);
    if (rc == 0 && !dry) {
        lra_report_input in = {.probes = &out, .n_probes = 1};
        rc = lra_report_print(&lra_table_influence, stdout, &in, json ? "json" : "text", e);
    }
    lra_probe_result_free(out);
    lra_free(folder);
    lra_free(name);
    return rc;
}

static int check_and_measure(const lra_options *o, const lra_dataset *d, lra_responder *model,
                             lra_err *e)
{
    lra_check check = {0};
    bool only = lra_option_flag(o, "check"), checks = only || !lra_option_flag(o, "no-check");
    int rc = checks ? check_model(o, d, model, &check, e) : 0;
    if (rc == 0 && !only) rc = measure(o, d, model, checks ? &check : NULL, e);
    lra_check_free(&check);
    return rc;
}

static int audit(const lra_options *o, lra_err *e)
{
    int n = lra_option_n_args(o), rc = check_arguments(o, e);
    lra_dataset *d = rc == 0 ? open_data(o, e) : NULL;
    char **argv = lra_alloc_array((size_t)n + 1, sizeof *argv);
    for (int i = 0; i < n; i++) argv[i] = (char *)(uintptr_t)lra_option_arg(o, i);
    lra_responder *model = d ? open_model(o, d, argv, e) : NULL;
    if (rc == 0 && !model) rc = LRA_FAILED;
    if (model && d->task->unlabelled) {
        lra_own_set_outputs(d, model->facts.classes);
        lra_note(
            "%s has no labels: accuracy and gains are undefined; effects on the prediction for "
            "the complete input are measured",
            d->task->name);
    }
    if (model) rc = check_and_measure(o, d, model, e);
    if (model && rc == 0)
        rc = lra_process_responder_end(model, e);
    else
        lra_responder_close(model);
    lra_dataset_free(d);
    lra_free(argv);
    return rc;
}

const lra_probe lra_probe_audit = {"audit", "measures which inputs an external model relies on",
                                   &command, audit};
