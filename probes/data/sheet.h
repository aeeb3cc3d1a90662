/* lra-probe data --sheet: what an augmentation makes of images, as one picture. */
#ifndef LRA_PROBES_DATA_SHEET_H
#define LRA_PROBES_DATA_SHEET_H

#include "datasets/loader/dataset.h"

/* Writes the PNG `path`, and to stdout what each of its rows shows.  LRA_USAGE when the task has no
 * augmentation of images. */
int lra_data_sheet(const lra_dataset *d, const char *path, lra_err *e);

#endif
