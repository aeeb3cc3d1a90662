/* Pairs of papers of the ACL Anthology Network in the format of the Long Range Arena:
 *   label <tab> id1 <tab> id2 <tab> text1 <tab> text2
 * without a header, label 0.0 or 1.0, one pair a line. Columns end only at tabs; quotes are
 * ordinary characters. (S4's reader interprets a quote at the start of a column as the beginning
 * of a quoted text: such columns are counted.) */
#ifndef LRA_DATASETS_FORMATS_AAN_H
#define LRA_DATASETS_FORMATS_AAN_H

#include "datasets/formats/characters.h"
#include "datasets/loader/dataset.h"
#include "kernels/base/core/mem.h"

typedef struct {
    const char *text[2], *id[2];
    size_t n_text[2], n_id[2];
    int label;
} lra_aan_pair;

typedef struct {
    int64_t n_rows;
    int64_t n_columns; /* skipped lines, which do not have exactly five columns */
    int64_t n_labels;  /* skipped lines, whose label is neither 0.0 nor 1.0 */
    int64_t n_quoted;  /* text columns that start with a quote */
    int64_t n_empty;   /* empty text columns; such a document consists of <eos> alone */
} lra_aan_counts;

/* Parses the bytes of a file, in pieces of any size, and passes its pairs to a function. */
typedef struct {
    const char *name; /* name of the file, for messages */
    int (*pair)(void *of, const lra_aan_pair *pair, lra_err *e);
    void *of;
    lra_aan_counts counts;
    int64_t line;
    lra_text rest; /* first part of a line whose end has not been read */
} lra_aan_reader;

/* Parses the next n bytes; n = 0 ends the file. A file of three columns is an error with an
 * explanation: it contains no texts. */
int lra_aan_read(lra_aan_reader *r, const char *bytes, size_t n, lra_err *e);
void lra_aan_free(lra_aan_reader *r);

/* Appends a pair as a row of two documents, each truncated to length - 1 characters (characters
 * NULL: bytes) and ended with <eos>. counted: the characters count for the vocabulary. token: (2
 * length) working memory. */
void lra_aan_add(const lra_aan_pair *pair, lra_characters *characters, bool counted, int64_t length,
                 uint16_t *token, lra_sequences *to);

#endif
