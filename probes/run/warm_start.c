/* Prepares fine-tuning, and its control run with equal compute (warm_start.h). */
#include "probes/run/warm_start.h"

#include <inttypes.h>
#include <string.h>

#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "models/training/estimate.h"
#include "probes/run/finished_run.h"

const lra_option lra_warm_start_options[] = {
    {.name = "from",
     .kind = LRA_OPTION_TEXT,
     .arg = "RUN",
     .help = "initialise inputs and encoder from a finished run, with a new head"},
    {.name = "matched",
     .kind = LRA_OPTION_TEXT,
     .arg = "RUN",
     .help = "control of --from RUN: train from scratch, with the number of steps of RUN added"},
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
static int remove_own(lra_config *c, const lra_model *model, const lra_result *run, lra_err *e)
{
    static const char *const always[] = {"seed", "train.from", "train.matched"};
    lra_config *ladder = lra_config_parse(run->ladder ? run->ladder : "", e);
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

/* Stores the hash of `run` under `key`. Stores under "related" a hash of the settings of `run`
 * without those that differ between seeds and rungs: all seeds and rungs of a ladder then store the
 * same text. */
static int name_run(lra_job *r, const char *key, const lra_finished_run *run, lra_err *e)
{
    char hash[17];
    lra_config *settings = lra_config_parse(run->result->config, e);
    int rc = settings ? remove_own(settings, run->job.model, run->result, e) : LRA_FAILED;
    if (rc != 0) {
        lra_config_free(settings);
        return rc;
    }
    lra_config_hash(settings, hash);
    lra_config_free(settings);
    lra_config_set(r->train_config, key, run->result->run);
    lra_config_set(r->train_config, "related", hash);
    return 0;
}

static int start_from(lra_job *r, const lra_finished_run *run, lra_err *e)
{
    if (strcmp(run->result->model, r->model->name) != 0)
        return lra_fail_usage(e, "run '%s' was trained with model '%s', expected '%s'", run->folder,
                              run->result->model, r->model->name);
    if (strcmp(run->result->task, r->task->name) != 0)
        lra_note("run '%s' was trained on task '%s'", run->folder, run->result->task);
    r->from = lra_format("%s/best.h5", run->folder);
    return name_run(r, "from", run, e);
}

static int match(lra_job *r, const lra_finished_run *run, lra_err *e)
{
    lra_train_spec s;
    lra_job_spec(r, 0, &s);
    int64_t own = lra_config_int(r->train_config, "epochs"), steps = lra_train_epoch_steps(&s);
    lra_job_spec_free(&s);
    if (steps < 1) return lra_fail_usage(e, "the training set is smaller than one batch");
    int64_t more = (run->result->training.steps + steps - 1) / steps;
    lra_config_set_int(r->train_config, "epochs", own + more);
    lra_note("%" PRId64 " epochs, plus %" PRId64 " for the %" PRId64 " steps of '%s'", own, more,
             run->result->training.steps, run->folder);
    return name_run(r, "matched", run, e);
}

int lra_warm_start(lra_job *r, const lra_options *o, lra_err *e)
{
    const char *from = lra_option_text(o, "from"), *matched = lra_option_text(o, "matched");
    lra_finished_run run = {0};
    int rc = 0;
    if (from && matched) return lra_fail_usage(e, "--from and --matched exclude each other");
    if (from && lra_option_given(o, "weights"))
        return lra_fail_usage(e, "--from and --weights exclude each other");
    if (from || matched) rc = lra_finished_run_open(&run, from ? from : matched, NULL, o, e);
    if (rc == 0) rc = lra_job_load_data(r, e);
    if (rc == 0 && from) rc = start_from(r, &run, e);
    if (rc == 0 && matched) rc = match(r, &run, e);
    lra_finished_run_close(&run);
    return rc;
}
