/* Rows of own data as text. */
#ifndef LRA_DATASETS_OWN_SHOW_H
#define LRA_DATASETS_OWN_SHOW_H

#include "datasets/loader/dataset.h"

/* The ids, separated by blanks. */
void lra_own_show_tokens(const lra_row *row, FILE *out);
/* A step per line; long rows: the first steps. */
void lra_own_show_values(const lra_row *row, FILE *out);

#endif
