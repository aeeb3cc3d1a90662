/* Text of all decisions made before a run starts: device, precision, schedule, optimizer,
 * selection. */
#include "probes/run/plan_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/cpu/features.h"
#include "models/training/settings.h"
#include "probes/run/train_job.h"

/* Adds the objective and the run from which training starts; adds nothing if both are defaults. */
static void add_data(const lra_job *r, const lra_train_spec *s, lra_text *t)
{
    const lra_objective *o = r->objective;
    if (o != &lra_objective_classify) {
        lra_text_add(t, "objective    %s: %s", o->name, o->summary);
        if (s->mask > 0) lra_text_add(t, "; masked: %g %% of positions", 100 * s->mask);
        lra_text_add(t, "\n");
    }
    if (s->from) lra_text_add(t, "start        inputs and encoder of '%s', a new head\n", s->from);
}

/* Adds value and help text of every training setting that differs from its default and that no
 * other line contains. New settings are included automatically. */
static void add_others(const lra_job *r, lra_text *t)
{
    static const char listed[] =
        "objective schedule batch epochs rate warmup decay clip beta1 beta2 "
        "eps";
    for (const lra_key *k = lra_train_keys; k->name; k++) {
        const char *value = lra_config_text(r->train_config, k->name);
        if (lra_task_has_key(listed, k->name) || strcmp(value, k->value) == 0) continue;
        lra_text_add(t, "%-12s %s: %s\n", k->name, value, k->help);
    }
}

char *lra_job_plan_text(const lra_job *r, const lra_train_spec *s, const lra_train_cost *c)
{
    lra_schedule schedule = s->schedule;
    const lra_adamw_spec *o = &s->optimizer;
    static const char *const again[] = {"", "; the backward pass recomputes cheap activations",
                                        "; the backward pass recomputes layers"};
    char work[32], weights[32];
    lra_text t = {0};
    schedule.steps_per_epoch = c->steps / schedule.epochs;
    char *rate = lra_schedule_text(&schedule);
    if (r->device.detail)
        lra_text_add(&t, "device       %s: %s\n", r->device.name, r->device.detail);
    else
        lra_text_add(&t, "device       %s: %s, instruction level %s, at most %d threads\n",
                     r->device.name, lra_cpu_name(), lra_cpu_best(),
                     r->device.backend->threads(&r->device));
    if (r->no_gpu.msg[0]) lra_text_add(&t, "no GPU       %s\n", r->no_gpu.msg);
    lra_text_add(&t, "precision    %s%s\n", r->precision,
                 s->type == LRA_BF16 ? ", sums, losses and parameters in float32" : "");
    add_data(r, s, &t);
    lra_text_add(&t, "epochs       %" PRId64 " of %" PRId64 " steps each, batch %" PRId64 "\n",
                 schedule.epochs, schedule.steps_per_epoch, s->batch);
    add_others(r, &t);
    lra_text_add(&t, "schedule     %s\n", rate);
    lra_free(rate);
    lra_text_add(&t,
                 "optimizer    AdamW, betas %g %g, eps %g, decay %g (none on biases and norms), ",
                 o->beta1, o->beta2, o->eps, o->decay);
    if (o->clip > 0)
        lra_text_add(&t, "gradient norm at most %g\n", o->clip);
    else
        lra_text_add(&t, "gradients not clipped\n");
    lra_text_add(&t, "memory       %s workspace, %s parameters and moments%s\n",
                 lra_size_text(work, c->workspace_bytes),
                 lra_size_text(weights, c->parameter_bytes), again[c->keep]);
    const lra_metric *m = lra_objective_metric(r->objective, r->data);
    lra_text_add(&t, "selection    the epoch with the %s validation %s; tested once",
                 m->lower ? "lowest" : "best", m->text);
    char *deviations = lra_job_deviations(r);
    for (const char *at = deviations; *at; at += strcspn(at, "\n") + 1)
        lra_text_add(&t, "\ndeviation    %.*s", (int)strcspn(at, "\n"), at);
    lra_free(deviations);
    return t.s;
}
