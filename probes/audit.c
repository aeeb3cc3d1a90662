/* lra-probe audit: measures an external model, a program that answers requests (LRAX/1) on its
 * stdin and stdout. Measures those parts of lra-probe influence that only send requests to a model,
 * and writes a run folder, OUT/runs/TASK-user.NAME-HASH, which tables and figures read like that of
 * a trained run. The words after "--" are the program and its arguments; no shell is used. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "datasets/own/own.h"
#include "datasets/prepare.h"
#include "datasets/registry.h"
#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/warnings.h"
#include "kernels/base/os/terminal.h"
#include "probes/audit/check.h"
#include "probes/audit/process_responder.h"
#include "probes/audit_maps.h"
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
     .help = "task whose test examples are sent to the model ('lra-probe list tasks')"},
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
    LRA_COUNT_OPTION("donors", "16", 2, 65536,
                     "parts that replace tokens take the new tokens from other examples of similar "
                     "length: size of the groups of examples that exchange tokens (results do not "
                     "depend on --batch)"),
    LRA_COUNT_OPTION("seed", "0", 0, 1e9,
                     "seed of random draws; recorded as the seed of the model"),
    LRA_COUNT_OPTION("model-procs", "1", 1, LRA_MODEL_MOST_PROCESSES,
                     "number of copies of the program that answer at the same time"),
    LRA_COUNT_OPTION("model-timeout", "300", 1, 1e6, "maximum time of one answer in seconds"),
    LRA_COUNT_OPTION("start-timeout", "0", 0, 1e6,
                     "maximum time from the start of the program to its first answer, in seconds "
                     "(0 = --model-timeout if that is given, else 600)"),
    LRA_COUNT_OPTION("max-frame", "4", 1, 1024, "maximum size of one answer, in GiB"),
    {.name = "model-gpus",
     .kind = LRA_OPTION_TEXT,
     .arg = "LIST",
     .help = "GPUs of the copies, such as 0,1: each copy gets one, in CUDA_VISIBLE_DEVICES"},
    {.name = "renormalise",
     .kind = LRA_OPTION_FLAG,
     .help = "accept attention weights of any sign whose rows have any sum; magnitudes are divided "
             "by the sum of the row"},
    {.name = "kernels-file",
     .kind = LRA_OPTION_TEXT,
     .arg = "FILE",
     .help = "measure convolution kernels of a safetensors file, arrays kernel/LAYER of shape "
             "(channels,lags)"},
    {.name = "record",
     .kind = LRA_OPTION_TEXT,
     .arg = "FILE",
     .help = "store all requests and answers in FILE"},
    {.name = "replay",
     .kind = LRA_OPTION_TEXT,
     .arg = "FILE",
     .help = "answer from a recording instead of a program"},
    {.name = "plan",
     .kind = LRA_OPTION_TEXT,
     .arg = "FOLDER",
     .help = "write the requests as files to FOLDER/request, to be answered elsewhere"},
    {.name = "answer",
     .kind = LRA_OPTION_TEXT,
     .arg = "FOLDER",
     .help = "answer the requests in FOLDER by the program, as files in FOLDER/result"},
    {.name = "results",
     .kind = LRA_OPTION_TEXT,
     .arg = "FOLDER",
     .help = "measure with the answers in FOLDER; repeat the options of --plan"},
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
    LRA_LOCK_OPTIONS,
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
    .notes =
        "Without a connection to the model, requests and answers travel as files:\n"
        "  lra-probe audit --task listops --plan FOLDER            writes the requests\n"
        "  lra-probe audit --answer FOLDER -- python3 my_model.py  answers them, on any machine\n"
        "  lra-probe audit --task listops --results FOLDER         measures\n"
        "The first plan is one request, which asks the model to describe itself: repeat --plan\n"
        "and --answer until --results measures. Requests that have an answer are kept.\n" LRA_OWN_DATA_NOTES,
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
    if (d && d->own && strchr(lra_option_text(o, "task"), ':'))
        lra_dataset_rename(d, lra_option_text(o, "task"));
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

static void set_command(const lra_options *o, char *const *argv, lra_model_command *c)
{
    if (argv[0]) c->argv = argv;
    c->limit = (double)lra_option_int(o, "model-timeout");
    if (lra_option_given(o, "model-timeout")) c->start_limit = c->limit;
    if (lra_option_int(o, "start-timeout"))
        c->start_limit = (double)lra_option_int(o, "start-timeout");
    c->frame.payload = (uint64_t)lra_option_int(o, "max-frame") << 30;
    c->gpus = lra_option_text(o, "model-gpus");
}

/* Fails if a model of a fixed length is measured on test rows of other lengths. */
static int check_lengths(const lra_dataset *d, const lra_responder *model, lra_err *e)
{
    const lra_sequences *test = &d->split[LRA_TEST_SPLIT];
    int64_t fixed = model->facts.fixed_length, n = d->task->goal == LRA_GOAL_NEXT ? 0 : test->n;
    int64_t others = 0, least = INT64_MAX, most = 0;
    for (int64_t i = 0; i < n && fixed; i++) {
        int64_t length = lra_sequences_length(test, i);
        others += length != fixed;
        if (length < least) least = length;
        if (length > most) most = length;
    }
    if (others == 0) return 0;
    return lra_fail(
        e,
        "the model takes inputs of exactly %lld tokens, and %lld of %lld test rows of "
        "'%s' have another length (%lld to %lld); pad or cut the rows to %lld tokens, or "
        "use a model that ignores padding",
        (long long)fixed, (long long)others, (long long)n, d->task->name, (long long)least,
        (long long)most, (long long)fixed);
}

