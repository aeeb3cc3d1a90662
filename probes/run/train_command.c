/* Writes a run as a command: its preset, and the settings that differ from it (train_command.h). */
#include "probes/run/train_command.h"

#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/os/shell.h"
#include "probes/run/finished_run.h"
#include "probes/run/job_options.h"
#include "probes/run/settings.h"

static const lra_option *const done_tables[] = {lra_finished_run_options, NULL};
static const lra_option *const job_tables[] = {lra_job_options, NULL};
/* Descriptions for lra_options_parse(), with only the members that it needs. */
static const lra_command done_command = {.program = "lra-probe train", .tables = done_tables};
static const lra_command job_command = {.program = "lra-probe train", .tables = job_tables};

/* Fills the settings that the run's preset alone would give. */
static int configure_preset(const lra_finished_run *r, lra_job *preset, lra_err *e)
{
    char *argv[] = {lra_format("--task=%s", r->job.task->name),
                    lra_format("--model=%s", r->job.model->name),
                    lra_format("--preset=%s", r->job.preset)};
    lra_options *o = lra_options_parse(&job_command, 3, argv, e);
    *preset = (lra_job){.task = r->job.task, .model = r->job.model, .preset = r->job.preset};
    int rc = o ? lra_job_configure(preset, o, NULL, e) : LRA_USAGE;
    lra_options_free(o);
    for (int i = 0; i < 3; i++) lra_free(argv[i]);
    return rc;
}

static void add_word(lra_text *t, const char *option, const char *value)
{
    char *word = lra_shell_word(value);
    lra_text_add(t, " %s %s", option, word);
    lra_free(word);
}

static void add_changes(lra_text *t, const lra_config *run, const lra_config *preset)
{
    /* Keys that identify other runs: --set does not accept them, and the exported weights already
     * contain their effect. */
    static const char named[] = "from matched related";
    for (int i = 0; lra_config_key(run, i); i++) {
        const char *key = lra_config_key(run, i), *value = lra_config_value(run, i);
        if (lra_task_has_key(named, key)) continue;
        if (strcmp(lra_config_text_or(preset, key, ""), value) == 0) continue;
        char *assignment = lra_format("%s=%s", key, value);
        add_word(t, "--set", assignment);
        lra_free(assignment);
    }
}

static void add_all(lra_text *t, const lra_finished_run *r, const lra_job *preset)
{
    lra_text_add(t, "lra-probe train");
    add_word(t, "--task", r->job.task->name);
    add_word(t, "--model", r->job.model->name);
    add_word(t, "--preset", r->job.preset);
    add_changes(t, r->job.task_config, preset->task_config);
    add_changes(t, r->job.model_config, preset->model_config);
    add_changes(t, r->job.train_config, preset->train_config);
    add_word(t, "--precision", r->job.precision);
    if (!r->job.task->data.make) lra_text_add(t, " --data-dir DIR");
    if (strcmp(r->out, "lra-out") != 0) add_word(t, "--out", r->out);
}

char *lra_train_command(const char *folder, const char *out, lra_err *e)
{
    lra_finished_run r = {0};
    lra_job preset = {0};
    lra_text t = {0};
    char *argv[] = {lra_format("--out=%s", out)};
    lra_options *o = lra_options_parse(&done_command, 1, argv, e);
    int rc = o ? lra_finished_run_open(&r, folder, NULL, o, e) : LRA_USAGE;
    if (rc == 0 && r.job.task->resolve) rc = lra_finished_run_load_data(&r, e);
    if (rc == 0) rc = configure_preset(&r, &preset, e);
    if (rc == 0) add_all(&t, &r, &preset);
    lra_job_close(&preset);
    lra_finished_run_close(&r);
    lra_options_free(o);
    lra_free(argv[0]);
    return t.s;
}
