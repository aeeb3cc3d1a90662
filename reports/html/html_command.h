/* The command lra-report html. */
#ifndef LRA_REPORTS_HTML_HTML_COMMAND_H
#define LRA_REPORTS_HTML_HTML_COMMAND_H

#include "kernels/base/cli/options.h"

extern const lra_option lra_html_options[];
/* Writes the page of the results that are named as arguments. */
int lra_html_command(const lra_options *o, lra_err *e);

#endif
