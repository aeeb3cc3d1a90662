/* Signals for people. */
#ifndef LRA_DATASETS_FORMATS_SIGNAL_SHOW_H
#define LRA_DATASETS_FORMATS_SIGNAL_SHOW_H

#include "datasets/loader/dataset.h"

/* Draws each number of the steps over time, 72 columns wide, from the least to the greatest value
 * of each. */
void lra_signal_show(const lra_row *signal, FILE *out);

#endif
