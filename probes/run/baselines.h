/* Baselines that need no model: those of the task, and n-gram classifiers. */
#ifndef LRA_PROBES_RUN_BASELINES_H
#define LRA_PROBES_RUN_BASELINES_H

#include "datasets/loader/dataset.h"
#include "reports/results/result.h"

/* Adds the baselines of a classification, fitted on the training rows, with their predictions for
 * every test row; n-grams only up to LRA_NGRAM_CLASSES classes. The constant baseline defines
 * chance: the most frequent training label. out->n_classes must be set. */
void lra_add_baselines(const lra_dataset *d, lra_result *out);

#endif
