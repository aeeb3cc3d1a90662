/* Byte order marks, which some editors write at the start of a text. The mark of UTF-8 is skipped.
 * UTF-16, in which every other byte of ASCII text is 0, is an error. */
#ifndef LRA_DATASETS_FORMATS_BOM_H
#define LRA_DATASETS_FORMATS_BOM_H

#include <stddef.h>
#include <string.h>

#include "kernels/base/core/err.h"

/* Returns the size of the byte order mark in bytes, 0 if there is none. */
static inline size_t lra_bom_size(const char *bytes, size_t n)
{
    return n >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

/* Fails if the bytes start with a byte order mark of UTF-16. */
static inline int lra_expect_utf8(const char *bytes, size_t n, const char *name, lra_err *e)
{
    if (n < 2 || (memcmp(bytes, "\xFF\xFE", 2) != 0 && memcmp(bytes, "\xFE\xFF", 2) != 0)) return 0;
    return lra_fail(
        e, "'%s' is UTF-16 text, expected UTF-8; convert it by 'iconv -f UTF-16 -t UTF-8'", name);
}

#endif