/* Starts the model. argv: the program and its arguments, terminated by NULL; must stay valid as
 * long as the model. Nullable: offline */
static lra_responder *open_model(const lra_options *o, lra_dataset *d, char *const *argv,
                                 lra_offline *offline, lra_err *e)
{
    /* 0: the number of outputs is not known before the model states it */
    if (d->task->unlabelled) lra_own_set_outputs(d, 0);
    lra_process_options p = {.command = lra_model_command_default(),
                             .task = task_of(d),
                             .processes = (int)lra_option_int(o, "model-procs"),
                             .batch = lra_option_int(o, "batch"),
                             .record = lra_option_text(o, "record"),
                             .replay = lra_option_text(o, "replay"),
                             .offline = offline};
    set_command(o, argv, &p.command);
    lra_responder *r = lra_process_responder_open(&p, e);
    if (r && lra_option_flag(o, "renormalise")) r->facts.row_sums = LRA_ROWS_ANY;
    if (r && d->task->unlabelled) {
        lra_own_set_outputs(d, r->facts.classes);
        lra_note(
            "%s has no labels: accuracy and gains are undefined; effects on the prediction for "
            "the complete input are measured",
            d->task->name);
    }
    /* forward() has one output per input, but this goal has one per position */
    if (r && d->task->goal == LRA_GOAL_TOKENS) r->facts.answers &= ~(uint32_t)LRA_ANSWERS_FORWARD;
    if (!r || check_lengths(d, r, e) == 0) return r;
    lra_responder_close(r);
    return NULL;
}

/* Fails if --parts names an unknown part. Nullable: list */
static int check_parts(const char *list, lra_err *e)
{
    lra_text others = {0};
    for (const char *at = list; at && *at; at += strcspn(at, ","), at += *at == ',') {
        int n = (int)strcspn(at, ","), i = 0;
        const char *own;
        for (; (own = lra_audit_maps_part(i)); i++)
            if (strlen(own) == (size_t)n && strncmp(own, at, (size_t)n) == 0) break;
        if (!own) lra_text_add(&others, "%s%.*s", others.n ? "," : "", n, at);
    }
    int rc = lra_influence_check_names(others.s, e);
    lra_text_free(&others);
    return rc;
}

/* The options that exclude each other: sources of answers other than a program. */
static const char *const modes[] = {"replay", "plan", "results", "answer"};

static int check_arguments(const lra_options *o, lra_err *e)
{
    bool program = lra_option_n_args(o) > 0;
    const char *mode = NULL;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (!lra_option_text(o, modes[i])) continue;
        if (mode) return lra_fail_usage(e, "--%s and --%s exclude each other", mode, modes[i]);
        mode = modes[i];
    }
    bool answers = mode && strcmp(mode, "answer") == 0;
    if (mode && !answers && program)
        return lra_fail_usage(e,
                              "--%s and a program exclude each other: remove '%s' or "
                              "--%s",
                              mode, lra_option_arg(o, 0), mode);
    if (answers && !program)
        return lra_fail_usage(
            e, "no program is given; usage: lra-probe audit --answer FOLDER -- PROGRAM ARGS...");
    if (!mode && !program)
        return lra_fail_usage(
            e, "no program is given; usage: lra-probe audit --task TASK -- PROGRAM ARGS...");
    return check_parts(lra_option_text(o, "parts"), e);
}

