/* Pathfinder: image sizes of the benchmark, and the paddles of which paths consist. */
#ifndef LRA_DATASETS_PATHFINDER_PADDLE_H
#define LRA_DATASETS_PATHFINDER_PADDLE_H

#include <stdbool.h>
#include <stdint.h>

enum { LRA_PATHFINDER_DEGREES = 360, LRA_PATHFINDER_MAX_MARGINS = 2, LRA_PATHFINDER_MAX_SIDE = 21 };

/* Parameters of one image size; lengths in pixels. */
typedef struct {
    int window, frame, seed_distance, length;
    double thickness, marker_radius, continuity, snake_contrast, paddle_contrast;
    /* margins in pixels; one is drawn for each image */
    int n_margins, margin[LRA_PATHFINDER_MAX_MARGINS];
    /* Total number of paddles of all distractors, which determines the number of distractors. */
    int distractor_paddles;
} lra_pathfinder_size;
const lra_pathfinder_size *lra_pathfinder_size_find(int64_t window); /* NULL: no such size */

/* Images of all paddles of a size and margin. A direction matters only through its integer end
 * point on the finer canvas. */
typedef struct {
    const lra_pathfinder_size *size;
    int margin;
    int radius,
        side; /* images are (side,side), side = 2 radius + 1; the paddle starts in the centre */
    /* end points are at most `reach` pixels of the finer canvas from the start, along each axis */
    int reach;
    int n_ends;
    /* (2 reach + 1, 2 reach + 1) image index of each end point, -1: not computed */
    int16_t *index;
    uint8_t *line, *mask; /* (n_ends, side, side) levels 0..255 of the lines and of the masks */
    /* Image index of each orientation; index: degree + 180. */
    int16_t degree_end[LRA_PATHFINDER_DEGREES];
    /* number of pixels of the seed kernel of each orientation */
    int n_kernel[LRA_PATHFINDER_DEGREES];
    /* (360) seed kernel of each orientation: offsets (dy,dx) */
    int8_t (*kernel)[LRA_PATHFINDER_MAX_SIDE * LRA_PATHFINDER_MAX_SIDE][2];
    /* border rule (layout.c): from every border pixel the seed kernel reaches inside the image */
    bool can_seed[LRA_PATHFINDER_DEGREES];
} lra_paddles;

lra_paddles *lra_paddles_new(const lra_pathfinder_size *size, int margin);
void lra_paddles_free(lra_paddles *p); /* Nullable: p */
/* Returns the image index of a paddle in direction t (radians), for `line` and `mask`. */
int lra_paddles_find(const lra_paddles *p, double t);

/* Moves a point: to = ceil(p + d (sin t, cos t)) for each component (y,x); rounded after the
 * sum. */
void lra_pathfinder_move(const int p[2], double t, double d, int to[2]);
/* Returns the opposite of an angle in [-pi, pi] as an angle in [-pi, pi). */
double lra_pathfinder_reverse(double angle);

#endif
