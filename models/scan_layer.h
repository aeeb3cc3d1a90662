/* Code shared by layers with one state space of many inputs and outputs (lru, s5): linear maps
 * before and after a scan, and the initialisation of dense layers. */
#ifndef LRA_MODELS_SCAN_LAYER_H
#define LRA_MODELS_SCAN_LAYER_H

#include "models/model.h"

/* Returns y = scale Re(C x) + D u with x[t] = lambda x[t-1] + B u[t]. In both directions (sides =
 * 2), the states x[t] = lambda x[t+1] + B u[t] are appended. Shapes: u (B,T,D), lambda (2,N), in =
 * B (2,D,N), out = C (2,sides N,D), skip = D (D); complex arrays as real and imaginary parts. */
lra_tensor *lra_scan_layer(const lra_build *b, lra_tensor *u, lra_tensor *lambda, lra_tensor *in,
                           lra_tensor *out, lra_tensor *skip, double scale);

/* Dense layer NAME/w, NAME/b: weights normal with standard deviation 1/sqrt(inputs), truncated at
 * two standard deviations; biases 0. lra_scan_embedding(): the same initialisation of the input
 * layer (a token counts as a one-hot vector). */
lra_tensor *lra_scan_linear(lra_tensor *x, const char *name, int64_t n_out);
lra_embed_start lra_scan_embedding(const lra_config *c, int64_t channels);

/* v[n] = normal values truncated at two standard deviations; `deviation`: standard deviation after
 * truncation. index: random stream of the array. */
void lra_scan_cut_normals(const lra_fill *f, uint32_t index, double deviation, int64_t n,
                          double *v);

/* lra_model.causal of models that are always causal: returns true */
bool lra_scan_always(const lra_config *c);

#endif
