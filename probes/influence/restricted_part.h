/* Parts that evaluate the model on perturbed inputs (perturb.h): the gain that remains over widths
 * w, measured by the labels and by the outputs alone. The ids of a perturbation select
 *   keep.w50 .. .w99, keep.auc   ids.least, ids.area: smallest width that keeps this share of the
 *                        gain, and the area under the curve; the same with prefixes drop and bag
 *   order.local, order.global    ids.costs: smallest, largest width whose permutation costs 5 % of
 *                        the gain; none: infinite, and 0
 *   key.w05              ids.answers: smallest window with which at most 5 % of the outputs lose
 *                        more than 2 nats; arrays key, rows, steps, width (perturbed_answers.h)
 * and of every perturbation
 *   kl.most              the largest mean KL(p || p perturbed) of a width, in nats; its null value,
 *                        N, is the cost of seeing no input: mean KL(p || mean p); array kl
 *   kl.w50 .. .w99, kl.auc, kl.local, kl.global   as above, of the share 1 - KL / N
 *   mode.difference      gain at the width mode.width, a quarter of the longest, minus the gain
 *                        there with the filler of the alternative, paired: the effect of the
 *                        filler, 0 if both agree
 * Outputs that are real numbers are no probabilities: they have neither kl nor key. A language
 * model is evaluated at some steps of each row. Perturbed rows of ListOps and of paths in images
 * are not rows that the task can produce: flag ill-formed, unless the perturbation is well_formed.
 */
#ifndef LRA_PROBES_INFLUENCE_RESTRICTED_PART_H
#define LRA_PROBES_INFLUENCE_RESTRICTED_PART_H

#include "probes/influence/part.h"

/* Reason why perturbed inputs are undefined for a run; NULL: they are defined. */
const char *lra_restricted_undefined(const lra_influence *p);
/* Cost in passes of one example through the network. */
double lra_restricted_passes(const lra_perturbation *is, const lra_influence *p, int64_t examples);
/* Adds the measurements to p->out, as the named unit. */
int lra_restricted_measure(const lra_perturbation *is, const char *unit, lra_influence *p,
                           int64_t examples, lra_err *e);

#endif
