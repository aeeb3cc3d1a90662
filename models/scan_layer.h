/* Shared by layers with one state of many inputs and outputs (lru, s5): projections around a scan,
 * and the initialisation of their dense layers. */
#ifndef LRA_MODELS_SCAN_LAYER_H
#define LRA_MODELS_SCAN_LAYER_H

#include "models/model.h"

/* y = scale Re(C x) + D u,  x[t] = lambda x[t-1] + B u[t], for both directions concatenated with
 * x[t] = lambda x[t+1] + B u[t]. u: (B,T,D); lambda: (2,N), in: (2,D,N), out: (2,sides N,D), sides
 * 1 or 2, skip: (D); complex arrays as real and imaginary parts. */
lra_tensor *lra_scan_layer(const lra_build *b, lra_tensor *u, lra_tensor *lambda, lra_tensor *in,
                           lra_tensor *out, lra_tensor *skip, double scale);

/* Dense layers: normal, truncated at two standard deviations, with deviation 1/sqrt(inputs), biases
 * 0: NAME/w, NAME/b; the same for inputs of the network (tokens count as one-hot vectors). */
lra_tensor *lra_scan_linear(lra_tensor *x, const char *name, int64_t n_out);
lra_embed_start lra_scan_embedding(const lra_config *c, int64_t channels);

/* v[i]: normal, truncated at two standard deviations, with standard deviation `deviation` after the
 * truncation; from the random stream `index` of an array. */
void lra_scan_cut_normals(const lra_fill *f, uint32_t index, double deviation, int64_t n,
                          double *v);

bool lra_scan_always(const lra_config *c); /* causal */

#endif
