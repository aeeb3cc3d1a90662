/* Checks a model before it is measured: whether it answers requests, and whether its outputs have
 * the properties that the measurements assume.
 *   handshake      the outputs of three batches have the expected shapes
 *   finite         these outputs are finite
 *   deterministic  the same batch is sent four times; the largest difference is the noise floor
 *   batch          outputs of an example are the same alone, in a batch, and in a batch in reverse
 *                  order, with a relative tolerance of 1e-4
 *   padding        outputs do not depend on the values and the number of padding positions; not
 *                  for models of one fixed length
 *   keep           outputs do not depend on the tokens of hidden positions; only if the model
 *                  declares `mask`
 *   causal         if the model is declared causal: features of positions up to i do not change if
 *                  tokens after i are replaced
 *   gradient       vjp agrees with central differences of the features (real inputs), or with the
 *                  effects of replaced tokens (check_gradient.c)
 *   attention      only if the model answers it: shapes; weights are finite and not negative; rows
 *                  sum to 1; no weight on padding, nor on later tokens if declared causal
 *   kernels        only if the model answers them: shapes; finite, and not all 0
 *   head           only if the model answers it: outputs of given features equal those of forward
 *   accuracy       accuracy on labelled examples exceeds that of the best constant prediction
 *                  (binomial test at 1 %), and no permutation of the outputs fits significantly
 *                  better; it is selected on half of the examples and tested on the other half
 *   speed          examples per second at the best batch size
 * A failed check has a usual meaning, a remedy, and a list of the parts of the audit that it
 * disables. */
#ifndef LRA_PROBES_AUDIT_CHECK_H
#define LRA_PROBES_AUDIT_CHECK_H

#include "probes/audit/check_rows.h"
#include "probes/audit/check_spec.h"

/* Runs all checks. Fails, with the message of the first request, if the model answers no request;
 * *out then contains the rows before the failure. The caller frees *out in any case. */
int lra_check_model(lra_responder *r, const lra_check_spec *s, lra_check *out, lra_err *e);

#endif
