/* Reads and checks the parameters of the Pathfinder tasks. */
#include <string.h>

#include "datasets/pathfinder/pathfinder.h"
#include "kernels/base/core/mem.h"

enum { HARD = 2 };

/* Returns the index of a parameter's value among n words. The key table allows only these words. */
static int choice(const lra_config *c, const char *key, int n, const char *const *words)
{
    const char *word = lra_config_text(c, key);
    for (int i = 0; i < n; i++)
        if (strcmp(words[i], word) == 0) return i;
    LRA_BUG("'%s' is '%s'", key, word);
}

int lra_pathfinder_spec_read(const lra_config *c, lra_pathfinder_spec *s, lra_err *e)
{
    static const char *const sets[] = {"one", "three"}, *const seeding[] = {"reference", "uniform"};
    int64_t distractors = lra_config_int(c, "distractors"), size = lra_config_int(c, "size");
    int64_t dashes = lra_config_int(c, "dashes");
    *s = (lra_pathfinder_spec){.size = lra_pathfinder_size_find(size),
                               .images = lra_config_int(c, "images"),
                               .seed = (uint64_t)lra_config_int(c, "data-seed"),
                               .n_distractors = (int)distractors,
                               .dashes = (int)dashes};
    s->level = choice(c, "level", LRA_PATHFINDER_LEVELS, lra_pathfinder_level_names);
    int three = choice(c, "sets", 2, sets), uniform = choice(c, "seeding", 2, seeding);
    if (dashes == 0)
        return lra_fail_usage(e, "dashes is 0, expected 1 to %d, or -1 (as the level defines)",
                              LRA_PATHFINDER_HARD);
    if (three && dashes != -1)
        return lra_fail_usage(e, "sets is 'three' with dashes=%lld, expected sets 'one'",
                              (long long)dashes);
    if (three && s->level != HARD)
        return lra_fail_usage(e, "sets is 'three' with level '%s', expected level 'hard'",
                              lra_pathfinder_level_names[s->level]);
    s->uniform = uniform;
    for (int level = three ? 0 : s->level; level <= s->level; level++) s->set[s->n_sets++] = level;
    return 0;
}
