/* Measures images: brightness, connected regions, markers. */
#include "datasets/pathfinder/stats.h"

#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"

enum { HALF = 127 };

const char *const lra_pathfinder_measures[LRA_PATHFINDER_N_MEASURES] = {
#define LRA_MEASURE(id, name) name,
    LRA_PATHFINDER_MEASURES(LRA_MEASURE)
#undef LRA_MEASURE
};

struct lra_pathfinder_meter {
    int window;
    lra_marker_finder *finder;
    uint8_t *seen; /* (window,window) pixels that are already part of a region */
    int *stack;
};

lra_pathfinder_meter *lra_pathfinder_meter_new(const lra_pathfinder_size *size)
{
    lra_pathfinder_meter *m = lra_alloc(sizeof *m);
    size_t pixels = (size_t)size->window * (size_t)size->window;
    m->window = size->window;
    m->finder = lra_marker_finder_new(size);
    m->seen = lra_alloc(pixels);
    m->stack = lra_alloc_array(pixels, sizeof *m->stack);
    return m;
}

void lra_pathfinder_meter_free(lra_pathfinder_meter *m)
{
    if (!m) return;
    lra_marker_finder_free(m->finder);
    lra_free(m->seen);
    lra_free(m->stack);
    lra_free(m);
}

/* Marks all pixels of the bright region that contains pixel `first`, as `seen`. */
static void fill(lra_pathfinder_meter *m, const uint8_t *pixel, int first)
{
    int n = 0;
    m->stack[n++] = first;
    m->seen[first] = 1;
    while (n > 0) {
        int at = m->stack[--n], y = at / m->window, x = at % m->window;
        for (int row = y - 1; row <= y + 1; row++)
            for (int column = x - 1; column <= x + 1; column++) {
                int next = row * m->window + column;
                bool inside = row >= 0 && column >= 0 && row < m->window && column < m->window;
                if (!inside || pixel[next] <= HALF || m->seen[next]) continue;
                m->seen[next] = 1;
                m->stack[n++] = next;
            }
    }
}

static int count_components(lra_pathfinder_meter *m, const uint8_t *pixel)
{
    int pixels = m->window * m->window, n = 0;
    memset(m->seen, 0, (size_t)pixels);
    for (int i = 0; i < pixels; i++) {
        if (pixel[i] <= HALF || m->seen[i]) continue;
        fill(m, pixel, i);
        n++;
    }
    return n;
}

void lra_pathfinder_measure(lra_pathfinder_meter *m, const uint8_t *pixel,
                            double value[LRA_PATHFINDER_N_MEASURES])
{
    int pixels = m->window * m->window, marker[2][2];
    double sum = 0, ink = 0, bright = 0;
    for (int i = 0; i < pixels; i++)
        sum += pixel[i], ink += pixel[i] > 0, bright += pixel[i] > HALF;
    lra_marker_find(m->finder, pixel, marker);
    value[LRA_PATHFINDER_GREY] = sum / pixels;
    value[LRA_PATHFINDER_INK] = ink / pixels;
    value[LRA_PATHFINDER_BRIGHT] = bright / pixels;
    value[LRA_PATHFINDER_COMPONENTS] = count_components(m, pixel);
    value[LRA_PATHFINDER_DISTANCE] = lra_marker_distance(marker);
    value[LRA_PATHFINDER_MARKER_Y] = (marker[0][0] + marker[1][0]) / 2.0;
    value[LRA_PATHFINDER_MARKER_X] = (marker[0][1] + marker[1][1]) / 2.0;
}

/* ---- sets ------------------------------------------------------------------------------------ */

void lra_pathfinder_stats_add(lra_pathfinder_stats *s, int n_pixels, const uint8_t *pixel,
                              const double value[LRA_PATHFINDER_N_MEASURES])
{
    s->n++;
    for (int i = 0; i < n_pixels; i++) s->grey[pixel[i]]++;
    for (int k = 0; k < LRA_PATHFINDER_N_MEASURES; k++) {
        s->sum[k] += value[k];
        s->squares[k] += value[k] * value[k];
    }
}

double lra_pathfinder_mean(const lra_pathfinder_stats *s, int k)
{
    return s->n ? s->sum[k] / (double)s->n : 0;
}

double lra_pathfinder_deviation(const lra_pathfinder_stats *s, int k)
{
    double mean = lra_pathfinder_mean(s, k), n = (double)s->n;
    return s->n > 1 ? sqrt(fmax(0, (s->squares[k] - n * mean * mean) / (n - 1))) : 0;
}

double lra_pathfinder_effect(const lra_pathfinder_stats *a, const lra_pathfinder_stats *b, int k,
                             double *error)
{
    double x = lra_pathfinder_deviation(a, k), y = lra_pathfinder_deviation(b, k);
    double m = (double)a->n, n = (double)b->n;
    double pooled = sqrt(((m - 1) * x * x + (n - 1) * y * y) / (m + n - 2));
    double d = (lra_pathfinder_mean(a, k) - lra_pathfinder_mean(b, k)) / pooled;
    *error = sqrt((m + n) / (m * n) + d * d / (2 * (m + n)));
    return d;
}

double lra_pathfinder_grey_distance(const lra_pathfinder_stats *a, const lra_pathfinder_stats *b)
{
    double total[2] = {0, 0}, distance = 0;
    for (int v = 0; v < 256; v++) total[0] += (double)a->grey[v], total[1] += (double)b->grey[v];
    for (int v = 0; v < 256; v++)
        distance += fabs((double)a->grey[v] / total[0] - (double)b->grey[v] / total[1]) / 2;
    return distance;
}
