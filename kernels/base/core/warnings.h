/* Warnings that are collected for a table instead of being printed to the terminal. */
#ifndef LRA_BASE_CORE_WARNINGS_H
#define LRA_BASE_CORE_WARNINGS_H

#include "kernels/base/core/mem.h"

/* Redirects lra_warn(): later warnings are appended to the text as lines; NULL: written to stderr
 * again.  Returns the previous target. */
lra_text *lra_warn_into(lra_text *to);

#endif
