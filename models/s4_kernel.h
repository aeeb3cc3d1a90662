/* Kernels of S4, by lag, for a state matrix that is diagonal plus rank one:
 *
 *   k_l = C Ab^l Bb,  Ab = (1 - dt/2 A)^-1 (1 + dt/2 A),  Bb = (1 - dt/2 A)^-1 dt B,  A = diag(a) - P Q^*
 *
 * where the conjugates of all `state`/2 stored numbers are appended, so that k is real.
 * Initialised as HiPPO-LegS (hippo.h). The trained parameter is C (1 - Ab^L), L the longest length,
 * so that no power of Ab is needed (lra_dplr_kernel). At initialisation C ~ N(0,1) complex is drawn
 * and converted to it; dt of a channel is log-uniform in [dt_min, dt_max].
 *   v4  a = -exp(r) - i w, Q = P, dt = ln(1 + exp(s)); Im B clipped to +-2 at initialisation
 *   v3  as v4 with dt = exp(s), B not clipped
 *   v1  a = r - i w, free; B, P and Q of each channel, Q trained independently of P; dt = exp(s), B not
 *       clipped; the drawn C is used without conversion
 * a, and except in v1 also B and P, are shared by width/copies channels: channel h has those of
 * copy h mod copies. Learning rates: a, B and P have `rate` without weight decay; dt has no weight
 * decay. all=1: dt has `rate`, too, and in v4 also C (with decay). All other parameters have the
 * global rate. In v1 dt always has `rate`, C and Q never.
 * Source: Gu et al. 2022, arXiv:2111.00396, and its later code.  Difference: inputs longer than L
 * are not supported. */
#ifndef LRA_MODELS_S4_KERNEL_H
#define LRA_MODELS_S4_KERNEL_H

#include "models/model.h"

typedef enum { LRA_S4_V4, LRA_S4_V3, LRA_S4_V1 } lra_s4_version;
typedef struct {
    lra_s4_version version;
    int64_t width, state, copies;
    double dt_min, dt_max;
    double rate; /* learning rate of a, B and P; 0: the global rate */
    bool all, frozen;
} lra_s4_spec;

/* Returns kernels (width,T) by lag, or (2,width,T) if the build is not causal: the second kernel
 * has its own C and covers the future, from the next token on. Creates the parameters in the
 * current scope. */
lra_tensor *lra_s4_kernel(const lra_build *b, const lra_s4_spec *s);

#endif
