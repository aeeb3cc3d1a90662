/* Weights published by others: files in PyTorch's layout with the publishers' array names. */
#ifndef LRA_MODELS_TRAINING_PUBLISHED_H
#define LRA_MODELS_TRAINING_PUBLISHED_H

#include "kernels/base/formats/safetensors.h"
#include "models/model.h"

/* Returns true if the file has the array names that the model's record lists, and not those of this
 * suite. */
bool lra_has_published_names(const lra_model *m, const lra_safetensors *t);
/* Imports every array of the encoder, and the embedding table if the file has the same number of
 * rows; all other arrays stay unchanged. Fails for an array of the file that the record does not
 * list, or of a layer that the model does not have. *n_converted: number of arrays of types other
 * than F32. *n_put: number of imported arrays. `name` is used in messages. */
int lra_published_import(lra_params *p, const lra_model *m, const lra_safetensors *t,
                         const char *name, int *n_converted, int *n_put, lra_err *e);

#endif
