/* A preset combines four sources of settings: budget (by task and preset), size (by model and
 * preset), published settings (by paper, task and model), and training techniques (by paper and
 * task).
 *   quick, small   settings of this project
 *   paper          the model's settings in the locality paper, or else in its own paper
 *   paper:NAME     settings of one paper: locality, las, spt, lra, own
 * They are applied in this order: the task's budget, the technique, the model's settings, the
 * objective's settings. */
#ifndef LRA_PROBES_RUN_PRESET_H
#define LRA_PROBES_RUN_PRESET_H

#include "models/training/objective.h"
#include "probes/run/technique.h"

extern const char *const lra_preset_names[]; /* "quick", "small", "paper", NULL */
extern const char *const lra_publishers[];   /* "locality", "las", "spt", "lra", "own", NULL */

typedef struct {
    const char *name;     /* one of lra_preset_names */
    const char *training; /* settings by task: epochs, batch, schedule */
    const char *size;     /* settings by model: its parameters, learning rate, weight decay */
    /* settings of the paper's technique for the task (techniques.h), for example "augment=1"; "":
     * none */
    char technique[LRA_TECHNIQUE_TEXT];
    const char *published; /* name of the paper; NULL: none */
    const char *rungs;     /* values of the model's axis for a ladder, "1,3,5". NULL: none */
    int seeds;             /* number of seeds of a ladder */
} lra_preset;

/* Fills *p. Returns 0, or LRA_USAGE if the preset or the publication does not exist. */
int lra_preset_find(const lra_task *t, const lra_model *m, const char *text, lra_preset *p,
                    lra_err *e);
/* Replaces the technique by that of a paper (for every preset), or removes it ("none"). Returns 0,
 * or LRA_USAGE if no such paper has techniques. Nullable: paper (no change). */
int lra_preset_use_techniques(lra_preset *p, const lra_task *t, const char *paper, lra_err *e);
/* Settings that an objective adds to a preset, "mask=0.5 epochs=50". The caller frees it. */
char *lra_preset_objective(const lra_objective *o, const lra_task *task, const char *preset);

#endif
