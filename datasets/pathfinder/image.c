/* Draws an image:
 *   1. two long paths with seeds seed_distance apart, grown in alternation; on any failure both are
 *      drawn again
 *   2. distractors one after another, five tries each
 *   3. a fair coin for the label, a fair coin for the path that carries the first marker
 *   4. levels = trunc(255 (v - min) / (max - min) + 1/2), v = max over kinds of (contrast * ink)
 * Source: Linsley et al. 2018 (snakes2.py), Tay et al. 2021. The number of distractors is that of
 * the level, as in the published parameters; the public driver may have used that of the easy
 * level.
 * Known: at 32 px, hard, a pair takes 327 attempts and 1.15 of 5 distractors are placed. */
#include "datasets/pathfinder/image.h"

#include <math.h>
#include <string.h>

#include "datasets/pathfinder/marker.h"
#include "datasets/pathfinder/layout.h"
#include "kernels/base/core/mem.h"

enum { STREAM = 0x50460000, TRIES = 5 };

/* ---- make and free --------------------------------------------------------------------------- */

/* Finds the positions of the first paddle at which all pixels of its seed kernel are inside the
 * central window [2 seed_distance, window - 2 seed_distance). */
static void find_tails(lra_pathfinder *g, int margin)
{
    const lra_paddles *p = g->paddles[margin];
    int low = 2 * g->size->seed_distance, high = g->size->window - low - 1;
    for (int d = 0; d < LRA_PATHFINDER_DEGREES; d++)
        for (int axis = 0; axis < 2; axis++) {
            int least = 0, most = 0;
            for (int i = 0; i < p->n_kernel[d]; i++) {
                int v = p->kernel[d][i][axis];
                if (i == 0 || v < least) least = v;
                if (i == 0 || v > most) most = v;
            }
            g->tails[margin][d][axis][0] = low - least;
            g->tails[margin][d][axis][1] = high - most;
        }
}

lra_pathfinder *lra_pathfinder_new(const lra_pathfinder_size *size, int n_paddles,
                                   int n_distractors, bool uniform)
{
    lra_pathfinder *g = lra_alloc(sizeof *g);
    g->size = size, g->n_paddles = n_paddles, g->uniform = uniform;
    g->distractor_length = n_paddles / 3 > 0 ? n_paddles / 3 : 1;
    g->n_distractors = n_distractors >= 0 ? n_distractors
                                          : size->distractor_paddles / g->distractor_length;
    for (int i = 0; i < size->n_margins; i++) {
        g->paddles[i] = lra_paddles_new(size, size->margin[i]);
        g->turns[i] = pathfinder_turns_new(g->paddles[i]);
        find_tails(g, i);
    }
    g->shrink = lra_pathfinder_shrink(size);
    return g;
}

void lra_pathfinder_free(lra_pathfinder *g)
{
    if (!g) return;
    for (int i = 0; i < g->size->n_margins; i++) {
        lra_paddles_free(g->paddles[i]);
        pathfinder_turns_free(g->turns[i]);
    }
    lra_lanczos_free(g->shrink);
    lra_free(g);
}

const lra_pathfinder_size *lra_pathfinder_size_of(const lra_pathfinder *g)
{
    return g->size;
}

int lra_pathfinder_paddles(const lra_pathfinder *g)
{
    return g->n_paddles;
}

static pathfinder_mask new_mask(int window)
{
    pathfinder_mask m = {window, window + 2 * PATHFINDER_PAD, NULL};
    m.level = lra_alloc(pathfinder_mask_bytes(&m));
    return m;
}

lra_pathfinder_sheet *lra_pathfinder_sheet_new(const lra_pathfinder *g)
{
    lra_pathfinder_sheet *s = lra_alloc(sizeof *s);
    int window = g->size->window;
    s->empty = new_mask(window), s->mask = new_mask(window);
    s->saved = new_mask(window), s->blocked = new_mask(window);
    for (int y = 0; y < window; y++)
        for (int x = 0; x < window; x++)
            if (pathfinder_on_frame(window, g->size->frame, y, x))
                *pathfinder_mask_at(&s->empty, y, x) = 255;
    for (int k = 0; k < 3; k++) s->ink[k] = lra_alloc_array((size_t)window, (size_t)window);
    return s;
}

void lra_pathfinder_sheet_free(lra_pathfinder_sheet *s)
{
    if (!s) return;
    lra_free(s->empty.level);
    lra_free(s->mask.level);
    lra_free(s->saved.level);
    lra_free(s->blocked.level);
    for (int k = 0; k < 3; k++) lra_free(s->ink[k]);
    lra_free(s);
}

