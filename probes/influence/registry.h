/* The registry of the parts of `lra-probe influence`. */
#ifndef LRA_PROBES_INFLUENCE_REGISTRY_H
#define LRA_PROBES_INFLUENCE_REGISTRY_H

#include "probes/influence/part.h"

/* Part number i of parts.def; NULL after the last one. */
const lra_influence_part *lra_influence_part_at(int i);
/* Reason why a part is undefined for this run, or NULL if it is defined. */
const char *lra_part_undefined(const lra_influence_part *part, const lra_influence *p);
/* Cost of a part: the number of forward passes of one example. */
double lra_part_passes(const lra_influence_part *part, const lra_influence *p, int64_t examples);
/* Measures a part and adds its units to p->out; asserts that the part declares them. */
int lra_part_measure(const lra_influence_part *part, lra_influence *p, int64_t examples,
                     lra_err *e);
/* True if the part declares a unit of that name. */
bool lra_part_has_unit(const lra_influence_part *part, const char *unit);

#endif
