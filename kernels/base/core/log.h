/* Lines on stderr. */
#ifndef LRA_BASE_CORE_LOG_H
#define LRA_BASE_CORE_LOG_H

#include "kernels/base/core/err.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A line on stderr: note at normal level, detail at verbose, warning always ("warning: ..."). */
void lra_note(const char *fmt, ...) LRA_PRINTF(1, 2);
void lra_detail(const char *fmt, ...) LRA_PRINTF(1, 2);
void lra_warn(const char *fmt, ...) LRA_PRINTF(1, 2);

#ifdef __cplusplus
}
#endif

#endif
