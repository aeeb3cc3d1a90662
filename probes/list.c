/* lra-probe list KIND: the registries. */
#include <stdio.h>
#include <string.h>

#include "datasets/loader/augment.h"
#include "kernels/base/mem.h"
#include "kernels/base/options.h"
#include "kernels/base/process.h"
#include "kernels/cpu/device.h"
#include "kernels/cpu/features.h"
#include "kernels/cuda/device.h"
#include "kernels/graph/op.h"
#include "models/model.h"
#include "probes/probe.h"
#include "probes/run/job.h"

static const lra_option *const tables[] = {lra_common_options, NULL};
static const lra_command command = {
    .program = "lra-probe list",
    .summary = "Lists what this build knows.",
    .usage = "tasks|models|probes|ops|devices|presets|objectives|schedules|augmentations",
    .examples = "  lra-probe list models\n  lra-probe list tasks",
    .min_args = 1,
    .max_args = 1,
    .tables = tables,
};

static int list_tasks(lra_err *e)
{
    (void)e;
    for (int i = 0; lra_task_at(i); i++)
        printf("%-24s%s\n", lra_task_at(i)->name, lra_task_at(i)->summary);
    return 0;
}

static int list_models(lra_err *e)
{
    (void)e;
    for (int i = 0; lra_model_at(i); i++) {
        const lra_model *m = lra_model_at(i);
        char *keys = lra_keys_text(m->keys);
        printf("%-14s%s (%s)\n%-14s%s\n", m->name, m->summary, m->paper, "", keys);
        lra_free(keys);
    }
    return 0;
}

static int list_ops(lra_err *e)
{
    (void)e;
    for (int i = 0; lra_op_at(i); i++) {
        const lra_op *op = lra_op_at(i);
        printf("%-22s%s%s%s%s\n", op->name, op->flags & LRA_LEAF ? "leaf " : "",
               op->flags & LRA_INPLACE ? "in-place " : "", op->flags & LRA_ALIAS ? "alias " : "",
               op->flags & LRA_NOGRAD ? "" : "gradient");
    }
    return 0;
}

static int list_probes(lra_err *e)
{
    (void)e;
    for (int i = 0; lra_probe_at(i); i++)
        printf("%-18s%s\n", lra_probe_at(i)->name, lra_probe_at(i)->summary);
    return 0;
}

/* Why there is none is an answer too. */
static int list_gpus(lra_err *e)
{
    lra_err why = {{0}};
    int n = lra_cuda_count(&why);
    if (!lra_cuda_is_built()) printf("%-8snot in this build\n", "cuda");
    if (lra_cuda_is_built() && n == 0)
        printf("%-8snone to use, %s: %s\n", "cuda", lra_cuda_built(), why.msg);
    for (int i = 0; i < n; i++) {
        char text[160], name[24];
        snprintf(name, sizeof name, "cuda:%d", i);
        if (lra_cuda_describe(i, text, sizeof text, e) != 0) return LRA_FAILED;
        printf("%-8s%s, %s, --precision auto is bf16\n", name, text, lra_cuda_built());
    }
    return 0;
}

static int list_devices(lra_err *e)
{
    lra_device d;
    char memory[32];
    if (lra_cpu_device(&d, 0, e) != 0) return LRA_FAILED;
    printf("%-8s%s, level %s, %d threads, %s free, --precision auto is %s\n", "cpu", lra_cpu_name(),
           lra_cpu_best(), d.backend->threads(&d), lra_size_text(memory, lra_memory_free()),
           lra_job_precision("auto", &d));
    return list_gpus(e);
}

static int list_objectives(lra_err *e)
{
    (void)e;
    for (int i = 0; lra_objective_at(i); i++) {
        const lra_objective *o = lra_objective_at(i);
        printf("%-18s%s (%s)\n", o->name, o->summary, o->paper);
    }
    return 0;
}

static int list_schedules(lra_err *e)
{
    (void)e;
    for (int i = 0; lra_schedule_at(i); i++) {
        const lra_schedule_kind *s = lra_schedule_at(i);
        printf("%-18s%s (%s)\n", s->name, s->summary, s->paper);
    }
    return 0;
}

static int list_augmentations(lra_err *e)
{
    (void)e;
    for (int i = 0; lra_augmentation_at(i); i++) {
        const lra_augmentation *a = lra_augmentation_at(i);
        printf("%-12s%s\n", a->name, a->summary);
        char *keys = lra_keys_text(a->keys);
        if (*keys) printf("%-12s%s\n", "", keys);
        lra_free(keys);
    }
    return 0;
}

static int list_presets(lra_err *e)
{
    (void)e;
    static const char *const names[] = {"quick", "small", "paper"};
    for (int i = 0; lra_task_at(i); i++)
        for (int k = 0; k < 3; k++) {
            const lra_preset *p = lra_preset_find(lra_task_at(i)->name, names[k]);
            if (p)
                printf("%-24s%-8skernels %s, %d seeds\n%-32s%s\n", p->task, p->preset, p->kernels,
                       p->seeds, "", p->changes);
        }
    return 0;
}

static int list(const lra_options *o, lra_err *e)
{
    static const char *const kinds[] = {"tasks",      "models",    "probes",
                                        "ops",        "devices",   "presets",
                                        "objectives", "schedules", "augmentations"};
    static int (*const print[])(lra_err * e) = {
        list_tasks,   list_models,     list_probes,    list_ops,          list_devices,
        list_presets, list_objectives, list_schedules, list_augmentations};
    enum { N_KINDS = sizeof kinds / sizeof *kinds };
    const char *kind = lra_option_arg(o, 0);
    for (int i = 0; i < N_KINDS; i++)
        if (strcmp(kind, kinds[i]) == 0) return print[i](e);
    return lra_fail_unknown(e, "kind", kind, N_KINDS, kinds, "lra-probe list --help");
}

const lra_probe lra_probe_list = {
    "list", "what this build knows: tasks, models, ops, devices, presets ...", &command, list};
