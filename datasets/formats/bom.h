/* The byte order mark that some editors put in front of a text in UTF-8. */
#ifndef LRA_DATASETS_FORMATS_BOM_H
#define LRA_DATASETS_FORMATS_BOM_H

#include <stddef.h>
#include <string.h>

/* Bytes that it takes, 0: there is none. */
static inline size_t lra_bom_size(const char *bytes, size_t n)
{
    return n >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

#endif
