/* The file of prepared data. */
#ifndef LRA_DATASETS_LOADER_CACHE_H
#define LRA_DATASETS_LOADER_CACHE_H

#include "datasets/loader/dataset.h"

/* xxh3-64 of all rows, into d->fingerprint. */
void lra_cache_fingerprint(lra_dataset *d);
int lra_cache_write(const lra_dataset *d, const char *path, lra_err *e);
/* Reads into a data set whose task and config are the expected ones; the fingerprint is recomputed
 * and compared. */
int lra_cache_read(lra_dataset *d, const char *path, lra_err *e);

#endif
