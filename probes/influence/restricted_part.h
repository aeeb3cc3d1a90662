/* Parts that evaluate the model on perturbed inputs (perturb.h): the gain that remains by width w,
 * measured with the labels, and with the outputs alone. The ids of a perturbation select
 *   keep.w50 .. .w99, keep.auc   ids.least, ids.area: smallest width that keeps this share of the
 *                        gain, and the area under the curve; also with prefixes drop and bag
 *   order.local, order.global    ids.costs: smallest and largest width whose permutation costs 5 %
 *                        of the gain; if no width does: infinity and 0
 *   key.w05              ids.answers: smallest window with which at most 5 % of the outputs lose
 *                        more than 2 nats; arrays key, rows, steps, width (perturbed_answers.h)
 * Every perturbation also has
 *   kl.most              largest mean KL(p || p perturbed) over widths, in nats; its null value N
 *                        is the cost of seeing no input, mean KL(p || mean p); array kl
 *   kl.w50 .. .w99, kl.auc, kl.local, kl.global   the same thresholds for the share 1 - KL / N
 *   mode.difference      effect of the filler: gain at width mode.width (a quarter of the largest)
 *                        minus the gain there with the alternative filler, paired over rows; 0 if
 *                        both agree
 * Outputs that are real numbers are not probabilities, so they have neither kl nor key. A language
 * model is evaluated at some positions of each row. Perturbed rows of ListOps and of paths in
 * images are not rows that the task can produce: their measurements have the flag ill-formed,
 * unless the perturbation is well_formed. */
#ifndef LRA_PROBES_INFLUENCE_RESTRICTED_PART_H
#define LRA_PROBES_INFLUENCE_RESTRICTED_PART_H

#include "probes/influence/part.h"

/* Cost of the part: the number of forward passes of one example. */
double lra_restricted_passes(const lra_perturbation *is, const lra_influence *p, int64_t examples);
/* Measures the perturbation and adds the measurements to p->out, as a unit of this name. */
int lra_restricted_measure(const lra_perturbation *is, const char *unit, lra_influence *p,
                           int64_t examples, lra_err *e);

#endif