/* ---- the check ------------------------------------------------------------------------------- */

/* Checks the model on test rows, padded to one length. */
static int check_model(const lra_options *o, const lra_dataset *d, lra_responder *model, bool plan,
                       lra_check *check, lra_err *e)
{
    enum { ROWS = 200 };
    uint64_t seed = (uint64_t)lra_option_int(o, "seed");
    lra_subject s = lra_subject_of(model, d, d->task->name, 1, seed);
    int64_t n = lra_subject_test_rows(&s);
    s.batch = s.donors = n < ROWS ? n : ROWS;
    if (d->task->goal == LRA_GOAL_NEXT && s.batch > ROWS / 8) s.batch = ROWS / 8;
    s.buckets = (lra_buckets){1, {d->max_length}}; /* the length of a model with a fixed one */
    lra_loader *l = lra_subject_loader(&s, s.batch);
    const lra_batch *b = lra_loader_get(l, 0);
    const lra_request q = lra_subject_request(&s, b);
    bool classes = !d->task->unlabelled &&
                   (d->task->goal == LRA_GOAL_CLASS || d->task->goal == LRA_GOAL_PAIR);
    const lra_check_spec spec = {.examples = &q,
                                 .label = classes ? b->label : NULL,
                                 .batch = lra_option_int(o, "batch"),
                                 .longest = model->facts.max_length,
                                 .seed = s.seed,
                                 .untimed = lra_option_text(o, "plan") ||
                                            lra_option_text(o, "results")};
    int rc = lra_check_model(model, &spec, check, e);
    bool unanswered = rc != 0 && lra_option_text(o, "results");
    if (!plan && !unanswered) lra_check_print(check, lra_option_flag(o, "check") ? stdout : stderr);
    lra_loader_free(l);
    return rc;
}

static const char *refused(const void *check, const char *part)
{
    return lra_check_allows(check, part) ? NULL : "a check of the model failed";
}

enum { MOST_OTHERS = 4 };

/* ---- the command ----------------------------------------------------------------------------- */

static int print_table(const lra_options *o, const lra_report_table *table, lra_probe_result *r,
                       lra_err *e)
{
    lra_report_input in = {.probes = &r, .n_probes = 1};
    return lra_report_print(table, stdout, &in, lra_option_flag(o, "json") ? "json" : "text", e);
}

/* Measures attention or kernels (audit_maps.h). --json prints one document: that of the parts of
 * influence if there are any. */
static int measure_maps(const lra_model_run *run, const char *folder, int part, lra_err *e)
{
    static const lra_report_table *const table[] = {&lra_table_attention, &lra_table_kernels};
    const lra_options *o = run->options;
    char *title = lra_format("%s user.%s", run->data->task->name, run->name);
    lra_subject s = lra_subject_of(run->model, run->data, title, run->batch, run->seed);
    const lra_audit_maps m = {.options = o,
                              .subject = &s,
                              .folder = folder,
                              .refused = run->refused,
                              .context = run->context,
                              .checks = run->checks};
    lra_probe_result *out = NULL;
    s.sample_seed = run->sample_seed;
    int rc = run->unsaved ? lra_audit_maps_plan(&m, part, e)
                          : lra_audit_maps_measure(&m, part, &out, e);
    bool printed = lra_option_flag(o, "json") && lra_audit_maps_others(o);
    if (rc == 0 && out && !printed && !lra_option_flag(o, "dry-run"))
        rc = print_table(o, table[part], out, e);
    lra_probe_result_free(out);
    lra_free(title);
    return rc;
}

/* Writes the requested parts of audit_maps.h with the reasons why they are undefined (NULL: none),
 * as lra_influence.other_parts. */
static void find_other_parts(const lra_options *o, lra_responder *model, const lra_check *check,
                             const char *to[2 * MOST_OTHERS + 1])
{
    const lra_subject s = {.model = model};
    const lra_audit_maps m = {
        .options = o, .subject = &s, .refused = check ? refused : NULL, .context = check};
    int n = 0;
    for (int i = 0; lra_audit_maps_part(i) && i < MOST_OTHERS; i++) {
        if (!lra_audit_maps_wants(o, i)) continue;
        to[n++] = lra_audit_maps_part(i);
        to[n++] = lra_audit_maps_undefined(&m, i);
    }
    to[n] = NULL;
}

/* Measures the parts. plan: makes the requests, writes nothing. Nullable: check (the model was not
 * checked) */
