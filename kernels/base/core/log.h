/* Log lines on stderr. */
#ifndef LRA_BASE_CORE_LOG_H
#define LRA_BASE_CORE_LOG_H

#include "kernels/base/core/err.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Prints a line to stderr: lra_note() at normal verbosity, lra_detail() if verbose, lra_warn()
 * always ("warning: ..."). */
void lra_note(const char *fmt, ...) LRA_PRINTF(1, 2);
void lra_detail(const char *fmt, ...) LRA_PRINTF(1, 2);
void lra_warn(const char *fmt, ...) LRA_PRINTF(1, 2);

#ifdef __cplusplus
}
#endif

#endif
