/* The vocabulary of bytes, which the text tasks share: four special ids, then one id for every byte
 * value. Known: "a" is 101. The public pipelines use other ids: in the Long Range Arena byte + 1,
 * with 0 for padding; in S4 characters numbered by frequency. */
#ifndef LRA_DATASETS_FORMATS_BYTES_H
#define LRA_DATASETS_FORMATS_BYTES_H

#include "datasets/loader/dataset.h"

enum { LRA_BYTES_PAD, LRA_BYTES_UNK, LRA_BYTES_EOS, LRA_BYTES_MASK, LRA_BYTES_FIRST };
enum { LRA_BYTES_VOCAB = LRA_BYTES_FIRST + 256 };

/* Prints a row of byte tokens as text; characters that could control a terminal are printed as
 * '?'. */
void lra_bytes_show(const lra_row *row, FILE *out);

#endif