/* ---- ink ------------------------------------------------------------------------------------- */

static void draw_path(const pathfinder_pen *n, const pathfinder_path *path, uint8_t *ink)
{
    int side = n->p->side, window = n->g->size->window;
    for (int k = 0; k < path->n; k++) {
        const uint8_t *line = n->p->line + path->paddle[k].image * side * side;
        for (int i = 0; i < side * side; i++) {
            int at[2] = {path->paddle[k].at[0] + i / side - n->p->radius,
                         path->paddle[k].at[1] + i % side - n->p->radius};
            if (!pathfinder_inside(window, at)) continue;
            uint8_t *to = &ink[at[0] * window + at[1]];
            if (line[i] > *to) *to = line[i];
        }
    }
}

/* Combines the inks by their contrasts and scales the image to the range 0..255. Inks of paths pass
 * through float32, as in the reference code: this decides how levels halfway between two integers
 * are rounded. */
static void mix(const pathfinder_pen *n, uint8_t *pixel)
{
    const lra_pathfinder_size *size = n->g->size;
    const double contrast[3] = {size->snake_contrast * size->paddle_contrast, size->snake_contrast,
                                1};
    int pixels = size->window * size->window;
    double low = 1e9, high = 0, value[3][256];
    for (int k = 0; k < 3; k++)
        for (int v = 0; v < 256; v++)
            value[k][v] = k == MARKERS ? v / 255.0 : (double)(float)(v / 255.0 * contrast[k]);
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < pixels; i++) {
            double v = 0;
            for (int k = 0; k < 3; k++) v = fmax(v, value[k][n->s->ink[k][i]]);
            if (pass == 0) low = fmin(low, v), high = fmax(high, v);
            if (pass == 1) pixel[i] = (uint8_t)((v - low) * (255 / (high - low)) + 0.5);
        }
}

/* ---- an image -------------------------------------------------------------------------------- */

static void copy_place(int to[2], const int from[2])
{
    to[0] = from[0], to[1] = from[1];
}

static int place_distractors(pathfinder_pen *n)
{
    int placed = 0;
    for (int i = 0; i < n->g->n_distractors; i++)
        for (int k = 0; k < TRIES; k++) {
            pathfinder_path path;
            if (!pathfinder_distractor(n, &path)) continue;
            draw_path(n, &path, n->s->ink[DISTRACTORS]);
            placed++;
            break;
        }
    return placed;
}

int32_t lra_pathfinder_image(const lra_pathfinder *g, lra_pathfinder_sheet *s, uint64_t seed,
                             uint64_t index, uint8_t *pixel, lra_pathfinder_facts *facts)
{
    lra_pathfinder_facts f = {0};
    size_t pixels = (size_t)g->size->window * (size_t)g->size->window;
    uint32_t stream = STREAM ^ ((uint32_t)g->size->window << 8) ^ (uint32_t)g->n_paddles;
    pathfinder_pen n = {.g = g, .s = s, .rng = lra_rng_new(seed, stream, index)};
    n.margin = (int)lra_rng_below(&n.rng, (uint32_t)g->size->n_margins);
    n.p = g->paddles[n.margin], n.t = g->turns[n.margin];
    for (int k = 0; k < 3; k++) memset(s->ink[k], 0, pixels);
    pathfinder_path path[2];
    do f.attempts++;
    while (!pathfinder_pair(&n, path));
    for (int k = 0; k < 2; k++) {
        draw_path(&n, &path[k], s->ink[PATHS]);
        copy_place(f.origin[k], path[k].paddle[0].at);
        copy_place(f.terminal[k], path[k].tip);
        f.turn = fmax(f.turn, path[k].turn);
    }
    f.distractors = place_distractors(&n);
    f.label = (int32_t)lra_rng_below(&n.rng, 2);
    f.path = (int)lra_rng_below(&n.rng, 2);
    f.margin = g->size->margin[n.margin];
    copy_place(f.marker[0], f.origin[f.path]);
    copy_place(f.marker[1], f.terminal[f.label ? f.path : 1 - f.path]);
    for (int k = 0; k < 2; k++)
        lra_pathfinder_disc(g->size, g->shrink, f.marker[k], s->ink[MARKERS]);
    mix(&n, pixel);
    for (size_t i = 0; i < pixels; i++) f.mean_ink += pixel[i] / (double)pixels;
    if (facts) *facts = f;
    return f.label;
}
