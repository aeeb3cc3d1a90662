/* Closed-form properties of the kernel of a state space: its energy beyond the last lag, and the
 * complex kernel of which it is the real part. */
#ifndef LRA_PROBES_KERNELS_CLOSED_FORM_H
#define LRA_PROBES_KERNELS_CLOSED_FORM_H

#include "probes/kernels/numbers.h"

/* Fills cut and mod of kernels with known numbers and modes; modes that do not reproduce the kernel
 * are dropped. Without modes it does nothing. */
int lra_closed_form_fill(lra_extracted_kernels *k, int state, lra_err *e);

#endif
