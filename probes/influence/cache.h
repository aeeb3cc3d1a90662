/* Contents of RUN/influence.h5: the units of each part, and the settings they were measured
 * with. */
#ifndef LRA_PROBES_INFLUENCE_CACHE_H
#define LRA_PROBES_INFLUENCE_CACHE_H

#include "probes/influence/part.h"

/* Value after "NAME=" in a line of the settings; NULL: there is none. As a number: 0. */
const char *lra_cache_value(const lra_probe_result *r, const char *name);
int64_t lra_cache_number(const lra_probe_result *r, const char *name);
/* Records that a part was measured on `examples` test examples. equal: the inputs that its uniform
 * baseline covers, "past" (of a causal model) or "both"; NULL: older files, which cover both sides
 * of a causal model. */
void lra_cache_set(lra_probe_result *r, const lra_influence_part *part, int64_t examples,
                   int64_t head_groups, const char *equal);
/* Returns true if the uniform baseline of the part covered the past only. */
bool lra_cache_past(const lra_probe_result *r, const lra_influence_part *part);
/* Returns true if the part has a uniform baseline (jacobian, field, occlusion). */
bool lra_cache_uniform(const lra_influence_part *part);

bool lra_cache_belongs(const char *unit, const char *part);
void lra_cache_copy(lra_probe_result *to, const lra_probe_unit *from);
/* Sorts units in the order of the parts, independent of the time of measurement. */
void lra_cache_sort(lra_probe_result *r);

/* Adds the units of the run on permuted labels as null values `shuffled`, for parts that both runs
 * measured with the same settings; returns true if any of them is new. */
bool lra_cache_add_shuffled(lra_probe_result *r, const lra_probe_result *shuffled);

/* Seed of the sample of a part; 0: the default, and older files. */
int64_t lra_saved_sample(const lra_probe_result *r, const lra_influence_part *part);
void lra_saved_set_sample(lra_probe_result *r, const lra_influence_part *part, int64_t seed);
/* False for part interaction of files from before the null that moves blocks: its test permuted
 * labels of blocks, which is significant even without structure. */
bool lra_saved_moves_blocks(const lra_probe_result *r, const lra_influence_part *part);

#endif
