/* Texts for HTML pages. */
#ifndef LRA_REPORTS_HTML_ESCAPE_H
#define LRA_REPORTS_HTML_ESCAPE_H

#include "kernels/base/core/mem.h"

/* Appends a text as HTML, valid in elements and in quoted attributes: & < > " ' become character
 * references, bytes that are not printable UTF-8 become '?'. */
void lra_html_text(lra_text *to, const char *text);
/* Appends `before`, the text as by lra_html_text(), and `after`. */
void lra_html_wrap(lra_text *to, const char *before, const char *text, const char *after);
/* Same as lra_html_text(), with typographic signs: a minus sign before a number, an en dash between
 * numbers and for a missing value. */
void lra_html_number(lra_text *to, const char *text);
/* Appends `before`, the text as by lra_html_number(), and `after`. */
void lra_html_wrap_number(lra_text *to, const char *before, const char *text, const char *after);
/* Appends JSON such that no part of it ends a <script> element: < > & become \u003c, \u003e,
 * \u0026. */
void lra_html_json(lra_text *to, const char *json);

#endif
