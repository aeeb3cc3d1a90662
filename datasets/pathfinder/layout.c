/* Layout of the paths of an image: two long paths whose seeds are seed_distance apart, grown in
 * alternation, then the distractors.
 * The border rule: a path starts only in orientations whose seed kernel reaches inside the image
 * from every border pixel (a peculiarity of the reference code: at 32 px, 30 of 360 degrees).
 * Source: Linsley et al. 2018 (snakes2.py). */
#include "datasets/pathfinder/layout.h"

#include <math.h>
#include <string.h>

#include "kernels/base/core/err.h"

enum { FREE = 76 /* mask level up to which a pixel is free: 0.3 of 255 */ };
static const double pi = 3.14159265358979323846;

static void copy_mask(const pathfinder_mask *from, const pathfinder_mask *to)
{
    memcpy(to->level, from->level, pathfinder_mask_bytes(from));
}

/* ---- the pair -------------------------------------------------------------------------------- */

static int draw_degree(pathfinder_pen *n)
{
    return (int)lra_rng_below(&n->rng, LRA_PATHFINDER_DEGREES);
}

static bool may_seed(const pathfinder_pen *n, int degree)
{
    return n->g->uniform || n->p->can_seed[degree];
}

static bool seed_first(pathfinder_pen *n, pathfinder_path *path)
{
    for (int trial = 0; trial < PATHFINDER_TRIALS; trial++) {
        int degree = draw_degree(n), tail[2];
        if (!may_seed(n, degree)) return false;
        for (int axis = 0; axis < 2; axis++) {
            const int *range = n->g->tails[n->margin][degree][axis];
            if (range[1] < range[0]) return false;
            tail[axis] = range[0] +
                         (int)lra_rng_below(&n->rng, (uint32_t)(range[1] - range[0] + 1));
        }
        if (pathfinder_start(n->p, n->g->size->window, tail, degree, path)) return true;
    }
    return false;
}

static bool seed_second(pathfinder_pen *n, const pathfinder_path *first, pathfinder_path *path)
{
    for (int trial = 0; trial < PATHFINDER_TRIALS; trial++) {
        double angle = draw_degree(n) * pi / 180, distance = n->g->size->seed_distance;
        int tail[2] = {(int)rint(first->tip[0] + distance * sin(angle)),
                       (int)rint(first->tip[1] + distance * cos(angle))};
        if (pathfinder_start(n->p, n->g->size->window, tail, draw_degree(n), path)) return true;
    }
    return false;
}

bool pathfinder_pair(pathfinder_pen *n, pathfinder_path path[2])
{
    copy_mask(&n->s->empty, &n->s->mask);
    if (!seed_first(n, &path[0]) || !seed_second(n, &path[0], &path[1])) return false;
    for (int i = 1; i < n->g->n_paddles; i++)
        for (int k = 0; k < 2; k++)
            if (!pathfinder_extend(n->p, n->t, &n->s->mask, &path[k], &n->rng)) return false;
    /* The mask of the last paddle of the first path is never added, as in the reference code. */
    pathfinder_block(n->p, &path[1].paddle[path[1].n - 1], &n->s->mask);
    return true;
}

/* ---- distractors ----------------------------------------------------------------------------- */

/* Sets `blocked` to the mask, with the border pixels blocked, dilated by the seed kernel of the
 * orientation. Returns the number of free pixels, -1 if less than 1 % were free before dilation. */
static int find_free(pathfinder_pen *n, int degree)
{
    int window = n->g->size->window, before = 0, after = 0, n_kernel = n->p->n_kernel[degree];
    pathfinder_mask framed = n->s->saved, blocked = n->s->blocked;
    copy_mask(&n->s->mask, &framed);
    for (int y = 0; y < window; y++)
        for (int x = 0; x < window; x++) {
            uint8_t *level = pathfinder_mask_at(&framed, y, x);
            if (pathfinder_on_frame(window, 1, y, x)) *level = 255;
            before += *level <= FREE;
        }
    if (before * 100 < window * window) return -1;
    for (int y = 0; y < window; y++) {
        uint8_t *to = pathfinder_mask_at(&blocked, y, 0);
        memset(to, 0, (size_t)window);
        for (int k = 0; k < n_kernel; k++) {
            const int8_t *offset = n->p->kernel[degree][k];
            const uint8_t *from = pathfinder_mask_at(&framed, y + offset[0], offset[1]);
            for (int x = 0; x < window; x++) to[x] = from[x] > to[x] ? from[x] : to[x];
        }
        for (int x = 0; x < window; x++) after += to[x] <= FREE;
    }
    return after;
}

static void nth_free(const pathfinder_mask *blocked, int which, int tail[2])
{
    for (int y = 0; y < blocked->window; y++)
        for (int x = 0; x < blocked->window; x++)
            if (*pathfinder_mask_at(blocked, y, x) <= FREE && which-- == 0) {
                tail[0] = y, tail[1] = x;
                return;
            }
    LRA_BUG("no such free pixel");
}

static bool seed_distractor(pathfinder_pen *n, pathfinder_path *path)
{
    for (int trial = 0; trial < PATHFINDER_TRIALS; trial++) {
        int degree = draw_degree(n), tail[2];
        if (!may_seed(n, degree)) return false;
        int count = find_free(n, degree);
        if (count <= 0) return false;
        nth_free(&n->s->blocked, (int)lra_rng_below(&n->rng, (uint32_t)count), tail);
        if (pathfinder_start(n->p, n->g->size->window, tail, degree, path)) return true;
    }
    return false;
}

bool pathfinder_distractor(pathfinder_pen *n, pathfinder_path *path)
{
    if (!seed_distractor(n, path)) return false;
    copy_mask(&n->s->mask, &n->s->saved);
    for (int i = 1; i < n->g->distractor_length; i++)
        if (!pathfinder_extend(n->p, n->t, &n->s->mask, path, &n->rng)) {
            copy_mask(&n->s->saved, &n->s->mask);
            return false;
        }
    pathfinder_block(n->p, &path->paddle[path->n - 1], &n->s->mask);
    return true;
}
