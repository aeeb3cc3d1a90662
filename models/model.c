/* The registry of models. */
#include "models/model.h"

#include <string.h>

#include "kernels/base/core/nearest.h"

static const lra_model *const registry[] = {
#define LRA_MODEL(name, paper) &lra_model_##name,
#include "models/models.def"
#undef LRA_MODEL
};
enum { N_MODELS = sizeof registry / sizeof *registry };

const lra_model *lra_model_at(int i)
{
    return i >= 0 && i < N_MODELS ? registry[i] : NULL;
}

const lra_model *lra_model_find(const char *name, lra_err *e)
{
    const char *names[N_MODELS];
    for (int i = 0; i < N_MODELS; i++) {
        names[i] = registry[i]->name;
        if (strcmp(names[i], name) == 0) return registry[i];
    }
    lra_fail_unknown(e, "model", name, N_MODELS, names, "lra-probe list models");
    return NULL;
}

const char *lra_model_no_limit_reason(const lra_model *m, const lra_config *c)
{
    return m->no_limit_reason_with ? m->no_limit_reason_with(c) : m->no_limit_reason;
}

/* ---- presets --------------------------------------------------------------------------------- */

static bool names_task(const char *tasks, const char *task)
{
    size_t n = strlen(task);
    for (const char *at = tasks; *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        if (length == n && strncmp(at, task, n) == 0) return true;
        at += length;
    }
    return false;
}

/* Returns the priority of a preset for a task, a preset name and a paper; 0: the preset does not
 * apply. */
static int fit(const lra_model_preset *p, const char *task, const char *preset, const char *paper)
{
    if (strcmp(p->preset, preset) != 0 || (p->tasks && !names_task(p->tasks, task))) return 0;
    if (paper) return p->paper && strcmp(p->paper, paper) == 0 ? 1 : 0;
    int publisher = !p->paper                           ? 0
                    : strcmp(p->paper, "locality") == 0 ? 3
                    : strcmp(p->paper, "own") == 0      ? 2
                                                        : 1;
    return 1 + publisher + (p->tasks ? 4 : 0);
}

const lra_model_preset *lra_model_preset_find(const lra_model *m, const char *task,
                                              const char *preset, const char *paper)
{
    const lra_model_preset *best = NULL;
    int most = 0;
    for (const lra_model_preset *p = m->presets; p && p->preset; p++) {
        int f = fit(p, task, preset, paper);
        if (f > most) most = f, best = p;
    }
    return best;
}

/* ---- places ---------------------------------------------------------------------------------- */

bool lra_always_position_dependent(const lra_config *c)
{
    (void)c;
    return true;
}

bool lra_chunks_position_dependent(const lra_config *c)
{
    return lra_config_int(c, "chunk") > 0;
}

int64_t lra_block_period(const lra_config *c, int64_t T_max)
{
    (void)T_max;
    return lra_config_int(c, "block");
}

int64_t lra_chunk_period(const lra_config *c, int64_t T_max)
{
    (void)T_max;
    return lra_config_int(c, "chunk");
}

int64_t lra_model_period(const lra_model *m, const lra_config *c, int64_t T_max)
{
    if (!m->position_dependent || !m->position_dependent(c) || m->reads_position_ids) return 0;
    return m->period ? m->period(c, T_max) : -1;
}

bool lra_model_causal(const lra_model *m, const lra_config *c)
{
    return m->causal && m->causal(c);
}
