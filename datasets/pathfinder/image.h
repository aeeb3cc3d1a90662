/* Pathfinder images: two long paths, short distractors, two round markers.  Label 1: both markers
 * lie on the same path. */
#ifndef LRA_DATASETS_PATHFINDER_IMAGE_H
#define LRA_DATASETS_PATHFINDER_IMAGE_H

#include "datasets/pathfinder/paddle.h"
#include "kernels/base/core/philox.h"

/* Generator of images of one size and level; read-only once made, shared by all workers. */
typedef struct lra_pathfinder lra_pathfinder;

/* How an image came about: for tests and statistics.  Places are (y,x). */
typedef struct {
    int32_t label;
    int path, margin;                 /* whose origin carries a marker; the margin drawn */
    int attempts, distractors;        /* pairs tried; distractors placed */
    int origin[2][2], terminal[2][2]; /* tips of the two paths */
    int marker[2][2];
    double turn;     /* largest between two paddles, radians */
    double mean_ink; /* of the image, 0..255 */
} lra_pathfinder_facts;

/* n_distractors -1: the number of the size and level. uniform: seeds in every orientation, which
 * gives a data set of its own (the reference rejects orientations by the border rule). size is
 * valid, 1 <= n_paddles <= 14. */
lra_pathfinder *lra_pathfinder_new(const lra_pathfinder_size *size, int n_paddles,
                                   int n_distractors, bool uniform);
void lra_pathfinder_free(lra_pathfinder *g); /* Nullable: g */
const lra_pathfinder_size *lra_pathfinder_size_of(const lra_pathfinder *g);
int lra_pathfinder_paddles(const lra_pathfinder *g);     /* of a long path */
int lra_pathfinder_distractors(const lra_pathfinder *g); /* that are tried */

/* Working memory of a worker. */
typedef struct lra_pathfinder_sheet lra_pathfinder_sheet;
lra_pathfinder_sheet *lra_pathfinder_sheet_new(const lra_pathfinder *g);
void lra_pathfinder_sheet_free(lra_pathfinder_sheet *s); /* Nullable: s */

/* Draws image `index` of the set `seed`: (window,window) grey levels, which depend on nothing else.
 * Returns the label. Nullable: facts. */
int32_t lra_pathfinder_image(const lra_pathfinder *g, lra_pathfinder_sheet *s, uint64_t seed,
                             uint64_t index, uint8_t *pixel, lra_pathfinder_facts *facts);

#endif
