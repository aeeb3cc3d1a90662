/* The vocabulary of bytes shared by the text tasks: four special ids, then every byte. Known: "a"
 * is 101. The public pipelines use other ids: LRA's bytes are byte + 1 with 0 for padding, S4's are
 * characters by frequency. */
#ifndef LRA_DATASETS_FORMATS_BYTES_H
#define LRA_DATASETS_FORMATS_BYTES_H

#include "datasets/loader/dataset.h"

enum { LRA_BYTES_PAD, LRA_BYTES_UNK, LRA_BYTES_EOS, LRA_BYTES_MASK, LRA_BYTES_FIRST };
enum { LRA_BYTES_VOCAB = LRA_BYTES_FIRST + 256 };

/* Prints the text of a row of such tokens; characters that could control a terminal are printed as
 * '?'. */
void lra_bytes_show(const lra_row *row, FILE *out);

#endif
