/* Makes the page of a report. */
#ifndef LRA_REPORTS_HTML_PAGE_MAKE_H
#define LRA_REPORTS_HTML_PAGE_MAKE_H

#include "kernels/base/core/mem.h"
#include "reports/report_input.h"

/* Appends the page of all results of `all`. command: the command line of the program. */
void lra_page_make(const lra_report_input *all, const char *command, lra_text *out);

#endif
