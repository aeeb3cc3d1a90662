/* Pathfinder: laying out the paths of an image (internal to the generator). */
#ifndef LRA_DATASETS_PATHFINDER_LAYOUT_H
#define LRA_DATASETS_PATHFINDER_LAYOUT_H

#include "datasets/formats/lanczos.h"
#include "datasets/pathfinder/path.h"

struct lra_pathfinder {
    const lra_pathfinder_size *size;
    int n_paddles, n_distractors, distractor_length;
    bool uniform;
    lra_paddles *paddles[LRA_PATHFINDER_MAX_MARGINS];
    pathfinder_turns *turns[LRA_PATHFINDER_MAX_MARGINS];
    /* Tails of the first seed, by margin and degree: rows and columns [0] to [1]. */
    int tails[LRA_PATHFINDER_MAX_MARGINS][LRA_PATHFINDER_DEGREES][2][2];
    lra_lanczos *shrink; /* the markers' canvas */
};

struct lra_pathfinder_sheet {
    pathfinder_mask empty, mask, saved, blocked;
    uint8_t *ink[3]; /* (window,window) paths, distractors, markers: before contrast */
};
enum { PATHS, DISTRACTORS, MARKERS };

/* Drawing tables: one margin of a generator. */
typedef struct {
    const struct lra_pathfinder *g;
    struct lra_pathfinder_sheet *s;
    const lra_paddles *p;
    const pathfinder_turns *t;
    int margin; /* index */
    lra_rng rng;
} pathfinder_pen;

static inline bool pathfinder_on_frame(int window, int width, int y, int x)
{
    return y < width || x < width || y >= window - width || x >= window - width;
}

/* Draws both long paths; false: it failed, and the pair must be drawn again. */
bool pathfinder_pair(pathfinder_pen *n, pathfinder_path path[2]);
/* One try of a distractor; false: the mask is as before. */
bool pathfinder_distractor(pathfinder_pen *n, pathfinder_path *path);

#endif
