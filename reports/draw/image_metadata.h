/* Adds title and description to images in PDF, SVG and PNG. */
#ifndef LRA_REPORTS_DRAW_IMAGE_METADATA_H
#define LRA_REPORTS_DRAW_IMAGE_METADATA_H

#include "kernels/base/core/mem.h"

/* Adds title and description (ASCII; other bytes become '?') to an image that gnuplot wrote:
 * pdfinfo prints them as Title and Subject, SVG has them as <title> and <desc>, PNG as the texts
 * Title and Description. A PNG also gets its resolution in dots per inch, without which programs
 * display it in another size. format: pdf, svg or png. Fails if the bytes are not an image of this
 * format. */
int lra_metadata_add(lra_text *image, const char *format, const char *title,
                     const char *description, lra_err *e);

#endif
