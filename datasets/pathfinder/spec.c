/* Parameters of the Pathfinder tasks: reading and checking. */
#include <string.h>

#include "datasets/pathfinder/pathfinder.h"
#include "kernels/base/mem.h"

enum { HARD = 2, MAX_IMAGES = 1 << 24 };

/* The index of a word among n, or -1 with a message. */
static int choice(const lra_config *c, const char *key, int n, const char *const *words, lra_err *e)
{
    const char *word = lra_config_text(c, key);
    lra_text all = {0};
    for (int i = 0; i < n; i++) {
        if (strcmp(words[i], word) == 0) {
            lra_text_free(&all);
            return i;
        }
        lra_text_add(&all, "%s%s", i == 0 ? "" : i + 1 < n ? ", " : " or ", words[i]);
    }
    lra_fail_usage(e, "%s is '%s', expected %s", key, word, all.s);
    lra_text_free(&all);
    return -1;
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
    s->level = choice(c, "level", LRA_PATHFINDER_LEVELS, lra_pathfinder_level_names, e);
    int three = choice(c, "sets", 2, sets, e), uniform = choice(c, "seeding", 2, seeding, e);
    if (s->level < 0 || three < 0 || uniform < 0) return LRA_USAGE;
    if (!s->size)
        return lra_fail_usage(e, "size is %lld, expected 32, 64, 128 or 256", (long long)size);
    if (s->images < LRA_PATHFINDER_MIN_IMAGES || s->images > MAX_IMAGES)
        return lra_fail_usage(e, "images is %lld, expected %d to %d", (long long)s->images,
                              LRA_PATHFINDER_MIN_IMAGES, MAX_IMAGES);
    if (distractors < -1 || distractors > 100)
        return lra_fail_usage(e, "distractors is %lld, expected 0 to 100, or -1: as the level says",
                              (long long)distractors);
    if (dashes != -1 && (dashes < 1 || dashes > LRA_PATHFINDER_HARD))
        return lra_fail_usage(e, "dashes is %lld, expected 1 to %d, or -1: as the level says",
                              (long long)dashes, LRA_PATHFINDER_HARD);
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
