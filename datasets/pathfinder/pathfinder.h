/* Parameters of a Pathfinder task. */
#ifndef LRA_DATASETS_PATHFINDER_PATHFINDER_H
#define LRA_DATASETS_PATHFINDER_PATHFINDER_H

#include "datasets/loader/dataset.h"
#include "datasets/pathfinder/levels.h"
#include "datasets/pathfinder/paddle.h"

enum { LRA_PATHFINDER_MIN_IMAGES = 10 };
typedef struct {
    const lra_pathfinder_size *size;
    int level; /* index of lra_pathfinder_level_names */
    /* levels that are trained on; the last one is `level` */
    int n_sets, set[LRA_PATHFINDER_LEVELS];
    int64_t images; /* number of images of each level */
    int n_distractors;
    int dashes; /* number of paddles of a long path; -1: that of the level */
    bool uniform;
    uint64_t seed;
} lra_pathfinder_spec;
int lra_pathfinder_spec_read(const lra_config *c, lra_pathfinder_spec *s, lra_err *e);

/* Checks the files of a level: missing or broken files, labels, and statistics compared with
 * generated images. */
int lra_pathfinder_inspect(const lra_config *c, const char *path, lra_facts *found, lra_err *e);

#endif
