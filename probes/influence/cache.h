/* Contents of RUN/influence.h5: the units of each part, and the settings that they were measured
 * with: lines PART=EXAMPLES, PART-sample-seed=SEED (absent: 0) and those of the part's own settings
 * (lra_part_setting). */
#ifndef LRA_PROBES_INFLUENCE_CACHE_H
#define LRA_PROBES_INFLUENCE_CACHE_H

#include "probes/influence/part.h"

/* Value after "NAME=" in a line of the settings; NULL: none. */
const char *lra_cache_value(const lra_probe_result *r, const char *name);
/* Records that a part was measured on `examples` test examples with the settings of p. */
void lra_cache_record(lra_probe_result *r, const lra_influence_part *part, const lra_influence *p,
                      int64_t examples);
/* True if the file holds the part as p would measure it on `examples` test examples. */
bool lra_cache_holds(const lra_probe_result *old, const lra_influence_part *part,
                     const lra_influence *p, int64_t examples);
/* Copies the units of a part, and the settings that they were measured with. */
void lra_cache_copy(lra_probe_result *to, const lra_probe_result *from,
                    const lra_influence_part *part);
/* Sorts units in the order of the parts, independent of the time of measurement. */
void lra_cache_sort(lra_probe_result *r);

/* Adds the units of the run on permuted labels as null values `shuffled`, for parts that both runs
 * measured with the same settings; returns true if any of them is new. */
bool lra_cache_add_shuffled(lra_probe_result *r, const lra_probe_result *shuffled);
/* Copies the name of the run on permuted labels. */
void lra_cache_copy_shuffled(lra_probe_result *to, const lra_probe_result *from);

#endif
