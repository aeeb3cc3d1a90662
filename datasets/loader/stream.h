/* Fills batches from one long stream. */
#ifndef LRA_DATASETS_LOADER_STREAM_H
#define LRA_DATASETS_LOADER_STREAM_H

#include "datasets/loader/loader_impl.h"

bool lra_loader_is_stream(const lra_loader *l);
int64_t lra_stream_windows(const lra_loader *l);
void lra_stream_epoch(lra_loader *l);
void lra_stream_fill(lra_loader *l, lra_batch *b, int64_t i);

#endif
