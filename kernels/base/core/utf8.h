/* Check for UTF-8. JSON contains only UTF-8, but file names may be any bytes. */
#ifndef LRA_BASE_CORE_UTF8_H
#define LRA_BASE_CORE_UTF8_H

#include <stdbool.h>

#include "kernels/base/core/err.h"

bool lra_utf8_valid(const char *text);
/* Fails with one line if the text cannot be stored in JSON.  Nullable: text */
int lra_utf8_check(const char *text, lra_err *e);

#endif
