/* Pathfinder: lays out the paths of an image (internal to the generator). */
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
    /* [margin][degree + 180][axis]: first and last position of the first seed along the axis (row,
     * column), inclusive */
    int tails[LRA_PATHFINDER_MAX_MARGINS][LRA_PATHFINDER_DEGREES][2][2];
    lra_lanczos *shrink; /* reduces the canvas of the markers to the image */
};

struct lra_pathfinder_sheet {
    pathfinder_mask empty, mask, saved, blocked;
    /* (window,window) each: ink of paths, distractors and markers, before contrast */
    uint8_t *ink[3];
};
enum { PATHS, DISTRACTORS, MARKERS };

/* Generator, working memory and tables with which one image is drawn, for one margin. */
typedef struct {
    const struct lra_pathfinder *g;
    struct lra_pathfinder_sheet *s;
    const lra_paddles *p;
    const pathfinder_turns *t;
    int margin; /* index of the margin */
    lra_rng rng;
} pathfinder_pen;

static inline bool pathfinder_on_frame(int window, int width, int y, int x)
{
    return y < width || x < width || y >= window - width || x >= window - width;
}

/* Draws both long paths; returns false if it failed, so that the pair must be drawn again. */
bool pathfinder_pair(pathfinder_pen *n, pathfinder_path path[2]);
/* Tries to draw a distractor; returns false, with an unchanged mask, if there is no room. */
bool pathfinder_distractor(pathfinder_pen *n, pathfinder_path *path);

#endif
