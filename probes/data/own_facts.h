/* Facts about own data: lengths, balance of classes, defects, baselines. */
#ifndef LRA_PROBES_DATA_OWN_FACTS_H
#define LRA_PROBES_DATA_OWN_FACTS_H

#include "datasets/loader/dataset.h"

/* Adds them; nothing for other tasks. Accuracies of baselines are those on the test split, in
 * percent. */
void lra_data_own_facts(const lra_dataset *d, lra_facts *found);

#endif
