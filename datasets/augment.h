/* Augmentations that tasks share. */
#ifndef LRA_DATASETS_AUGMENT_H
#define LRA_DATASETS_AUGMENT_H

#include <stdint.h>

#include "datasets/dataset.h"

enum { LRA_D4 = 8 };
/* Turns a square image of n pixels, row by row, in place: bit 0 mirrors it left to right, bit 1 top to bottom, bit
 * 2 swaps rows and columns first.  The eight symmetries of the square; 0 leaves it as it is. */
void lra_image_turn(uint16_t *pixel, int64_t n, int symmetry);
/* One of them at random, each as likely. */
void lra_augment_d4(const lra_dataset *d, lra_rng *rng, lra_row *row);

#endif
