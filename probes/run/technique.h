/* Applies the training techniques of papers (techniques.h) to the settings of a run. */
#ifndef LRA_PROBES_RUN_TECHNIQUE_H
#define LRA_PROBES_RUN_TECHNIQUE_H

#include "datasets/loader/task.h"
#include "reports/papers/techniques.h"

enum { LRA_TECHNIQUE_TEXT = 96 };

/* Writes the settings that technique x adds to the settings `budget` of a preset; "" if no setting
 * enables the technique. A technique with several training sets divides the epochs by their number:
 * "sets=three epochs=67" for a budget of 200 epochs. Nullable: x. */
void lra_technique_settings(const lra_technique *x, const char *budget,
                            char text[LRA_TECHNIQUE_TEXT]);
/* Applies the settings of the technique that are parameters of the task. */
void lra_technique_set(const char *paper, const lra_task *t, lra_config *parameters);

#endif
