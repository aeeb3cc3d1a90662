/* Prints rows of own data as text. */
#ifndef LRA_DATASETS_OWN_SHOW_H
#define LRA_DATASETS_OWN_SHOW_H

#include "datasets/loader/dataset.h"

/* Prints the token ids, separated by blanks. */
void lra_own_show_tokens(const lra_row *row, FILE *out);
/* Prints one time step per line; of long rows only the first time steps. */
void lra_own_show_values(const lra_row *row, FILE *out);

#endif
