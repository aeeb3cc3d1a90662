/* Verdicts on the information in data, without any model. */
#ifndef LRA_REPORTS_VERDICT_VERDICT_INFORMATION_H
#define LRA_REPORTS_VERDICT_VERDICT_INFORMATION_H

#include "reports/results/probe_result.h"
#include "reports/verdict/verdict.h"

/* Adds: up to which distance a token holds information about another; how it decays; the caveat
 * that pairs of tokens are not the label.  u: unit `data` of an information.h5. */
void lra_verdict_of_information(const lra_probe_unit *u, lra_verdict *to);
/* Adds: the width of n-grams whose bag is most often right, against chance. */
void lra_verdict_of_ngrams(const lra_probe_unit *u, lra_verdict *to);

#endif
