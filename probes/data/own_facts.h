/* Facts about own data: lengths, balance of classes, defects, baselines. */
#ifndef LRA_PROBES_DATA_OWN_FACTS_H
#define LRA_PROBES_DATA_OWN_FACTS_H

#include "datasets/loader/dataset.h"

/* Adds the facts of own data; adds nothing for other tasks. Accuracies of baselines are measured on
 * the test split, in per cent. */
void lra_data_own_facts(const lra_dataset *d, lra_facts *found);

#endif
