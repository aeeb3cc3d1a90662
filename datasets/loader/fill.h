/* A batch from its rows. */
#ifndef LRA_DATASETS_LOADER_FILL_H
#define LRA_DATASETS_LOADER_FILL_H

#include "datasets/loader/loader_impl.h"

int lra_loader_bucket(const lra_loader *l, const int64_t *entry); /* of a batch */
void lra_loader_fill(lra_loader *l, lra_batch *b, int64_t i);     /* rows of order */

#endif
