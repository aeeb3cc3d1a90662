/* A vocabulary that an import found, shown to people. */
#ifndef LRA_DATASETS_LOADER_VOCABULARY_H
#define LRA_DATASETS_LOADER_VOCABULARY_H

#include "datasets/loader/dataset.h"

/* The first `most` steps of a row in words of d->words: characters one behind the other, words of a
 * language model with blanks between.  What a terminal could take for a command is shown as '?'. */
void lra_vocabulary_show(const lra_dataset *d, const lra_row *row, int64_t most, FILE *out);

#endif
