/* Prints signals as text. */
#ifndef LRA_DATASETS_FORMATS_SIGNAL_SHOW_H
#define LRA_DATASETS_FORMATS_SIGNAL_SHOW_H

#include "datasets/loader/dataset.h"

/* Draws each channel of a signal over time: 72 columns wide, from its smallest to its largest
 * value. */
void lra_signal_show(const lra_row *signal, FILE *out);

#endif