static int measure(const lra_options *o, const lra_dataset *d, lra_responder *model, bool plan,
                   const lra_check *check, lra_err *e)
{
    const char *given = lra_option_text(o, "name");
    if (!given) given = model->facts.model ? model->facts.model : "model";
    char *name = lra_model_run_name(given), *folder = NULL;
    const char *others[2 * MOST_OTHERS + 1];
    lra_model_checks rows = {0};
    if (check && !plan) rows = lra_check_rows(check);
    find_other_parts(o, model, check, others);
    const lra_model_run run = {.model = model,
                               .data = d,
                               .name = name,
                               .out = lra_option_text(o, "out"),
                               .batch = lra_option_int(o, "batch"),
                               .donors = lra_option_int(o, "donors"),
                               .seed = (uint64_t)lra_option_int(o, "seed"),
                               .sample_seed = (uint64_t)lra_option_int(o, "sample-seed"),
                               .unsaved = plan,
                               .refused = check && !plan ? refused : NULL,
                               .context = check,
                               .checks = rows.n ? &rows : NULL,
                               .other_parts = others,
                               .options = o,
                               .into = lra_option_text(o, "into")};
    lra_probe_result *out = NULL;
    int rc = lra_model_run_measure(&run, &out, &folder, e);
    if (rc == 0 && !lra_option_flag(o, "dry-run") && !plan && lra_audit_maps_others(o))
        rc = print_table(o, &lra_table_influence, out, e);
    for (int i = 0; rc == 0 && lra_audit_maps_part(i); i++)
        if (lra_audit_maps_wants(o, i)) rc = measure_maps(&run, folder, i, e);
    lra_model_checks_free(&rows);
    lra_probe_result_free(out);
    lra_free(folder);
    lra_free(name);
    return rc;
}

static int check_and_measure(const lra_options *o, const lra_dataset *d, lra_responder *model,
                             bool plan, lra_err *e)
{
    lra_check check = {0};
    bool only = lra_option_flag(o, "check"), checks = only || !lra_option_flag(o, "no-check");
    int rc = checks ? check_model(o, d, model, plan, &check, e) : 0;
    if (rc == 0 && !only) rc = measure(o, d, model, plan, checks ? &check : NULL, e);
    lra_check_free(&check);
    return rc;
}

/* ---- offline exchange ------------------------------------------------------------------------ */

/* Returns the settings on which the requests of an audit depend. The caller frees them. */
static lra_config *plan_settings(const lra_options *o, const lra_dataset *d)
{
    static const char *const numbers[] = {"batch",       "donors",   "seed",
                                          "sample-seed", "examples", "budget"};
    lra_config *c = lra_config_new();
    const char *parts = lra_option_text(o, "parts");
    lra_config_set(c, "task", d->task->name);
    lra_config_set(c, "data", d->fingerprint);
    lra_config_set(c, "parts", parts ? parts : "all");
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        lra_config_set_int(c, numbers[i], lra_option_int(o, numbers[i]));
    lra_config_set_int(c, "check", !lra_option_flag(o, "no-check"));
    return c;
}

/* Makes all requests of the audit that can be made with the answers available so far, with
 * placeholders for the others. */
static int pass(const lra_options *o, lra_dataset *d, lra_offline *offline, lra_offline_mode mode,
                lra_err *e)
{
    char *const none[] = {NULL};
    const lra_log_level level = lra_terminal_level();
    lra_text ignored = {0}, *before = lra_warn_into(&ignored);
    lra_terminal_init(LRA_LOG_QUIET);
    lra_offline_begin(offline, mode);
    lra_responder *model = open_model(o, d, none, offline, e);
    int rc = model ? check_and_measure(o, d, model, true, e) : LRA_FAILED;
    lra_responder_close(model);
    lra_terminal_init(level);
    lra_warn_into(before);
    lra_text_free(&ignored);
    /* a failure can be the effect of placeholders: the plan is continued in the next round */
    const lra_offline_count c = lra_offline_counted(offline);
    if (c.broken) return lra_fail(e, "%s", c.broken);
    return rc != 0 && c.missing > 0 ? 0 : rc;
}

static void print_plan(const char *folder, const lra_offline_count *c)
{
    char size[32];
    printf("requests: %" PRId64 ", without an answer: %" PRId64 ", new: %" PRId64 " (%s)\n",
           c->requests, c->missing, c->added, lra_size_text(size, c->bytes));
    if (c->missing == 0)
        printf("every request has an answer: measure with --results %s\n", folder);
    else if (c->requests == 1)
        printf("%s/request/000001.safetensors asks the model to describe itself: answer it, and "
               "plan again\n",
               folder);
    else
        printf("answers belong into %s/result; the first missing one is %06" PRId64
               ".safetensors\n",
               folder, c->first);
    fflush(stdout);
}

