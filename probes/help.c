/* lra-probe help: prints help texts, man pages and shell completion of the complete program. */
#include <string.h>

#include "datasets/loader/augment.h"
#include "datasets/loader/dataset.h"
#include "datasets/registry.h"
#include "models/model.h"
#include "probes/probe.h"
#include "probes/run/job.h"
#include "probes/run/key_tables.h"

static const lra_command command = {
    .program = "lra-probe help",
    .summary = "Prints help, a man page or a shell completion script.",
    .usage = "[COMMAND]",
    .examples = "  lra-probe help --man train | man -l -\n"
                "  source <(lra-probe help --completion bash)",
    .max_args = 1,
    .tables = lra_help_tables,
};

static void words(const char *arg, lra_text *to)
{
    if (strcmp(arg, "TASK") == 0) {
        for (int i = 0; lra_task_at(i); i++) lra_text_add(to, "%s ", lra_task_at(i)->name);
    } else if (strcmp(arg, "MODEL") == 0) {
        for (int i = 0; lra_model_at(i); i++) lra_text_add(to, "%s ", lra_model_at(i)->name);
    } else if (strcmp(arg, "OBJECTIVE") == 0) {
        for (int i = 0; lra_objective_at(i); i++)
            lra_text_add(to, "%s ", lra_objective_at(i)->name);
    } else if (strcmp(arg, "SCHEDULE") == 0) {
        for (int i = 0; lra_schedule_at(i); i++) lra_text_add(to, "%s ", lra_schedule_at(i)->name);
    } else if (strcmp(arg, "AUGMENTATION") == 0) {
        for (int i = 0; lra_augmentation_at(i); i++)
            lra_text_add(to, "%s ", lra_augmentation_at(i)->name);
    } else if (strcmp(arg, "PRESET") == 0) {
        lra_text_add(to, "quick small paper ");
    } else if (strcmp(arg, "DEVICE") == 0) {
        lra_text_add(to, "auto cpu cuda ");
    } else if (strcmp(arg, "KEY=VALUE") == 0) {
        lra_key_words(to);
    }
}

const lra_program lra_probe_program = {
    .name = "lra-probe",
    .summary = "Measures how local a long-sequence benchmark or model is.",
    .examples = "  lra-probe receptive-field --task listops --preset quick --out lra-out\n"
                "  lra-probe data listops --preset paper --make 100000 --out lra-out",
    .codes = "0 success, 1 failure, 2 usage error, 130 interrupted (checkpoint saved)",
    .at = lra_probe_at,
    .words = words,
};

static int help(const lra_options *o, lra_err *e)
{
    return lra_help_run(&lra_probe_program, o, e);
}

const lra_probe lra_probe_help = {
    "help", "prints help, man pages and shell completion (bash, zsh, fish)", &command, help};
