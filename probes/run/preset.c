/* Finds presets of a task and a model (preset.h). */
#include "probes/run/preset.h"

#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/nearest.h"

const char *const lra_preset_names[] = {"quick", "small", "paper", NULL};
const char *const lra_publishers[] = {"locality", "las", "spt", "lra", "own", NULL};

/* Splits "paper:las" into preset "paper" and publisher "las". */
static int read_name(const char *text, lra_preset *p, const char **publisher, lra_err *e)
{
    static const char by[] = "paper:";
    const char *name = strncmp(text, by, sizeof by - 1) == 0 ? "paper" : text;
    *publisher = name == text ? NULL : text + sizeof by - 1;
    for (int i = 0; lra_preset_names[i]; i++)
        if (strcmp(name, lra_preset_names[i]) == 0) p->name = lra_preset_names[i];
    if (p->name) return 0;
    const char *near = lra_nearest(text, 3, lra_preset_names);
    return lra_fail_usage(e, "unknown preset '%s'%s%s%s (quick, small, paper or paper:NAME)", text,
                          near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

/* Fails with the names of the papers that have settings of this model for the task. */
static int fail_publisher(const lra_task *t, const lra_model *m, const char *publisher, lra_err *e)
{
    lra_text papers = {0};
    for (int i = 0; lra_publishers[i]; i++)
        if (lra_model_preset_find(m, t->name, "paper", lra_publishers[i]))
            lra_text_add(&papers, "%s%s", papers.n ? ", " : "", lra_publishers[i]);
    int rc = lra_fail_usage(e, "no settings of model '%s' for task '%s' are published by '%s' (%s)",
                            m->name, t->name, publisher,
                            papers.n ? papers.s : "no paper publishes any");
    lra_text_free(&papers);
    return rc;
}

int lra_preset_find(const lra_task *t, const lra_model *m, const char *text, lra_preset *p,
                    lra_err *e)
{
    const char *publisher;
    *p = (lra_preset){0};
    if (read_name(text, p, &publisher, e) != 0) return LRA_USAGE;
    const lra_budget *b = lra_task_budget(t, p->name);
    if (!b) return lra_fail_usage(e, "task '%s' has no preset '%s'", t->name, p->name);
    const lra_model_preset *row = lra_model_preset_find(m, t->name, p->name, publisher);
    if (publisher && !row) return fail_publisher(t, m, publisher, e);
    p->training = b->training, p->seeds = b->seeds;
    p->size = row ? row->settings : "";
    if (!row) return 0;
    p->published = row->paper, p->rungs = row->rungs;
    lra_technique_settings(lra_technique_find(row->paper, t->name), b->training, p->technique);
    return 0;
}

int lra_preset_use_techniques(lra_preset *p, const lra_task *t, const char *paper, lra_err *e)
{
    if (!paper) return 0;
    if (strcmp(paper, "none") != 0 && strcmp(paper, "locality") != 0)
        return lra_fail_usage(e, "--techniques is '%s'; expected locality or none", paper);
    lra_technique_settings(lra_technique_find(paper, t->name), p->training, p->technique);
    return 0;
}

/* Settings of self-pretraining by Amos et al. 2024. always: masking; paper: number of epochs of
 * their Transformers, for presets "paper". */
static const struct {
    const char *task, *always, *paper;
} pretraining[] = {
    {"listops", "mask=0.1", "epochs=100"}, {"text", "", "epochs=32"},
    {"retrieval", "", "epochs=32"},        {"image", "", "epochs=50"},
    {"pathfinder", "", "epochs=50"},       {"pathfinder-intermediate", "", "epochs=50"},
    {"pathfinder-easy", "", "epochs=50"},  {"path-x", "", "epochs=200"},
    {"path-x-256", "", "epochs=200"},      {"scifar", "", "epochs=200"},
    {"speech-commands", "", "epochs=200"}, {"bidmc-hr", "", "epochs=500"},
    {"bidmc-rr", "", "epochs=500"},        {"bidmc-spo2", "", "epochs=500"},
};

char *lra_preset_objective(const lra_objective *o, const lra_task *task, const char *preset)
{
    lra_text t = {0};
    double share = lra_objective_share(o, task);
    lra_text_add(&t, "%s", ""); /* an empty text: t.s must not be NULL */
    if (share > 0) lra_text_add(&t, "mask=%g", share);
    for (size_t i = 0; i < sizeof pretraining / sizeof *pretraining && o->pretrains; i++) {
        if (strcmp(pretraining[i].task, task->name) != 0) continue;
        if (o->training == LRA_MASK_MASKED) lra_text_add(&t, " %s", pretraining[i].always);
        if (strcmp(preset, "paper") == 0)
            lra_text_add(&t, " %s schedule=constant", pretraining[i].paper);
    }
    return t.s;
}
