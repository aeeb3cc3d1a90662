/* Drawings of gnuplot as part of an HTML page. */
#ifndef LRA_REPORTS_HTML_SVG_INLINE_H
#define LRA_REPORTS_HTML_SVG_INLINE_H

#include <stdint.h>

#include "kernels/base/core/err.h"
#include "kernels/base/core/mem.h"

/* The colours of all drawings of a page. Drawings name colours by CSS classes: f3, s3 and c3 are
 * the fill, the stroke and the current colour number 3, so that a page can be light or dark. */
typedef struct {
    int n;
    uint32_t *rgb; /* (n) colours, 0xRRGGBB */
} lra_svg_colors;
void lra_svg_colors_free(lra_svg_colors *c);
/* Appends the CSS rules of the classes, for light and for dark pages. The dark colour has the hue
 * of the light one and the opposite lightness. */
void lra_svg_colors_css(const lra_svg_colors *c, lra_text *to);

/* Appends a drawing as an element <svg> that scales with the page. Keeps the elements and the
 * attributes of shapes and texts; removes the background, the size in pixels, fonts, links, styles
 * and empty groups. id: prefix of all ids. title, description: texts for screen readers. Fails if
 * the bytes are no SVG. */
int lra_svg_inline(lra_text *to, const char *svg, const char *id, const char *title,
                   const char *description, lra_svg_colors *colors, lra_err *e);

#endif
