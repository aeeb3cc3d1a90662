/* Writes Pathfinder files in the official layout. */
#ifndef LRA_DATASETS_PATHFINDER_WRITE_H
#define LRA_DATASETS_PATHFINDER_WRITE_H

#include "datasets/pathfinder/image.h"
#include "kernels/base/core/err.h"

/* Writes images first .. first+n-1 of the data set `seed` as one batch: images, then metadata. */
int lra_pathfinder_write_batch(const lra_pathfinder *g, const char *level_folder, int64_t batch,
                               uint64_t seed, int64_t first, int64_t n, lra_err *e);

#endif
