/* What the readers of columns share: limits, memory, names, checks of text, numbers. */
#ifndef LRA_DATASETS_FORMATS_COLUMN_PARTS_H
#define LRA_DATASETS_FORMATS_COLUMN_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/core/err.h"

enum { LRA_COLUMNS_MAX = 1 << 16 }; /* columns of a file */

/* A name or text of a file, cut and fit for a message. */
typedef struct {
    char text[64];
} lra_quote;
lra_quote lra_quote_bytes(const char *bytes, size_t n);
lra_quote lra_quote_text(const char *text);

/* Line (from 1) of the byte at `at`, and its position in that line (from 1); lines end with LF, CR
 * LF or CR. */
int64_t lra_line_of(const char *bytes, size_t at, size_t *byte);

/* Fails for the first byte that is not UTF-8 (RFC 3629), with line, byte and remedy. */
int lra_check_utf8_lines(const char *bytes, size_t n, const char *name, lra_err *e);

/* Reads a decimal number with blanks around it: digits, '.', exponent, or inf, infinity, nan in any
 * case with a sign.  Correctly rounded.  False: the field is anything else. */
bool lra_read_number(const char *bytes, size_t n, double *to);

/* Memory for `need` elements of `size` bytes: p itself if its capacity suffices, else a larger
 * block of lra_try_alloc() with the first `used` elements of p, which is freed.  NULL with a
 * message; p is then still valid. */
void *lra_grow(void *p, int64_t *capacity, int64_t used, int64_t need, size_t size,
               const char *name, lra_err *e);

#endif
