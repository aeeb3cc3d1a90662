/* Contents of RUN/influence.h5: the units of each part, and the settings with which they were
 * measured. The settings are lines PART=EXAMPLES, PART-sample-seed=SEED (0 if the line is missing),
 * and one line for each setting of the part itself (lra_part_setting). */
#ifndef LRA_PROBES_INFLUENCE_CACHE_H
#define LRA_PROBES_INFLUENCE_CACHE_H

#include "probes/influence/part.h"

/* Returns a pointer to the text after "NAME=" in the settings, or NULL if no line has this name. */
const char *lra_cache_value(const lra_probe_result *r, const char *name);
/* Records that a part was measured on `examples` test examples with the settings of p. */
void lra_cache_record(lra_probe_result *r, const lra_influence_part *part, const lra_influence *p,
                      int64_t examples);
/* True if `old` contains the part, measured on `examples` test examples with the same settings as
 * p. */
bool lra_cache_holds(const lra_probe_result *old, const lra_influence_part *part,
                     const lra_influence *p, int64_t examples);
/* Copies the units of a part and the settings with which they were measured. */
void lra_cache_copy(lra_probe_result *to, const lra_probe_result *from,
                    const lra_influence_part *part);
/* Sorts the units into the order of parts.def, so that their order in the file does not depend on
 * the order of measurement. */
void lra_cache_sort(lra_probe_result *r);

/* Adds the measurements of a second run, trained on permuted labels, as null values
 * (LRA_NULL_SHUFFLED), for each part that both runs measured with the same settings. Returns true
 * if any null value is new. */
bool lra_cache_add_shuffled(lra_probe_result *r, const lra_probe_result *shuffled);
/* Copies the setting `shuffled`: the name of the run that was trained on permuted labels. */
void lra_cache_copy_shuffled(lra_probe_result *to, const lra_probe_result *from);

#endif
