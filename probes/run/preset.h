/* Presets multiply: budget (task x preset), size (model x preset), published settings (paper x task
 * x model), training techniques (paper x task).
 *   quick, small   ours
 *   paper          the locality paper's settings of the model, else those of the model's own paper
 *   paper:NAME     those of one paper: locality, las, spt, lra, own
 * Applied in this order: the task's budget, the technique, the model's settings, the
 * objective's. */
#ifndef LRA_PROBES_RUN_PRESET_H
#define LRA_PROBES_RUN_PRESET_H

#include "models/training/objective.h"

extern const char *const lra_preset_names[]; /* "quick", "small", "paper", NULL */
extern const char *const lra_publishers[];   /* "locality", "las", "spt", "lra", "own", NULL */

typedef struct {
    const char *name;      /* of lra_preset_names */
    const char *training;  /* the task's: epochs, batch, schedule */
    const char *size;      /* the model's: its settings, rate, decay */
    const char *technique; /* the paper's for the task (technique.h): "augment=1".  NULL: none */
    const char *published; /* the paper; NULL: none */
    const char *rungs;     /* values of the model's axis, "1,3,5".  NULL: none */
    int seeds;             /* of a ladder */
} lra_preset;

/* Returns 0, or LRA_USAGE: there is no such preset, or no publication of that name. */
int lra_preset_find(const lra_task *t, const lra_model *m, const char *text, lra_preset *p,
                    lra_err *e);
/* Settings that an objective changes at a preset: "mask=0.5 epochs=50"; caller frees. */
char *lra_preset_objective(const lra_objective *o, const lra_task *task, const char *preset);

#endif
