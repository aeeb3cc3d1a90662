/* The registry of the parts of `lra-probe influence`. */
#ifndef LRA_PROBES_INFLUENCE_REGISTRY_H
#define LRA_PROBES_INFLUENCE_REGISTRY_H

#include "probes/influence/part.h"

const lra_influence_part *lra_influence_part_at(int i); /* NULL after the last */
/* Reason why a part is undefined for this run; NULL: it is defined. */
const char *lra_part_undefined(const lra_influence_part *part, const lra_influence *p);
/* Cost in passes of one example through the network. */
double lra_part_passes(const lra_influence_part *part, const lra_influence *p, int64_t examples);
/* Measures a part; its units are added to p->out, and are those that it declares. */
int lra_part_measure(const lra_influence_part *part, lra_influence *p, int64_t examples,
                     lra_err *e);
/* True if the part declares a unit of that name. */
bool lra_part_has_unit(const lra_influence_part *part, const char *unit);

#endif
