/* HiPPO-LegS is A_nk = -sqrt((2n+1)(2k+1)) for n > k, -(n+1) for n = k, 0 for n < k, and B_n =
 * sqrt(2n+1).
 * With P_n = sqrt(n+1/2): A + P P^T = -1/2 + S, S skew-symmetric with S_nk = -sqrt((2n+1)(2k+1))/2
 * for n > k. The eigenvalues of -i S = V diag(mu) V* are pairs +-mu. Only those below 0 are used,
 * in ascending order: a = -1/2 + i mu, B = V* B, with Im B clipped to +-2 (version v4 of S4).
 * Clipping depends on the phases of V: the first component of each eigenvector is real, as
 * lra_eigen_hermitian() returns it.
 * Known: 2 states have w = sqrt(3)/2 and B = (1 + sqrt(3) i)/sqrt(2). */
#ifndef LRA_MODELS_HIPPO_H
#define LRA_MODELS_HIPPO_H

#include <complex.h>

#include "kernels/graph/graph.h"

#define LRA_LEGS_CUT 2.0

/* Computes the eigenvalues and eigenvectors that are used (one of each conjugate pair). w: (modes),
 * -mu; v: (2 modes,modes), the columns of V. */
void lra_hippo_legs(int64_t modes, double *w, double complex *v);

/* Initialisers of real arrays (..,modes): -Im a, Re B and Im B. */
void lra_hippo_turn(const lra_fill *f, double *v);
void lra_hippo_re(const lra_fill *f, double *v);
void lra_hippo_im(const lra_fill *f, double *v);
/* Initialisers of arrays (2,..,modes) of real and imaginary parts: B, with Im B clipped to
 * +-*(const double *)data; and V* P. */
void lra_hippo_b(const lra_fill *f, double *v);
void lra_hippo_p(const lra_fill *f, double *v);

#endif
