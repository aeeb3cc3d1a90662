/* Round markers: on a canvas of twice the resolution, all pixels within 2 r of twice the marker's
 * position, reduced by Lanczos.
 * Detection: a(p) = min over the pixels k of the disc d of pixel(p + k) / d(k). At a marker a(p) is
 * the markers' grey level; elsewhere it is lower, because paddles are thinner than the disc. */
#include "datasets/pathfinder/marker.h"

#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"

enum { FINE = 2, REACH = 12, SPAN = 6 * REACH, CORE = 96 };

lra_lanczos *lra_pathfinder_shrink(const lra_pathfinder_size *size)
{
    return lra_lanczos_new(size->window * FINE, size->window);
}

/* Computes only the part of the canvas around the marker. */
void lra_pathfinder_disc(const lra_pathfinder_size *size, const lra_lanczos *z, const int tip[2],
                         uint8_t *ink)
{
    double radius = size->marker_radius * FINE;
    int window = size->window, ends[2][2];
    for (int axis = 0; axis < 2; axis++) {
        ends[axis][0] = tip[axis] < REACH ? 0 : tip[axis] - REACH;
        ends[axis][1] = tip[axis] + REACH >= window ? window - 1 : tip[axis] + REACH;
    }
    int top = z->first[ends[0][0]], bottom = z->first[ends[0][1]] + z->n[ends[0][1]];
    int left = z->first[ends[1][0]], right = z->first[ends[1][1]] + z->n[ends[1][1]];
    uint8_t canvas[SPAN], rows[SPAN][2 * REACH + 1];
    for (int y = top; y < bottom; y++) {
        for (int x = left; x < right; x++) {
            int dy = y - FINE * tip[0], dx = x - FINE * tip[1];
            canvas[x - left] = dy * dy + dx * dx <= radius * radius ? 255 : 0;
        }
        for (int x = ends[1][0]; x <= ends[1][1]; x++)
            rows[y - top][x - ends[1][0]] = lra_lanczos_at(z, x, canvas + z->first[x] - left, 1);
    }
    for (int y = ends[0][0]; y <= ends[0][1]; y++)
        for (int x = ends[1][0]; x <= ends[1][1]; x++) {
            const uint8_t *column = &rows[z->first[y] - top][x - ends[1][0]];
            uint8_t v = lra_lanczos_at(z, y, column, 2 * REACH + 1);
            if (v > ink[y * window + x]) ink[y * window + x] = v;
        }
}

/* ---- measurement ----------------------------------------------------------------------------- */

struct lra_marker_finder {
    int window, n;
    int at[(2 * REACH + 1) * (2 * REACH + 1)]
          /* bright pixels of the disc (level >= CORE), brightest first, relative to its centre */
          [2];
    int level[(2 * REACH + 1) * (2 * REACH + 1)];
};

lra_marker_finder *lra_marker_finder_new(const lra_pathfinder_size *size)
{
    lra_marker_finder *f = lra_alloc(sizeof *f);
    int window = size->window, centre[2] = {window / 2, window / 2};
    uint8_t *disc = lra_alloc_array((size_t)window, (size_t)window);
    lra_lanczos *shrink = lra_pathfinder_shrink(size);
    lra_pathfinder_disc(size, shrink, centre, disc);
    f->window = window;
    for (int level = 255; level >= CORE; level--)
        for (int i = 0; i < window * window; i++) {
            if (disc[i] != level) continue;
            f->at[f->n][0] = i / window - centre[0], f->at[f->n][1] = i % window - centre[1];
            f->level[f->n++] = level;
        }
    lra_lanczos_free(shrink);
    lra_free(disc);
    return f;
}

void lra_marker_finder_free(lra_marker_finder *f)
{
    lra_free(f);
}

/* Returns a(p) at pixel (y,x), or -1 as soon as it falls below `enough`. */
static double brightness(const lra_marker_finder *f, const uint8_t *pixel, int y, int x,
                         double enough)
{
    double least = 1e9;
    for (int i = 0; i < f->n; i++) {
        int row = y + f->at[i][0], column = x + f->at[i][1];
        if (row < 0 || column < 0 || row >= f->window || column >= f->window) continue;
        /* add 0.5, because grey levels are rounded */
        double a = (pixel[row * f->window + column] + 0.5) * 255 / f->level[i];
        if (a < least) least = a;
        if (least < enough) return -1;
    }
    return least;
}

int lra_marker_find(const lra_marker_finder *f, const uint8_t *pixel, int at[2][2])
{
    double best[2] = {0, 0};
    memset(at, 0, 4 * sizeof(int));
    for (int k = 0; k < 2; k++)
        for (int y = 1; y < f->window - 1; y++)
            for (int x = 1; x < f->window - 1; x++) {
                bool near_first = k == 1 && y >= at[0][0] - 1 && y <= at[0][0] + 1 &&
                                  x >= at[0][1] - 1 && x <= at[0][1] + 1;
                if (near_first || pixel[y * f->window + x] < best[k]) continue;
                double a = brightness(f, pixel, y, x, best[k]);
                if (a > best[k]) best[k] = a, at[k][0] = y, at[k][1] = x;
            }
    return (int)(best[1] < 255 ? best[1] : 255);
}

/* ---- the baseline ---------------------------------------------------------------------------- */

double lra_marker_distance(int at[2][2])
{
    return hypot(at[0][0] - at[1][0], at[0][1] - at[1][1]);
}

static int bin_of(double distance)
{
    int bin = (int)(distance / 1.5);
    return bin < LRA_DISTANCE_BINS ? bin : LRA_DISTANCE_BINS - 1;
}

void lra_distance_rule_add(lra_distance_rule *r, double distance, int32_t label)
{
    r->count[bin_of(distance)][label]++;
}

void lra_distance_rule_fit(lra_distance_rule *r)
{
    int64_t all[2] = {0, 0};
    for (int b = 0; b < LRA_DISTANCE_BINS; b++)
        for (int k = 0; k < 2; k++) all[k] += r->count[b][k];
    for (int b = 0; b < LRA_DISTANCE_BINS; b++) {
        const int64_t *count = r->count[b][0] == r->count[b][1] ? all : r->count[b];
        r->label[b] = count[1] > count[0];
    }
}

int32_t lra_distance_rule_label(const lra_distance_rule *r, double distance)
{
    return r->label[bin_of(distance)];
}
