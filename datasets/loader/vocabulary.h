/* Prints rows in the words of an import's vocabulary. */
#ifndef LRA_DATASETS_LOADER_VOCABULARY_H
#define LRA_DATASETS_LOADER_VOCABULARY_H

#include "datasets/loader/dataset.h"

/* Prints the first `most` tokens of a row in the words of d->words: characters without separators,
 * words of a language model separated by blanks. Characters that could control a terminal are
 * printed as '?'. */
void lra_vocabulary_show(const lra_dataset *d, const lra_row *row, int64_t most, FILE *out);

#endif
