/* Verdicts on the information in data, without any model. */
#ifndef LRA_REPORTS_VERDICT_VERDICT_INFORMATION_H
#define LRA_REPORTS_VERDICT_VERDICT_INFORMATION_H

#include "reports/results/probe_result.h"
#include "reports/verdict/verdict.h"

/* Adds sentences: the distance up to which tokens have mutual information; how it decays; the
 * caveat that information between tokens is not information about the label. u: unit `data` of an
 * information.h5. */
void lra_verdict_of_information(const lra_probe_unit *u, lra_verdict *to);
/* Adds a sentence: the n of the most accurate n-gram bag, and its accuracy compared with chance. */
void lra_verdict_of_ngrams(const lra_probe_unit *u, lra_verdict *to);

#endif
