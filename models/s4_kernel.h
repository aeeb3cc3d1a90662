/* Kernels of S4, by lag, for a state matrix that is diagonal plus rank one:
 *
 *   k_l = C Ab^l Bb,  Ab = (1 - dt/2 A)^-1 (1 + dt/2 A),  Bb = (1 - dt/2 A)^-1 dt B,  A = diag(a) - P Q^*
 *
 * where the conjugates of all `state`/2 stored numbers are appended, so that k is real.
 * Initialised as HiPPO-LegS (legs.h).  Trained is C (1 - Ab^L), L the longest length, so that no
 * power of Ab is needed (lra_dplr_kernel); C ~ N(0,1) complex, converted once; dt of a channel
 * log-uniform in [dt_min, dt_max].
 *   v4  a = -exp(r) - i w, Q = P, dt = ln(1 + exp(s)); Im B clipped to +-2 at initialisation
 *   v3  the same with dt = exp(s), B not cut
 *   v1  a = r - i w, free; B, P and Q of each channel, Q trained apart from P; dt = exp(s), B not
 *       cut; what C starts with is taken as converted
 * a, and B and P but in v1, are shared by width/copies channels: channel h has those of copy h mod
 * copies. a, B and P learn at `rate` without decay, dt without decay; with `all` dt at that rate
 * too and in v4 C, with decay; the rest at the global rate; in v1 dt always does, C and Q never.
 * Source: Gu et al. 2022, arXiv:2111.00396, and its later code.  Where we differ: there are no
 * lengths above L. */
#ifndef LRA_MODELS_S4_KERNEL_H
#define LRA_MODELS_S4_KERNEL_H

#include "models/model.h"

typedef enum { LRA_S4_V4, LRA_S4_V3, LRA_S4_V1 } lra_s4_version;
typedef struct {
    lra_s4_version version;
    int64_t width, state, copies;
    double dt_min, dt_max;
    double rate; /* 0: the global one */
    bool all, frozen;
} lra_s4_spec;

/* Returns (width,T), or (2,width,T) with a second kernel with its own C for the future, from the
 * next token on, unless the build is causal.  Creates the parameters in the current scope. */
lra_tensor *lra_s4_kernel(const lra_build *b, const lra_s4_spec *s);

#endif
