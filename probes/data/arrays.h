/* Implements 'lra-probe data --arrays': the rows of a task as a safetensors file, for programs in
 * other languages. */
#ifndef LRA_PROBES_DATA_ARRAYS_H
#define LRA_PROBES_DATA_ARRAYS_H

#include "datasets/loader/dataset.h"

/* Writes the file. Arrays of each split S (train, val, test), n rows with N tokens in total:
 *   S/start   I64 (n+1)          index of the first token of each row; start[n] = N
 *   S/tokens  I32 (N)            ids; or S/values F32 (N, channels), the inputs of a model
 *   S/label   I32 (n)            classes
 *   S/target  F32 (n, targets)   real numbers; (N, targets) with a target at every token
 *   S/middle  I64 (n)            pairs: tokens of the first document
 * Metadata: task, goal (class, pair, value, steps, next), vocab, classes, channels, length (maximum
 * length of an input), image (0, 1), fingerprint. */
int lra_data_arrays(const lra_dataset *d, const char *path, lra_err *e);

#endif
