/* Applies the training techniques of papers (techniques.h) to the settings of a run. */
#ifndef LRA_PROBES_RUN_TECHNIQUE_H
#define LRA_PROBES_RUN_TECHNIQUE_H

#include "datasets/loader/task.h"
#include "reports/papers/techniques.h"

enum { LRA_TECHNIQUE_TEXT = 96 };

/* Writes the settings of a technique with the settings `budget` of a preset, for example
 * "sets=three epochs=67" for a budget of 200 epochs; "" if no setting enables it. Nullable: x. */
void lra_technique_settings(const lra_technique *x, const char *budget,
                            char text[LRA_TECHNIQUE_TEXT]);
/* Applies the settings of the technique that are parameters of the task. */
void lra_technique_set(const char *paper, const lra_task *t, lra_config *parameters);

#endif
