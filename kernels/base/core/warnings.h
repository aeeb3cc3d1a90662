/* Warnings for a table instead of for the terminal. */
#ifndef LRA_BASE_CORE_WARNINGS_H
#define LRA_BASE_CORE_WARNINGS_H

#include "kernels/base/core/mem.h"

/* From now on lra_warn() appends a line to the text; NULL: it writes to stderr again.  Returns what
 * was set before. */
lra_text *lra_warn_into(lra_text *to);

#endif
