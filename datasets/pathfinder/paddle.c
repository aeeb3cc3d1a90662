/* Paddles (the dashes of paths): short wide lines with soft edges, and masks that keep other
 * paddles at a distance.
 * On a canvas of twice the resolution, a line of width round(2 th) goes from the centre to
 * move(centre, t, 2 len). The mask is that line dilated by a disc of radius 2 m. Both are reduced
 * by Lanczos. (th: thickness, len: length, m: margin, t: direction.)
 * Source: Linsley et al. 2018 (snakes2.py), with the parameters of the benchmark. Lines are
 * rasterised exactly as by Pillow. */
#include "datasets/pathfinder/paddle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "datasets/formats/lanczos.h"
#include "kernels/base/core/mem.h"

enum { FINE = 2, MAX_EDGES = 4 };
static const double pi = 3.14159265358979323846;

static const lra_pathfinder_size sizes[] = {
    {32, 1, 7, 2, 0.5, 1.5, 1.0, 2.0, 0.75, 1, {1}, 20},
    {64, 1, 12, 5, 1.0, 2.5, 1.8, 0.8, 1.0, 1, {1}, 22},
    {128, 1, 20, 5, 1.5, 3.0, 1.8, 0.9, 1.0, 2, {2, 3}, 35},
    {256, 22, 27, 5, 2.0, 5.0, 1.8, 1.0, 1.0, 1, {3}, 30},
};

const lra_pathfinder_size *lra_pathfinder_size_find(int64_t window)
{
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i].window == window) return &sizes[i];
    return NULL;
}

void lra_pathfinder_move(const int p[2], double t, double d, int to[2])
{
    to[0] = (int)ceil(p[0] + d * sin(t));
    to[1] = (int)ceil(p[1] + d * cos(t));
}

double lra_pathfinder_reverse(double angle)
{
    return angle < 0 ? angle + pi : angle - pi;
}

/* ---- lines ----------------------------------------------------------------------------------- */

typedef struct {
    int side;
    uint8_t *pixel; /* (side,side) grey levels */
} canvas;

static void set_pixel(const canvas *c, int x, int y)
{
    if (x >= 0 && x < c->side && y >= 0 && y < c->side) c->pixel[y * c->side + x] = 255;
}

/* Draws a line of one pixel width by Bresenham's algorithm, including both end points. */
static void thin_line(const canvas *c, int x, int y, int dx, int dy)
{
    int xs = dx < 0 ? -1 : 1, ys = dy < 0 ? -1 : 1, w = abs(dx), h = abs(dy);
    int n = w > h ? w : h, other = w > h ? h : w, error = 2 * other - n;
    for (int i = 0; i <= n; i++) {
        set_pixel(c, x, y);
        bool both = error >= 0 && other > 0;
        if (both) error -= 2 * n;
        if (w > h || both) x += xs;
        if (w <= h || both) y += ys;
        error += 2 * other;
    }
}

/* round_out(): rounds to nearest, ties away from zero. round_in(): rounds to nearest, ties towards
 * zero. */
static int round_out(double v)
{
    return (int)(v >= 0 ? floor(v + 0.5) : -floor(-v + 0.5));
}
static int round_in(double v)
{
    return (int)(v >= 0 ? ceil(v - 0.5) : -ceil(-v - 0.5));
}

