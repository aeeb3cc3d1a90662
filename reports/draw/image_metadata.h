/* Image metadata: title and description in PDF, SVG and PNG. */
#ifndef LRA_REPORTS_DRAW_IMAGE_METADATA_H
#define LRA_REPORTS_DRAW_IMAGE_METADATA_H

#include "kernels/base/core/mem.h"

/* Adds title and description (ASCII; other bytes become '?') to an image as gnuplot wrote it, so
 * that
 *   pdfinfo shows Title and Subject, SVG has <title> and <desc>, PNG the texts Title and Description.
 * A PNG also gets its resolution in dots per inch; without it programs display it in another size.
 * format: pdf svg png.  Fails if the bytes are not an image of this format. */
int lra_metadata_add(lra_text *image, const char *format, const char *title,
                     const char *description, lra_err *e);

#endif
