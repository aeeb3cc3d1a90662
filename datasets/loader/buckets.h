/* Length buckets: every batch is padded to one of a few lengths, and each length has its own
 * graph. */
#ifndef LRA_DATASETS_LOADER_BUCKETS_H
#define LRA_DATASETS_LOADER_BUCKETS_H

#include "datasets/loader/dataset.h"

enum { LRA_MAX_BUCKETS = 12 };

/* Bucket lengths that minimise padding over the training rows: at most 12, all multiples of 64. The
 * last bucket holds the longest row of all three splits. Short rows have a finer unit, because 64
 * would double the work: 4 if no row is longer than 512, 2 if none is longer than 64. */
typedef struct {
    int n;
    int64_t length[LRA_MAX_BUCKETS];
} lra_buckets;
lra_buckets lra_buckets_find(const lra_dataset *d);
/* Returns the largest last bucket length that data with these parameters can need. */
int64_t lra_buckets_end(const lra_dataset *d);

#endif
