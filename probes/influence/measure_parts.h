/* Measures a list of parts of one model: selection, cost, budget, saved results, the file
 * influence.h5. Commands read their options --parts, --examples, --sample-seed, --budget, --force
 * and --dry-run from it. */
#ifndef LRA_PROBES_INFLUENCE_MEASURE_PARTS_H
#define LRA_PROBES_INFLUENCE_MEASURE_PARTS_H

#include "probes/influence/part.h"

/* --parts --examples --sample-seed --budget */
extern const lra_option lra_influence_sampling_options[];

/* Fails if a name of the list is not the name of a part. Nullable: list */
int lra_influence_check_names(const char *list, lra_err *e);
/* Checks the command-line options of all parts. */
int lra_influence_check_options(const lra_influence *p, lra_err *e);
/* Prints the cost of the requested parts, measures those that the file does not contain with the
 * same settings, and saves the file after each part. p->out receives the result. optional: the
 * model may have none of the parts. */
int lra_influence_measure(lra_influence *p, bool optional, lra_err *e);
/* Writes p->out to influence.h5 in the folder p->to. */
int lra_influence_save(const lra_influence *p, lra_err *e);

#endif
