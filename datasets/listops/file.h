/* ListOps files: the benchmark's TSV ("Source<TAB>Target"), and a short form in which the label
 * precedes the expression. */
#ifndef LRA_DATASETS_LISTOPS_FILE_H
#define LRA_DATASETS_LISTOPS_FILE_H

#include <stddef.h>

#include "datasets/loader/dataset.h"

/* Appends the rows of a file in memory. Lines end in LF or CRLF and may have any length; a byte
 * order mark and blank lines at the end are not rows. Without a header ("Source<TAB>Target" or
 * "Target<TAB>Source"), a single digit before an expression is the label. Every line is checked:
 * columns, tokens, brackets, label 0..9. Reading continues after an invalid line; the function then
 * fails with the first one (`name`, line number) and the number of invalid lines. check: also fails
 * if a label is not the value of its expression. */
int lra_listops_parse(const char *bytes, size_t n, const char *name, bool check, lra_sequences *out,
                      lra_err *e);
/* Reads one file, plain or compressed. */
int lra_listops_read(const char *path, bool check, lra_sequences *out, lra_err *e);
extern const char *const lra_listops_files[LRA_N_SPLITS];
#define LRA_LISTOPS_SOURCE                                                                         \
    "basic_train.tsv, basic_val.tsv and basic_test.tsv of lra_release.gz (Long Range Arena), "     \
    "unpacked or not"
/* Reads the files of the three splits below a path, at most three levels deep, plain, compressed or
 * in an archive. LRA_ABSENT: none of the files exists. */
int lra_listops_import(const char *path, lra_sequences split[LRA_N_SPLITS], lra_err *e);
int lra_listops_hash(const char *path, lra_digest *to, lra_err *e);
/* Writes rows in the benchmark's format: header, binary form with parentheses nested to the left,
 * CRLF. */
int lra_listops_write(const char *path, const lra_sequences *r, lra_err *e);

#endif