/* Counts the requests, prints their number and size, and writes those that are missing. */
static int plan(const lra_options *o, lra_dataset *d, const char *folder, lra_offline *offline,
                lra_err *e)
{
    int rc = pass(o, d, offline, LRA_OFFLINE_COUNT, e);
    lra_offline_count c = lra_offline_counted(offline);
    if (rc == 0 && lra_option_text(o, "plan")) print_plan(folder, &c);
    if (rc == 0 && lra_option_flag(o, "dry-run")) return 0;
    if (rc == 0) rc = lra_offline_save(offline, e);
    if (rc == 0 && c.added > 0) rc = pass(o, d, offline, LRA_OFFLINE_WRITE, e);
    return rc;
}

/* Measures with the answers in the folder; the parts whose requests have no answer are left out. */
static int measure_results(const lra_options *o, lra_dataset *d, const char *folder,
                           lra_offline *offline, lra_err *e)
{
    char *const none[] = {NULL};
    const lra_offline_count c = lra_offline_counted(offline);
    if (c.missing > 0 && c.requests == 1)
        return lra_fail(e,
                        "the model has not described itself: '%s/result/000001.safetensors' is "
                        "missing; answer the request, and repeat --plan",
                        folder);
    if (c.missing > 0)
        lra_warn("%" PRId64 " of %" PRId64 " requests have no answer, the first is "
                 "'%s/request/%06" PRId64 ".safetensors': parts that need them are left out",
                 c.missing, c.requests, folder, c.first);
    lra_offline_begin(offline, LRA_OFFLINE_READ);
    lra_responder *model = open_model(o, d, none, offline, e);
    int rc = model ? check_and_measure(o, d, model, false, e) : LRA_FAILED;
    lra_responder_close(model);
    return rc;
}

static int exchange_files(const lra_options *o, lra_dataset *d, lra_err *e)
{
    const char *to = lra_option_text(o, "plan"), *from = lra_option_text(o, "results");
    lra_config *settings = plan_settings(o, d);
    lra_offline *offline = lra_offline_open(to ? to : from, settings, to != NULL, e);
    lra_config_free(settings);
    int rc = offline ? plan(o, d, to ? to : from, offline, e) : LRA_FAILED;
    if (rc == 0 && from) rc = measure_results(o, d, from, offline, e);
    lra_offline_close(offline);
    return rc;
}

static int answer_files(const lra_options *o, char *const *argv, lra_err *e)
{
    int64_t n;
    lra_model_command c = lra_model_command_default();
    set_command(o, argv, &c);
    const char *folder = lra_option_text(o, "answer");
    int rc = lra_offline_answer_all(folder, &c, (int)lra_option_int(o, "model-procs"), &n, e);
    if (rc == 0) printf("wrote %" PRId64 " answers to %s/result\n", n, folder);
    return rc;
}

/* ---- all ------------------------------------------------------------------------------------- */

static int converse(const lra_options *o, lra_dataset *d, char *const *argv, lra_err *e)
{
    lra_responder *model = open_model(o, d, argv, NULL, e);
    int rc = model ? check_and_measure(o, d, model, false, e) : LRA_FAILED;
    if (model && rc == 0) return lra_process_responder_end(model, e);
    lra_responder_close(model);
    return rc;
}

static int audit(const lra_options *o, lra_err *e)
{
    int n = lra_option_n_args(o), rc = check_arguments(o, e);
    bool answers = lra_option_text(o, "answer");
    lra_dataset *d = rc == 0 && !answers ? open_data(o, e) : NULL;
    char **argv = lra_alloc_array((size_t)n + 1, sizeof *argv);
    for (int i = 0; i < n; i++) argv[i] = (char *)(uintptr_t)lra_option_arg(o, i);
    if (rc == 0 && answers)
        rc = answer_files(o, argv, e);
    else if (d && (lra_option_text(o, "plan") || lra_option_text(o, "results")))
        rc = exchange_files(o, d, e);
    else if (rc == 0)
        rc = d ? converse(o, d, argv, e) : LRA_FAILED;
    lra_dataset_free(d);
    lra_free(argv);
    return rc;
}

const lra_probe lra_probe_audit = {"audit", "measures which inputs an external model relies on",
                                   &command, audit};
