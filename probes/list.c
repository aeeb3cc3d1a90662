/* lra-probe list KIND: the registries. */
#include <stdio.h>
#include <string.h>

#include "datasets/dataset.h"
#include "kernels/base/options.h"
#include "kernels/graph/op.h"
#include "models/model.h"
#include "probes/probe.h"
#include "probes/job.h"

static const lra_option *const tables[] = {lra_common_options, NULL};
static const lra_command command = {
    .program = "lra-probe list",
    .summary = "Lists what this build knows.",
    .usage = "tasks|models|ops|presets",
    .examples = "  lra-probe list models\n  lra-probe list tasks",
    .min_args = 1,
    .max_args = 1,
    .tables = tables,
};

static void list_tasks(void)
{
    for (int i = 0; lra_task_at(i); i++)
        printf("%-14s%s\n", lra_task_at(i)->name, lra_task_at(i)->summary);
}

static void list_models(void)
{
    for (int i = 0; lra_model_at(i); i++) {
        const lra_model *m = lra_model_at(i);
        printf("%-14s%s (%s)\n%-14s%s\n", m->name, m->summary, m->paper, "", m->defaults);
    }
}

static void list_ops(void)
{
    for (int i = 0; lra_op_at(i); i++) {
        const lra_op *op = lra_op_at(i);
        printf("%-22s%s%s%s%s\n", op->name, op->flags & LRA_LEAF ? "leaf " : "",
               op->flags & LRA_INPLACE ? "in-place " : "", op->flags & LRA_ALIAS ? "alias " : "",
               op->flags & LRA_NOGRAD ? "" : "gradient");
    }
}

static void list_presets(void)
{
    static const char *const names[] = {"quick", "small", "paper"};
    for (int i = 0; lra_task_at(i); i++)
        for (int k = 0; k < 3; k++) {
            const lra_preset *p = lra_preset_find(lra_task_at(i)->name, names[k]);
            if (p)
                printf("%-14s%-8skernels %s, %d seeds\n%-22s%s\n", p->task, p->preset, p->kernels,
                       p->seeds, "", p->changes);
        }
}

static int run(int argc, char **argv, lra_err *e)
{
    static const char *const kinds[] = {"tasks", "models", "ops", "presets"};
    static void (*const list[])(void) = {list_tasks, list_models, list_ops, list_presets};
    lra_options *o = lra_options_parse(&command, argc, argv, e);
    if (!o) return LRA_USAGE;
    int rc = 0;
    if (lra_options_help_wanted(o)) {
        lra_options_help(&command, stdout);
    } else {
        int i = 0;
        while (i < 4 && strcmp(lra_option_arg(o, 0), kinds[i]) != 0) i++;
        if (i < 4)
            list[i]();
        else
            rc = lra_fail_unknown(e, "kind", lra_option_arg(o, 0), 4, kinds,
                                  "lra-probe list --help");
    }
    lra_options_free(o);
    return rc;
}

const lra_probe lra_probe_list = {"list", "what this build knows: tasks, models, ops, presets",
                                  run};
