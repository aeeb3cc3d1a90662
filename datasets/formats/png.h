/* Images as PNG files, by libpng. Images other than 8-bit greyscale without interlacing, and images
 * with a wrong checksum, are errors. */
#ifndef LRA_DATASETS_FORMATS_PNG_H
#define LRA_DATASETS_FORMATS_PNG_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/base/core/err.h"

enum { LRA_PNG_MAX_SIDE = 4096 };

/* Reads height and width of an image in memory; name: for messages. */
int lra_png_size(const void *bytes, size_t n, const char *name, int *height, int *width,
                 lra_err *e);
/* Decodes an image of the given height and width; pixel: (height,width). */
int lra_png_read(const void *bytes, size_t n, const char *name, int height, int width,
                 uint8_t *pixel, lra_err *e);
/* Writes an image to a file. The file is not synced to disk, because folders have many small files,
 * whose index is written last. */
int lra_png_write(const char *path, int height, int width, const uint8_t *pixel, lra_err *e);
/* Same as lra_png_write(), for a colour image: pixel (height,width,3), red, green, blue. */
int lra_png_write_colour(const char *path, int height, int width, const uint8_t *pixel, lra_err *e);

#endif
