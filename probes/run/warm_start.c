/* Prepares fine-tuning, and its control run with equal compute (warm_start.h). */
#include "probes/run/warm_start.h"

#include <inttypes.h>
#include <string.h>

#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "models/training/estimate.h"
#include "probes/run/cell_command.h"
#include "probes/run/finished_run.h"
#include "probes/run/job_options.h"

const lra_option lra_warm_start_options[] = {
    {.name = "from",
     .kind = LRA_OPTION_TEXT,
     .arg = "RUN",
     .help = "initialise inputs and encoder from a finished run, with a new head; the name of a "
             "pretraining objective selects the run with these settings, this seed and that "
             "objective"},
    {.name = "matched",
     .kind = LRA_OPTION_TEXT,
     .arg = "RUN",
     .help =
         "control for --from RUN: train from scratch for as many steps as RUN and the fine-tuning "
         "together; RUN can be the name of a pretraining objective"},
    {.name = NULL}};

static void remove_setting(lra_config *c, const char *owner, int n, const char *key)
{
    char *name = lra_format("%s.%.*s", owner, n, key);
    lra_config_remove(c, name);
    lra_free(name);
}

/* Removes the key that differs between the ladders of a sweep. If it is a task key, the fingerprint
 * of the data is also removed. */
static void remove_varied(lra_config *c, const lra_config *ladder)
{
    const char *key = lra_config_text_or(ladder, "vary", NULL);
    if (!key) return;
    lra_config_remove(c, key);
    if (strncmp(key, "task.", 5) == 0) lra_config_remove(c, "data");
    for (const char *at = lra_config_text_or(ladder, "own", ""); *at;) {
        size_t n = strcspn(at, ",");
        remove_setting(c, "train", (int)n, at);
        at += n + (at[n] == ',');
    }
}

/* Removes the keys that differ between seeds, rungs of a ladder and ladders of a sweep, as listed
 * in the run's ladder attributes. */
static int remove_own(lra_config *c, const lra_model *model, const char *attributes, lra_err *e)
{
    static const char *const always[] = {"seed", "train.from", "train.matched"};
    lra_config *ladder = lra_config_parse(attributes ? attributes : "", e);
    if (!ladder) return LRA_FAILED;
    const char *axis = lra_config_text_or(ladder, "axis", model->axis),
               *size = lra_config_text_or(ladder, "key", NULL);
    for (size_t i = 0; i < sizeof always / sizeof *always; i++) lra_config_remove(c, always[i]);
    if (axis) remove_setting(c, "model", (int)strlen(axis), axis);
    if (size) remove_setting(c, "model", (int)strlen(size), size);
    remove_varied(c, ladder);
    lra_config_free(ladder);
    return 0;
}

/* Stores the hash of a run under `key`. Stores under "related" a hash of its settings without those
 * that differ between seeds and rungs: all seeds and rungs of a ladder then store the same text.
 * config: its settings, as lines; ladder: its ladder attributes. Nullable: ladder. */
static int name_run(lra_job *r, const char *key, const char *run, const char *config,
                    const char *ladder, lra_err *e)
{
    char hash[17];
    lra_config *settings = lra_config_parse(config, e);
    int rc = settings ? remove_own(settings, r->model, ladder, e) : LRA_FAILED;
    if (rc == 0) {
        lra_config_hash(settings, hash);
        lra_config_set(r->train_config, key, run);
        lra_config_set(r->train_config, "related", hash);
    }
    lra_config_free(settings);
    return rc;
}

static int name_finished(lra_job *r, const char *key, const lra_result *run, lra_err *e)
{
    return name_run(r, key, run->run, run->config, run->ladder, e);
}

static int start_from(lra_job *r, const lra_finished_run *run, lra_err *e)
{
    if (strcmp(run->result->model, r->model->name) != 0)
        return lra_fail_usage(e, "run '%s' was trained with model '%s', expected '%s'", run->folder,
                              run->result->model, r->model->name);
    if (strcmp(run->result->task, r->task->name) != 0)
        lra_note("run '%s' was trained on task '%s'", run->folder, run->result->task);
    r->from = lra_format("%s/best.h5", run->folder);
    return name_finished(r, "from", run->result, e);
}

/* Adds epochs for a number of steps, rounded up. */
static int add_steps(lra_job *r, int64_t more_steps, lra_err *e)
{
    lra_train_spec s;
    lra_job_spec(r, 0, &s);
    int64_t own = lra_config_int(r->train_config, "epochs"), steps = lra_train_epoch_steps(&s);
    lra_job_spec_free(&s);
    if (steps < 1) return lra_fail_usage(e, "the training set is smaller than one batch");
    int64_t more = (more_steps + steps - 1) / steps;
    lra_config_set_int(r->train_config, "epochs", own + more);
    lra_note("%" PRId64 " epochs, plus %" PRId64 " for the %" PRId64 " steps of the related run",
             own, more, more_steps);
    return 0;
}

static int match(lra_job *r, const lra_finished_run *run, lra_err *e)
{
    int rc = add_steps(r, run->result->training.steps, e);
    return rc == 0 ? name_finished(r, "matched", run->result, e) : rc;
}

