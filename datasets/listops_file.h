/* ListOps files: the benchmark's TSV ("Source<TAB>Target") and the short variant with the label first. */
#ifndef LRA_DATASETS_LISTOPS_FILE_H
#define LRA_DATASETS_LISTOPS_FILE_H

#include <stddef.h>

#include "datasets/dataset.h"

/* Appends the rows of a file in memory; lines end in LF or CRLF and may have any length.  A header
 * ("Source<TAB>Target" or "Target<TAB>Source") may be missing; then a lone digit in front of an
 * expression is the label.  Every line is checked: columns, tokens, brackets, label 0..9; `name` stands in messages, with the line number.
 * check: the label must be the value of the expression. */
int lra_listops_parse(const char *bytes, size_t n, const char *name, bool check, lra_sequences *out,
                      lra_err *e);
/* Reads one file. */
int lra_listops_read(const char *path, bool check, lra_sequences *out, lra_err *e);
/* The folder that holds basic_{train,val,test}.tsv: the given one or one or two levels below; caller
 * frees. */
char *lra_listops_folder(const char *folder, lra_err *e);
/* Writes rows in the benchmark's format: header, left-nested binary form, CRLF. */
int lra_listops_write(const char *path, const lra_sequences *r, lra_err *e);

#endif
