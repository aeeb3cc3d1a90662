/* Fills a batch from its rows. */
#ifndef LRA_DATASETS_LOADER_FILL_H
#define LRA_DATASETS_LOADER_FILL_H

#include "datasets/loader/loader_impl.h"

/* returns the index of the bucket of a batch; entry: (batch) its entries of lra_loader.order */
int lra_loader_bucket(const lra_loader *l, const int64_t *entry);
void lra_loader_fill(lra_loader *l, lra_batch *b, int64_t i); /* fills batch i of the epoch */

#endif