/* ---- a run that is found by its objective ---------------------------------------------------- */

static const lra_option *const job_tables[] = {lra_job_options, NULL};
/* Description for lra_options_parse(), with only the members that it needs. */
static const lra_command job_command = {.program = "lra-probe train", .tables = job_tables};

/* The pretraining objective that an option names, or NULL. */
static const char *objective_of(const lra_options *o, const char *option)
{
    const char *name = lra_option_text(o, option);
    for (int i = 0; name && lra_objective_at(i); i++)
        if (lra_objective_at(i)->pretrains && strcmp(lra_objective_at(i)->name, name) == 0)
            return name;
    return NULL;
}

/* Opens the job of the same options with this objective, on the data of job r. lra_job_close()
 * closes it, after close_other() has returned the data. */
static int open_other(const lra_job *r, const lra_options *o, const char *objective,
                      lra_command_words *w, lra_options **options, lra_job *other, lra_err *e)
{
    static const char *const except[] = {"objective", NULL};
    lra_cell_command(w, o, except);
    lra_command_words_add(w, lra_format("--objective=%s", objective));
    *options = lra_options_parse(&job_command, w->n - 2, w->word + 2, e);
    other->dry = true;
    int rc = *options ? lra_job_open(other, *options, e) : LRA_USAGE;
    if (rc == 0 && !other->data) other->data = r->data;
    return rc;
}

static void close_other(const lra_job *r, lra_command_words *w, lra_options *options,
                        lra_job *other)
{
    if (other->data == r->data) other->data = NULL;
    lra_job_close(other);
    lra_options_free(options);
    lra_command_words_free(w);
}

/* Relates job r to the job `other` by `key`: "from" or "matched". */
static int relate(lra_job *r, const lra_job *other, const char *key, int64_t seed, lra_err *e)
{
    char hash[17], *config = lra_job_config(other, seed, hash);
    char *folder = lra_job_folder(other, seed);
    int rc = 0;
    if (strcmp(key, "from") == 0) {
        lra_free(r->from);
        r->from = lra_format("%s/best.h5", folder);
    } else if (lra_config_int(other->train_config, "early-stop")) {
        rc = lra_fail_usage(e, "--matched OBJECTIVE needs a pretraining run without early-stop, "
                               "whose number of steps is known in advance; for a run with "
                               "early-stop, give the name of the finished run: --matched RUN");
    } else if (!lra_config_has(r->train_config, "matched")) { /* once for all seeds */
        lra_train_spec s;
        lra_job_spec(other, seed, &s);
        int64_t epochs = lra_config_int(other->train_config, "epochs");
        rc = add_steps(r, epochs * lra_train_epoch_steps(&s), e);
        lra_job_spec_free(&s);
    }
    if (rc == 0) rc = name_run(r, key, hash, config, NULL, e);
    lra_free(folder);
    lra_free(config);
    return rc;
}

int lra_warm_start_seed(lra_job *r, const lra_options *o, int64_t seed, char **needed, lra_err *e)
{
    const char *from = objective_of(o, "from"), *matched = objective_of(o, "matched");
    lra_command_words words = {0};
    lra_options *options = NULL;
    lra_job other = {0};
    *needed = NULL;
    if (!from && !matched) return 0;
    int rc = open_other(r, o, from ? from : matched, &words, &options, &other, e);
    if (rc == 0) rc = relate(r, &other, from ? "from" : "matched", seed, e);
    if (rc == 0) {
        char *folder = lra_job_folder(&other, seed);
        *needed = lra_format("%s/result.h5", folder);
        lra_free(folder);
    }
    close_other(r, &words, options, &other);
    return rc;
}

/* For a run that is about to be trained: the related run must be finished. */
static int start_related(lra_job *r, const lra_options *o, lra_err *e)
{
    char *needed;
    int rc = lra_job_load_data(r, e);
    if (rc == 0) rc = lra_warm_start_seed(r, o, lra_option_int(o, "seed"), &needed, e);
    if (rc != 0) return rc;
    if (!r->dry && !lra_finished_run_done(needed))
        rc = lra_fail(e,
                      "'%s' does not exist; train it first: the same command with --objective "
                      "in place of --from or --matched",
                      needed);
    lra_free(needed);
    return rc;
}

int lra_warm_start(lra_job *r, const lra_options *o, lra_err *e)
{
    const char *from = lra_option_text(o, "from"), *matched = lra_option_text(o, "matched");
    lra_finished_run run = {0};
    int rc = 0;
    if (from && matched) return lra_fail_usage(e, "--from and --matched exclude each other");
    if (from && lra_option_given(o, "weights"))
        return lra_fail_usage(e, "--from and --weights exclude each other");
    if (objective_of(o, "from") || objective_of(o, "matched")) return start_related(r, o, e);
    if (from || matched) rc = lra_finished_run_open(&run, from ? from : matched, NULL, o, e);
    if (rc == 0) rc = lra_job_load_data(r, e);
    if (rc == 0 && from) rc = start_from(r, &run, e);
    if (rc == 0 && matched) rc = match(r, &run, e);
    lra_finished_run_close(&run);
    return rc;
}
