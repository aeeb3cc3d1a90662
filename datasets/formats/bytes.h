/* The vocabulary of bytes that text tasks share: four ids of our own, then every byte.
 * Known: "a" is 101.  The public pipelines number otherwise: LRA's bytes are byte + 1 with 0 for
 * padding, S4's are characters by frequency. */
#ifndef LRA_DATASETS_FORMATS_BYTES_H
#define LRA_DATASETS_FORMATS_BYTES_H

#include "datasets/loader/dataset.h"

enum { LRA_BYTES_PAD, LRA_BYTES_UNK, LRA_BYTES_EOS, LRA_BYTES_MASK, LRA_BYTES_FIRST };
enum { LRA_BYTES_VOCAB = LRA_BYTES_FIRST + 256 };

/* The text of a row of such tokens; what a terminal could take for a command is shown as '?'. */
void lra_bytes_show(const lra_row *row, FILE *out);

#endif
