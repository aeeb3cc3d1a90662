/* Names of models as their papers have them (models/models.def), for tables and figures; files, CSV
 * and JSON have the ids. */
#ifndef LRA_REPORTS_VIEWS_MODEL_NAMES_H
#define LRA_REPORTS_VIEWS_MODEL_NAMES_H

#include "reports/print/table.h"

/* Returns `name`, which begins with the id `model`, with the paper's name in place of the id:
 * "Linear Transformer heads=8" of "linear-transformer heads=8".  config: of the run, for names that
 * contain a setting.  The caller frees it.  A model without a line in models.def keeps its id. */
char *lra_model_shown(const char *name, const char *model, const char *config);
/* Adds the cell of a model: CSV and JSON have `name`, the other formats lra_model_shown(). */
void lra_table_model(lra_table *t, const char *name, const char *model, const char *config);
/* Adds a note with the ids of the models that the table shows under another name, if any. */
void lra_table_note_models(lra_table *t);

#endif
