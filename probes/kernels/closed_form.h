/* Closed-form properties of the kernel of a state space: its energy beyond the last lag, and the
 * complex kernel whose real part it is. */
#ifndef LRA_PROBES_KERNELS_CLOSED_FORM_H
#define LRA_PROBES_KERNELS_CLOSED_FORM_H

#include "probes/kernels/numbers.h"

/* Fills cut and mod of kernels whose values and modes are known. Modes that do not reproduce the
 * kernel are removed (rows = 0). Does nothing for kernels without modes. */
int lra_closed_form_fill(lra_extracted_kernels *k, int state, lra_err *e);

#endif
