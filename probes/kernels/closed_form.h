/* What is known of a kernel beyond its numbers where a state space makes it: its energy beyond the
 * last lag, and the complex kernel that it is the real part of. */
#ifndef LRA_PROBES_KERNELS_CLOSED_FORM_H
#define LRA_PROBES_KERNELS_CLOSED_FORM_H

#include "probes/kernels/numbers.h"

/* Fills cut and mod of kernels whose numbers and modes are there; modes that do not give the
 * kernels again are dropped.  No modes: does nothing. */
int lra_closed_form_fill(lra_extracted_kernels *k, int state, lra_err *e);

#endif
