/* Prints images as text. */
#ifndef LRA_DATASETS_FORMATS_IMAGE_SHOW_H
#define LRA_DATASETS_FORMATS_IMAGE_SHOW_H

#include "datasets/loader/dataset.h"

/* Draws a square image with n grey levels 0..255 (colours are converted to grey levels). A pixel is
 * two characters; low levels are dark. Images wider than 64 pixels are reduced to the brightest
 * pixel of every block. */
void lra_image_show(const lra_row *image, FILE *out);

#endif
