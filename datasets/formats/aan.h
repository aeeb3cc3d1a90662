/* Pairs of papers of the ACL Anthology Network as the Long Range Arena publishes them:
 *   label <tab> id1 <tab> id2 <tab> text1 <tab> text2      no header, label 0.0 or 1.0, one pair a line
 * Columns end at tabs alone; quotes are ordinary characters.  (S4's reader takes a quote that
 * starts a column as the beginning of a quoted text: such columns are counted.) */
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
    int64_t n_columns; /* lines that have not five columns: left out */
    int64_t n_labels;  /* lines whose label is neither 0.0 nor 1.0: left out */
    int64_t n_quoted;  /* text columns that start with a quote */
    int64_t n_empty;   /* text columns of no bytes; the document is <eos> alone */
} lra_aan_counts;

/* Takes the bytes of a file in pieces of any size and gives out its pairs. */
typedef struct {
    const char *name; /* of the file, for messages */
    int (*pair)(void *of, const lra_aan_pair *pair, lra_err *e);
    void *of;
    lra_aan_counts counts;
    int64_t line;
    lra_text rest; /* the beginning of a line whose end has not come */
} lra_aan_reader;

/* n = 0: the end of the file.  Three columns are a failure that explains them: such files hold no
 * texts. */
int lra_aan_read(lra_aan_reader *r, const char *bytes, size_t n, lra_err *e);
void lra_aan_free(lra_aan_reader *r);

/* Adds two documents, each cut to length - 1 characters (NULL: bytes) and ended.  token: (2
 * length) */
void lra_aan_add(const lra_aan_pair *pair, lra_characters *characters, bool counted, int64_t length,
                 uint16_t *token, lra_sequences *to);

#endif
