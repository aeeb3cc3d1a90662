/* Implements 'lra-probe data --sheet': draws augmented images as one picture. */
#ifndef LRA_PROBES_DATA_SHEET_H
#define LRA_PROBES_DATA_SHEET_H

#include "datasets/loader/dataset.h"

/* Writes the PNG file `path`, and prints a description of each row. Returns LRA_USAGE if the task
 * has no augmentation of images. */
int lra_data_sheet(const lra_dataset *d, const char *path, lra_err *e);

#endif
