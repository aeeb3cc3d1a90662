/* Weights as safetensors files in PyTorch's layout.
 * Tensor `param/PATH` is the parameter of that scope path, `state/PATH` an array without gradient.
 *   convolution  PATH/kernel  (H, D/G, K), ours (K, D/G, H)     torch.nn.Conv1d(D, H, K, groups=G).weight
 *   linear       PATH/w       (H, D), ours (D, H)               torch.nn.Linear(D, H).weight
 * All other arrays are the same in both.  Metadata `lra.format` is "1". */
#ifndef LRA_MODELS_TRAINING_WEIGHTS_H
#define LRA_MODELS_TRAINING_WEIGHTS_H

#include "kernels/base/formats/safetensors.h"
#include "kernels/graph/graph.h"

/* Writes the weights and states; config: the lines of the run's configuration; step: -1: unknown;
 * *n_arrays: number of arrays. */
int lra_weights_export(const lra_params *p, const char *config, int64_t step, const char *to,
                       int *n_arrays, lra_err *e);
/* Writes the provenance of the weights into the metadata of a file. */
int lra_weights_describe(const char *config, int64_t step, lra_config *meta, lra_err *e);
/* Layout of one array of two or three dimensions: out[c][b][a] = in[a][b][c], and the dimensions of
 * s with it. */
void lra_weights_reverse(lra_shape *s, size_t element, const void *in, void *out);
/* Checks the metadata of a file from outside.  A file without `lra.format` whose names are all
 * those of another program passes: lra_weights_import() then names the arrays that do not match. */
int lra_weights_check(const lra_safetensors *t, const char *name, lra_err *e);
/* Imports every weight and state of `p` from the file, which must contain exactly these; integers
 * and other floats than F32 become float32, *n_converted counts them.  `name` is used in
 * messages. */
int lra_weights_import(lra_params *p, const lra_safetensors *t, const char *name, int *n_converted,
                       lra_err *e);
/* Arrays of a file and of a model that do not match. */
typedef struct {
    int n_file, n_unknown;  /* arrays of the file; those that the model does not have */
    int n_model, n_missing; /* arrays that the model needs; those that the file does not have */
    const char *unknown, *missing; /* the first of each; NULL: none */
    const char *near;              /* name of the model similar to `unknown`; NULL: none */
} lra_weights_names;
/* Fails with the number and the first name of unknown and of missing arrays; 0 if all match.
 * `name`: the file. */
int lra_weights_fail_names(const lra_weights_names *n, const char *name, lra_err *e);
/* The i-th array of `p` from one called `tensor`, of PyTorch's layout. */
int lra_weights_put(lra_params *p, int i, const lra_ndarray *a, const char *tensor,
                    const char *name, lra_err *e);

#endif
