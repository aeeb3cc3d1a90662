/* Pathfinder: grows one path, paddle by paddle (internal to the generator). */
#ifndef LRA_DATASETS_PATHFINDER_PATH_H
#define LRA_DATASETS_PATHFINDER_PATH_H

#include <stddef.h>

#include "datasets/pathfinder/levels.h"
#include "datasets/pathfinder/paddle.h"
#include "kernels/base/core/philox.h"

enum {
    PATHFINDER_PAD = 16,
    PATHFINDER_TRIALS = 3,
    PATHFINDER_CANDIDATES = 64,
    PATHFINDER_DISC = 64
};

/* Mask of forbidden pixels: levels 0 (free) to 255. PAD zeros on every side, so that paddles need
 * no clipping. */
typedef struct {
    int window, stride;
    uint8_t *level; /* (stride,stride) levels of the pixels and of the margin PAD */
} pathfinder_mask;

static inline uint8_t *pathfinder_mask_at(const pathfinder_mask *m, int y, int x)
{
    return m->level + (y + PATHFINDER_PAD) * m->stride + x + PATHFINDER_PAD;
}

static inline size_t pathfinder_mask_bytes(const pathfinder_mask *m)
{
    return (size_t)m->stride * (size_t)m->stride;
}

static inline bool pathfinder_inside(int window, const int p[2])
{
    return p[0] >= 0 && p[1] >= 0 && p[0] < window && p[1] < window;
}

/* A paddle at a position: index of its image in the table, position (y,x). */
typedef struct {
    int image, at[2];
} pathfinder_paddle;

typedef struct {
    int n, tip[2], pivot[2];
    /* index of the direction of the last paddle: degree + 180 for a seed, 360 + number of the
     * candidate for an extension */
    int heading;
    double turn; /* largest angle between two successive paddles so far, radians */
    pathfinder_paddle paddle[LRA_PATHFINDER_MAX_PADDLES];
} pathfinder_path;

/* Candidates for the next paddle: pixels on a circle around the pivot, at the end of the last
 * paddle. */
typedef struct {
    int n, at[PATHFINDER_CANDIDATES][2], image[PATHFINDER_CANDIDATES];
    int n_disc, disc[PATHFINDER_DISC][2];
    /* Direction of each heading in radians, its sine and cosine; weight of each candidate. */
    double angle[LRA_PATHFINDER_DEGREES + PATHFINDER_CANDIDATES];
    double sine[LRA_PATHFINDER_DEGREES + PATHFINDER_CANDIDATES];
    double cosine[LRA_PATHFINDER_DEGREES + PATHFINDER_CANDIDATES];
    double weight[LRA_PATHFINDER_DEGREES + PATHFINDER_CANDIDATES][PATHFINDER_CANDIDATES];
} pathfinder_turns;
pathfinder_turns *pathfinder_turns_new(const lra_paddles *p);
void pathfinder_turns_free(pathfinder_turns *t); /* Nullable: t */

/* Starts a path at the position `tail`; returns false if its head or pivot is outside of the
 * image. */
bool pathfinder_start(const lra_paddles *p, int window, const int tail[2], int degree,
                      pathfinder_path *path);
/* Adds one paddle to a path; returns false if there is no room. */
bool pathfinder_extend(const lra_paddles *p, const pathfinder_turns *t, const pathfinder_mask *m,
                       pathfinder_path *path, lra_rng *rng);
/* Blocks the surroundings of a paddle: m = max(m, mask of the paddle). */
void pathfinder_block(const lra_paddles *p, const pathfinder_paddle *paddle,
                      const pathfinder_mask *m);

#endif
