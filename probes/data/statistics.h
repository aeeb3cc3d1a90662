/* What the steps of rows are like, so that noise in the form of data is seen to be noise. */
#ifndef LRA_PROBES_DATA_STATISTICS_H
#define LRA_PROBES_DATA_STATISTICS_H

#include "datasets/loader/dataset.h"

/* Adds to the facts, of the training split.  Numbers: mean, standard deviation, correlation of
 * neighbouring steps, and what it is in the published rows.  Words: how many are used, bits of a
 * token, and bits of a token that follows a known one.  Warns when neighbours know nothing of each
 * other although they should. */
void lra_data_statistics(const lra_dataset *d, lra_facts *found);

#endif
