/* Names of models as in their papers (models/models.def), for tables and figures. Files, CSV and
 * JSON contain the ids. */
#ifndef LRA_REPORTS_VIEWS_MODEL_NAMES_H
#define LRA_REPORTS_VIEWS_MODEL_NAMES_H

#include "reports/print/table.h"

/* Returns `name`, which begins with the id `model`, with the paper's name in place of the id:
 * "Linear Transformer heads=8" for "linear-transformer heads=8". config: configuration of the run,
 * for names that contain a setting. A model without a line in models.def keeps its id. The caller
 * frees the name. */
char *lra_model_shown(const char *name, const char *model, const char *config);
/* Adds the table cell of a model: CSV and JSON contain `name`, other formats lra_model_shown(). */
void lra_table_model(lra_table *t, const char *name, const char *model, const char *config);
/* Adds a note with the ids of the models that the table shows under another name. */
void lra_table_note_models(lra_table *t);

#endif
