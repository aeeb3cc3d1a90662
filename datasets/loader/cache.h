/* Reads and writes the file of prepared data. */
#ifndef LRA_DATASETS_LOADER_CACHE_H
#define LRA_DATASETS_LOADER_CACHE_H

#include "datasets/loader/dataset.h"

/* Computes d->fingerprint, the xxh3-64 hash of all rows. */
void lra_cache_fingerprint(lra_dataset *d);
int lra_cache_write(const lra_dataset *d, const char *path, lra_err *e);
/* Reads the rows of a data set whose task and config are already set; fails if the file has others.
 * The fingerprint is recomputed and compared. */
int lra_cache_read(lra_dataset *d, const char *path, lra_err *e);

#endif
