/* Pathfinder: the sizes of the benchmark, and the paddles its paths are made of. */
#ifndef LRA_DATASETS_PATHFINDER_PADDLE_H
#define LRA_DATASETS_PATHFINDER_PADDLE_H

#include <stdbool.h>
#include <stdint.h>

enum { LRA_PATHFINDER_DEGREES = 360, LRA_PATHFINDER_MAX_MARGINS = 2, LRA_PATHFINDER_MAX_SIDE = 21 };

/* Parameters of one image size; lengths in pixels. */
typedef struct {
    int window, frame, seed_distance, length;
    double thickness, marker_radius, continuity, snake_contrast, paddle_contrast;
    int n_margins, margin[LRA_PATHFINDER_MAX_MARGINS]; /* one drawn per image */
    /* total over all distractors; determines their number */
    int distractor_paddles;
} lra_pathfinder_size;
const lra_pathfinder_size *lra_pathfinder_size_find(int64_t window); /* NULL: no such size */

/* Every paddle of a size and margin.  A direction enters through the integer end point alone. */
typedef struct {
    const lra_pathfinder_size *size;
    int margin;
    int radius,
        side;  /* images are (side,side), side = 2 radius + 1, the paddle starts in the centre */
    int reach; /* end points are within +-reach of the start, on the finer canvas */
    int n_ends;
    int16_t *index;       /* (2 reach + 1, 2 reach + 1) end point to image, -1: not computed */
    uint8_t *line, *mask; /* (n_ends, side, side) */
    /* By degree + 180: the image, and where a path may be seeded. */
    int16_t degree_end[LRA_PATHFINDER_DEGREES];
    int n_kernel[LRA_PATHFINDER_DEGREES]; /* pixels of the seed kernel */
    int8_t (*kernel)[LRA_PATHFINDER_MAX_SIDE * LRA_PATHFINDER_MAX_SIDE][2]; /* (360) of (dy,dx) */
    /* The border rule: the kernel reaches inside from every border pixel. */
    bool can_seed[LRA_PATHFINDER_DEGREES];
} lra_paddles;

lra_paddles *lra_paddles_new(const lra_pathfinder_size *size, int margin);
void lra_paddles_free(lra_paddles *p); /* Nullable: p */
/* The image of a paddle in direction t (radians), an index for line and mask. */
int lra_paddles_find(const lra_paddles *p, double t);

/* Componentwise ceil of p + d (sin t, cos t), the sum formed before the ceil. */
void lra_pathfinder_move(const int p[2], double t, double d, int to[2]);
/* The opposite direction: an angle of [-pi, pi] to one of [-pi, pi). */
double lra_pathfinder_reverse(double angle);

#endif
