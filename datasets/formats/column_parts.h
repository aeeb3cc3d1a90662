/* Shared code of the readers of columns: limits, memory, names, checks of text, numbers. */
#ifndef LRA_DATASETS_FORMATS_COLUMN_PARTS_H
#define LRA_DATASETS_FORMATS_COLUMN_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/core/err.h"

enum { LRA_COLUMNS_MAX = 1 << 16 }; /* maximum number of columns of a file */

/* A name or text from a file, shortened and made printable for messages. */
typedef struct {
    char text[64];
} lra_quote;
lra_quote lra_quote_bytes(const char *bytes, size_t n);
lra_quote lra_quote_text(const char *text);

/* Returns the line (from 1) of the byte at offset `at`; *byte: its position in the line (from 1).
 * Lines end with LF, CR LF or CR. Nullable: byte. */
int64_t lra_line_of(const char *bytes, size_t at, size_t *byte);

/* Fails at the first byte that is not UTF-8 (RFC 3629); the message has line, byte and remedy. */
int lra_check_utf8_lines(const char *bytes, size_t n, const char *name, lra_err *e);

/* Reads a decimal number, which may have blanks around it: digits, '.', exponent, or inf, infinity,
 * nan with a sign, ignoring case. The result is correctly rounded. Returns false for any other
 * field. */
bool lra_read_number(const char *bytes, size_t n, double *to);

/* Returns memory for `need` elements of `size` bytes: p if its capacity suffices, else a larger
 * block with the first `used` elements of p, which is freed. Returns NULL and a message if there is
 * no memory; p is then still valid. */
void *lra_grow(void *p, int64_t *capacity, int64_t used, int64_t need, size_t size,
               const char *name, lra_err *e);

#endif
