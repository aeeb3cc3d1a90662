/* Checks of a model before it is measured: does it answer, and do its answers mean what the
 * measurements assume.
 *   handshake      three batches are answered with the right shapes
 *   finite         their outputs are finite
 *   deterministic  the same batch four times; the largest difference is the noise floor
 *   batch          an example alone, among others and in another order: relative tolerance 1e-4
 *   padding        values and number of padding positions changed
 *   keep           tokens of hidden positions replaced; only if the model declares `mask`
 *   causal         tokens after i replaced: features up to i must not change if declared causal
 *   gradient       vjp against central differences of the features (values), or its support and
 *                  rank correlation against replaced tokens (occlusion)
 *   accuracy       on labelled examples against the best constant answer: binomial test at 1 %;
 *                  a permutation of the outputs that would fit is named: half of the examples
 *                  choose it, the other half test it
 *   speed          examples per second at the best batch size
 * A failed row has its usual meaning, a cure, and the parts of the audit that it disables. */
#ifndef LRA_PROBES_AUDIT_CHECK_H
#define LRA_PROBES_AUDIT_CHECK_H

#include "probes/audit/check_rows.h"
#include "probes/audit/check_spec.h"

/* Fails if the model does not answer at all, with the message of the first request; *out is filled
 * as far as it got.  Free it in any case. */
int lra_check_model(lra_responder *r, const lra_check_spec *s, lra_check *out, lra_err *e);

#endif
