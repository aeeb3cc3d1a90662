/* Verdicts of probes of trained runs. */
#ifndef LRA_REPORTS_VERDICT_VERDICT_PROBE_H
#define LRA_REPORTS_VERDICT_VERDICT_PROBE_H

#include "reports/views/probe_view.h"
#include "reports/verdict/verdict.h"

/* Adds sentences: the number of heads that attend to nearer or farther tokens than uniform weights;
 * the number that differ from initialisation; the caveat. */
void lra_verdict_of_attention(const lra_probe_result *r, lra_verdict *to);
/* Adds sentences: the distance of the kernels of n cells compared with uniform weights and the
 * initial kernels; the caveat. */
void lra_verdict_of_kernels(int n, const lra_probe_cell *cells, lra_verdict *to);
/* Adds sentences: the radius that keeps 99 % of the gain, for the complete model or per layer; the
 * mean distance by gradients, compared with uniform weights and with initialisation; the caveat. */
void lra_verdict_of_influence(lra_probe_result *const *list, int n, lra_verdict *to);

#endif
