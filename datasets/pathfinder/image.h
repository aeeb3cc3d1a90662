/* Pathfinder images: two long paths, short distractors and two round markers. The label is 1 if
 * both markers are on the same path. */
#ifndef LRA_DATASETS_PATHFINDER_IMAGE_H
#define LRA_DATASETS_PATHFINDER_IMAGE_H

#include "datasets/pathfinder/paddle.h"
#include "kernels/base/core/philox.h"

/* Generator of images of one size and level; constant after its creation, shared by all threads. */
typedef struct lra_pathfinder lra_pathfinder;

/* How an image was generated, for tests and statistics. Positions are (y,x) in pixels. */
typedef struct {
    int32_t label;
    /* path: index of the path with the first marker; margin: drawn margin in pixels */
    int path, margin;
    /* number of pairs of paths tried; number of distractors placed */
    int attempts, distractors;
    /* position of the first and of the last paddle of both paths */
    int origin[2][2], terminal[2][2];
    int marker[2][2];
    double turn;     /* largest angle between two successive paddles, radians */
    double mean_ink; /* mean grey level of the image, 0..255 */
} lra_pathfinder_facts;

/* n_distractors -1: the default number of the size and level. uniform: paths start in every
 * orientation, which gives a data set different from the published one (the reference code rejects
 * orientations by the border rule of layout.c). size must be valid, 1 <= n_paddles <= 14. */
lra_pathfinder *lra_pathfinder_new(const lra_pathfinder_size *size, int n_paddles,
                                   int n_distractors, bool uniform);
void lra_pathfinder_free(lra_pathfinder *g); /* Nullable: g */
const lra_pathfinder_size *lra_pathfinder_size_of(const lra_pathfinder *g);
int lra_pathfinder_paddles(const lra_pathfinder *g); /* number of paddles of a long path */

/* Working memory of one thread. */
typedef struct lra_pathfinder_sheet lra_pathfinder_sheet;
lra_pathfinder_sheet *lra_pathfinder_sheet_new(const lra_pathfinder *g);
void lra_pathfinder_sheet_free(lra_pathfinder_sheet *s); /* Nullable: s */

/* Draws image number `index` of the data set `seed`: pixel (window,window) grey levels, which
 * depend on nothing else. Returns the label. Nullable: facts. */
int32_t lra_pathfinder_image(const lra_pathfinder *g, lra_pathfinder_sheet *s, uint64_t seed,
                             uint64_t index, uint8_t *pixel, lra_pathfinder_facts *facts);

#endif
