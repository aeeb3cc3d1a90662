/* Delimited text: csv (RFC 4180) and tsv (the same with tabs).
 *   A first line of names; then one record per example with as many fields.
 *   Fields may be quoted, and then contain the separator, line ends, and quotes as "".  In a field
 *   that does not begin with a quote, quotes are characters like others.  Lines end with LF, CR LF
 *   or CR; the last one need not end.  Empty lines are skipped.  The byte order mark of UTF-8 is
 *   skipped, and a first line 'sep=X', which Excel reads, sets the separator.
 * A name that is empty, as that of the index of pandas, is 'column N'.  In a column of numbers the
 * fields NA, NaN, null and None are missing, like empty ones.
 * Refused: no line of names, a name that occurs twice, another number of fields, text after a
 * closing quote, a quoted field without end, text that is not UTF-8, NUL bytes. */
#ifndef LRA_DATASETS_FORMATS_DELIMITED_H
#define LRA_DATASETS_FORMATS_DELIMITED_H

#include "datasets/formats/columns.h"

/* Reads n bytes of memory, twice: sizes are known before anything is allocated.  `name` is used in
 * messages.  Nullable: as_text.  Does not set the hash. */
int lra_delimited_parse(const char *bytes, size_t n, const char *name, char separator,
                        const char *const *as_text, lra_columns *out, lra_err *e);

#endif