static int ascending(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Fills a polygon: on every row the spans between the sorted intersections with its edges. An edge
 * that ends on the row counts twice, except on the last row. */
static void fill_polygon(const canvas *c, int n, int (*const vertex)[2])
{
    int top = vertex[0][1], bottom = top;
    for (int i = 0; i < n; i++) {
        if (vertex[i][1] < top) top = vertex[i][1];
        if (vertex[i][1] > bottom) bottom = vertex[i][1];
    }
    for (int y = top; y <= bottom; y++) {
        float at[2 * MAX_EDGES];
        int k = 0;
        for (int i = 0; i < n; i++) {
            const int *a = vertex[i], *b = vertex[(i + 1) % n];
            int low = a[1] < b[1] ? a[1] : b[1], high = a[1] < b[1] ? b[1] : a[1];
            if (low == high && y == low) {
                int from = a[0] < b[0] ? a[0] : b[0], to = a[0] < b[0] ? b[0] : a[0];
                for (int x = from; x <= to; x++) set_pixel(c, x, y);
            }
            if (low == high || y < low || y > high) continue;
            float slope = (float)(b[0] - a[0]) / (float)(b[1] - a[1]);
            at[k] = (float)(y - a[1]) * slope + (float)a[0], k++;
            if (y == high && y < bottom) at[k] = at[k - 1], k++;
        }
        qsort(at, (size_t)k, sizeof *at, ascending);
        for (int i = 1; i < k; i += 2)
            for (int x = round_out(at[i - 1]); x <= round_in(at[i]); x++) set_pixel(c, x, y);
    }
}

static void wide_line(const canvas *c, int x, int y, int dx, int dy, int width)
{
    double half = (width - 1) / 2.0, length = hypot(dx, dy);
    double most = round_out(half) / length, least = round_in(half) / length;
    int dxmin = round_in(least * dy), dxmax = round_in(most * dy);
    int dymin = round_out(least * dx), dymax = round_out(most * dx);
    int vertex[MAX_EDGES][2] = {{x - dxmin, y + dymax},
                                {x + dx - dxmin, y + dy + dymax},
                                {x + dx + dxmax, y + dy - dymin},
                                {x + dxmax, y - dymin}};
    fill_polygon(c, MAX_EDGES, vertex);
}

/* Dilation: sets in `to` every pixel within r of a set pixel of c. */
static void grow(const canvas *c, int r, const canvas *to)
{
    for (int y = 0; y < c->side; y++)
        for (int x = 0; x < c->side; x++)
            for (int dy = -r; dy <= r && c->pixel[y * c->side + x]; dy++)
                for (int dx = -r; dx <= r; dx++)
                    if (dy * dy + dx * dx <= r * r) set_pixel(to, x + dx, y + dy);
}

/* ---- the table ------------------------------------------------------------------------------- */

static int16_t *index_of(const lra_paddles *p, double t)
{
    const int centre[2] = {p->radius * FINE, p->radius * FINE};
    int end[2];
    lra_pathfinder_move(centre, t, p->size->length * FINE, end);
    int dy = end[0] - centre[0] + p->reach, dx = end[1] - centre[1] + p->reach;
    return &p->index[dy * (2 * p->reach + 1) + dx];
}

static void draw(lra_paddles *p, const lra_lanczos *z, int dy, int dx, int image)
{
    size_t n = (size_t)z->in * (size_t)z->in;
    canvas line = {z->in, lra_alloc(n)}, mask = {z->in, lra_alloc(n)};
    int centre = p->radius * FINE, width = round_out(p->size->thickness * FINE);
    if (width <= 1)
        thin_line(&line, centre, centre, dx, dy);
    else
        wide_line(&line, centre, centre, dx, dy, width);
    grow(&line, p->margin * FINE, &mask);
    lra_lanczos_square(z, line.pixel, p->line + image * p->side * p->side);
    lra_lanczos_square(z, mask.pixel, p->mask + image * p->side * p->side);
    lra_free(line.pixel);
    lra_free(mask.pixel);
}

/* Finds the seed kernel of an orientation: the offsets of all pixels whose mask is exactly 1,
 * relative to the pixel one above and left of the paddle's start. */
static void find_kernel(lra_paddles *p, int degree)
{
    int half = p->size->length + p->margin, n = 0;
    bool quadrant[4] = {false};
    const uint8_t *mask = p->mask + p->degree_end[degree] * p->side * p->side;
    for (int dy = -half; dy <= half; dy++)
        for (int dx = -half; dx <= half; dx++) {
            int y = dy - 1 + p->radius, x = dx - 1 + p->radius;
            if (y < 0 || x < 0 || y >= p->side || x >= p->side || mask[y * p->side + x] != 255)
                continue;
            p->kernel[degree][n][0] = (int8_t)dy;
            p->kernel[degree][n][1] = (int8_t)dx;
            n++;
            quadrant[0] |= dy >= 0 && dx >= 0, quadrant[1] |= dy >= 0 && dx <= 0;
            quadrant[2] |= dy <= 0 && dx >= 0, quadrant[3] |= dy <= 0 && dx <= 0;
        }
    p->n_kernel[degree] = n;
    p->can_seed[degree] = quadrant[0] && quadrant[1] && quadrant[2] && quadrant[3];
}

static int16_t number_end(lra_paddles *p, double t)
{
    int16_t *index = index_of(p, t);
    if (*index < 0) *index = (int16_t)p->n_ends++;
    return *index;
}

/* Numbers the end points of all paddles: of integer degrees first, then of the other directions
 * that an extension can take, from a pixel around a pivot back to the pivot. (At 64 px the ratio
 * 3:4:5 gives one end point that no integer degree has.) */
static void number_ends(lra_paddles *p)
{
    int r = p->size->length + p->margin;
    for (int d = 0; d < LRA_PATHFINDER_DEGREES; d++)
        p->degree_end[d] = number_end(p, (d - 180) * pi / 180);
    for (int y = -r; y <= r; y++)
        for (int x = -r; x <= r; x++)
            if (y * y + x * x > (r - 2) * (r - 2))
                number_end(p, lra_pathfinder_reverse(atan2(y, x)));
}

lra_paddles *lra_paddles_new(const lra_pathfinder_size *size, int margin)
{
    lra_paddles *p = lra_alloc(sizeof *p);
    p->size = size, p->margin = margin;
    p->radius = size->length + (int)ceil(size->thickness) + margin;
    p->side = 2 * p->radius + 1;
    p->reach = size->length * FINE;
    int cells = (2 * p->reach + 1) * (2 * p->reach + 1);
    p->index = lra_alloc_array((size_t)cells, sizeof *p->index);
    for (int i = 0; i < cells; i++) p->index[i] = -1;
    number_ends(p);
    size_t bytes = (size_t)(p->n_ends * p->side * p->side);
    p->line = lra_alloc(bytes), p->mask = lra_alloc(bytes);
    p->kernel = lra_alloc_array(LRA_PATHFINDER_DEGREES, sizeof *p->kernel);
    lra_lanczos *z = lra_lanczos_new(2 * p->radius * FINE + 1, p->side);
    for (int i = 0; i < cells; i++)
        if (p->index[i] >= 0)
            draw(p, z, i / (2 * p->reach + 1) - p->reach, i % (2 * p->reach + 1) - p->reach,
                 p->index[i]);
    lra_lanczos_free(z);
    for (int d = 0; d < LRA_PATHFINDER_DEGREES; d++) find_kernel(p, d);
    return p;
}

void lra_paddles_free(lra_paddles *p)
{
    if (!p) return;
    lra_free(p->index);
    lra_free(p->line);
    lra_free(p->mask);
    lra_free(p->kernel);
    lra_free(p);
}

int lra_paddles_find(const lra_paddles *p, double t)
{
    int found = *index_of(p, t);
    if (found < 0)
        LRA_BUG("no paddle of size %d points to %g degrees", p->size->window, t * 180 / pi);
    return found;
}
