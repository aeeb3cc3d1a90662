/* Delimited text: csv (RFC 4180), and tsv (the same format with tabs).
 * The first line has the names of the columns; every further record is an example with as many
 * fields. A field may be quoted, and then contain separators, line ends, and quotes as "". In a
 * field that does not begin with a quote, quotes are ordinary characters. Lines end with LF, CR LF
 * or CR; the last line end may be missing. Empty lines are skipped. The byte order mark of UTF-8 is
 * skipped, and a first line 'sep=X' (an extension of Excel) sets the separator.
 * A column without a name, such as the index of pandas, is 'column N'. In a column of numbers the
 * fields NA, NaN, null and None are missing values, as empty fields are.
 * Errors: no line of names, a repeated name, a record with another number of fields, text after a
 * closing quote, a quoted field without end, text that is not UTF-8, NUL bytes. */
#ifndef LRA_DATASETS_FORMATS_DELIMITED_H
#define LRA_DATASETS_FORMATS_DELIMITED_H

#include "datasets/formats/columns.h"

/* Parses n bytes of memory in two passes, so that sizes are known before memory is allocated. name:
 * for messages. Does not set the hash. Nullable: as_text. */
int lra_delimited_parse(const char *bytes, size_t n, const char *name, char separator,
                        const char *const *as_text, lra_data_columns *out, lra_err *e);

#endif
