/* Weights as others published them: files of PyTorch's layout whose arrays have names of their
 * own. */
#ifndef LRA_MODELS_TRAINING_PUBLISHED_H
#define LRA_MODELS_TRAINING_PUBLISHED_H

#include "kernels/base/formats/safetensors.h"
#include "models/model.h"

/* Does the file have the names that the model's record lists, and not ours? */
bool lra_has_published_names(const lra_model *m, const lra_safetensors *t);
/* Puts every array of the encoder, and the table of tokens where the file has as many rows; all
 * others stay as they are.  An array of the file that the record does not list, or of a layer that
 * the model does not have, is refused.  *n_converted: arrays of other types than F32; *n_put: all
 * that were put.  `name` stands in messages. */
int lra_published_import(lra_params *p, const lra_model *m, const lra_safetensors *t,
                         const char *name, int *n_converted, int *n_put, lra_err *e);

#endif
