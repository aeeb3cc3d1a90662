/* What RUN/influence.h5 holds: units of parts, and how these were asked. */
#ifndef LRA_PROBES_INFLUENCE_CACHE_H
#define LRA_PROBES_INFLUENCE_CACHE_H

#include "probes/influence/part.h"

/* What stands behind "NAME=" in a line of the settings; NULL: there is none.  As a number: 0. */
const char *lra_cache_value(const lra_probe_result *r, const char *name);
int64_t lra_cache_number(const lra_probe_result *r, const char *name);
/* A part was measured, of so many test examples.  equal: where its equal weights fall, "past" (of a
 * causal model) or "both"; NULL: on both sides of a causal model, in older files. */
void lra_cache_set(lra_probe_result *r, const lra_influence_part *part, int64_t examples,
                   int64_t head_groups, const char *equal);
/* Were equal weights of a part those of the past? */
bool lra_cache_past(const lra_probe_result *r, const lra_influence_part *part);
/* Has it any?  (jacobian, field, occlusion) */
bool lra_cache_uniform(const lra_influence_part *part);

bool lra_cache_belongs(const char *unit, const char *part);
void lra_cache_copy(lra_probe_result *to, const lra_probe_unit *from);
/* Units in the order of the parts, whenever they were measured. */
void lra_cache_sort(lra_probe_result *r);

/* What the run on permuted labels has of parts that both were asked of alike, as null values
 * `shuffled`; is any of it new? */
bool lra_cache_add_shuffled(lra_probe_result *r, const lra_probe_result *shuffled);

/* Seed of the sample of a part; 0: the default, and older files. */
int64_t lra_saved_sample(const lra_probe_result *r, const lra_influence_part *part);
void lra_saved_set_sample(lra_probe_result *r, const lra_influence_part *part, int64_t seed);
/* False for part interaction of files older than the null that moves blocks: its test permuted
 * labels of blocks, which finds structure where there is none. */
bool lra_saved_moves_blocks(const lra_probe_result *r, const lra_influence_part *part);

#endif
