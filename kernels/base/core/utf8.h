/* Check for UTF-8. JSON contains only UTF-8, but file names may be any bytes. */
#ifndef LRA_BASE_CORE_UTF8_H
#define LRA_BASE_CORE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/base/core/err.h"

/* Returns the number of bytes of the UTF-8 character at p, of which n > 0 bytes are readable; 0: it
 * is not valid UTF-8. */
size_t lra_utf8_character(const unsigned char *p, size_t n);
bool lra_utf8_valid(const char *text);
/* Fails with one line if the text cannot be stored in JSON.  Nullable: text */
int lra_utf8_check(const char *text, lra_err *e);

#endif
