/* Grows a path:
 *   pivot' = move(pivot, t, len + 2m)
 *   candidates: pixels on the circle of radius len + m around pivot'
 *   weight = (1 - M dilated by a disc of radius m) * max(0, cos(min(continuity * turn, pi/2)))^2
 * The new paddle starts at the candidate and points to pivot'. It is accepted if M + mask < 1.8 at
 * every pixel. M is the mask of all earlier paddles.
 * Masks are stored as bytes, so that 1.8 is 459.
 * Source: Linsley et al. 2018 (snakes2.py). */
#include "datasets/pathfinder/path.h"

#include <math.h>

#include "kernels/base/core/mem.h"

enum { CROWDED = 459 };
static const double pi = 3.14159265358979323846;

static double turn_between(double a, double b)
{
    double d = fabs(a - b);
    return d > pi ? 2 * pi - d : d;
}

static void add_candidate(pathfinder_turns *t, int y, int x)
{
    for (int i = 0; i < t->n; i++)
        if (t->at[i][0] == y && t->at[i][1] == x) return;
    if (t->n == PATHFINDER_CANDIDATES) LRA_BUG("more than %d candidates", PATHFINDER_CANDIDATES);
    t->at[t->n][0] = y, t->at[t->n][1] = x;
    t->n++;
}

static void set_heading(pathfinder_turns *t, const lra_paddles *p, int heading, double angle)
{
    t->angle[heading] = angle;
    t->sine[heading] = sin(angle), t->cosine[heading] = cos(angle);
    for (int i = 0; i < t->n; i++) {
        double bend = p->size->continuity * turn_between(atan2(t->at[i][0], t->at[i][1]), angle);
        double c = cos(bend < pi / 2 ? bend : pi / 2);
        t->weight[heading][i] = c > 0 ? c * c : 0;
    }
}

pathfinder_turns *pathfinder_turns_new(const lra_paddles *p)
{
    pathfinder_turns *t = lra_alloc(sizeof *t);
    int r = p->size->length + p->margin, m = p->margin;
    /* floor() equals the reference code's truncation for positive pixel coordinates; other
     * coordinates lie on the blocked frame. */
    for (int i = 0; i < 2 * pi * r; i++)
        add_candidate(t, (int)floor(r * sin((double)i / r)), (int)floor(r * cos((double)i / r)));
    for (int y = -m; y <= m; y++)
        for (int x = -m; x <= m; x++)
            if (y * y + x * x <= m * m) t->disc[t->n_disc][0] = y, t->disc[t->n_disc++][1] = x;
    for (int d = 0; d < LRA_PATHFINDER_DEGREES; d++) set_heading(t, p, d, (d - 180) * pi / 180);
    for (int i = 0; i < t->n; i++) {
        double angle = atan2(t->at[i][0], t->at[i][1]);
        set_heading(t, p, LRA_PATHFINDER_DEGREES + i, angle);
        t->image[i] = lra_paddles_find(p, lra_pathfinder_reverse(angle));
    }
    return t;
}

void pathfinder_turns_free(pathfinder_turns *t)
{
    lra_free(t);
}

bool pathfinder_start(const lra_paddles *p, int window, const int tail[2], int degree,
                      pathfinder_path *path)
{
    double angle = (degree - 180) * pi / 180;
    int head[2];
    lra_pathfinder_move(tail, angle, p->size->length, head);
    lra_pathfinder_move(head, lra_pathfinder_reverse(angle), p->size->length + p->margin,
                        path->pivot);
    if (!pathfinder_inside(window, head) || !pathfinder_inside(window, path->pivot)) return false;
    path->n = 1;
    path->tip[0] = tail[0], path->tip[1] = tail[1];
    path->heading = degree;
    path->turn = 0;
    path->paddle[0] = (pathfinder_paddle){p->degree_end[degree], {tail[0], tail[1]}};
    return true;
}

void pathfinder_block(const lra_paddles *p, const pathfinder_paddle *paddle,
                      const pathfinder_mask *m)
{
    const uint8_t *mask = p->mask + paddle->image * p->side * p->side;
    for (int i = 0; i < p->side; i++) {
        int y = paddle->at[0] + i - p->radius, left = paddle->at[1] - p->radius;
        int from = left < 0 ? -left : 0;
        int end = left + p->side > m->window ? m->window - left : p->side;
        if (y < 0 || y >= m->window) continue;
        uint8_t *to = pathfinder_mask_at(m, y, left);
        for (int x = from; x < end; x++)
            if (mask[i * p->side + x] > to[x]) to[x] = mask[i * p->side + x];
    }
}

/* Returns true if M + mask >= 1.8 in float32 at a pixel whose bytes sum to exactly 1.8 * 255. The
 * reference code adds float32 numbers, so that rounding decides such ties. */
static bool tie_is_crowded(const uint8_t *level, const uint8_t *mask, int n)
{
    for (int x = 0; x < n; x++) {
        double a = (double)(float)(level[x] / 255.0), b = (double)(float)(mask[x] / 255.0);
        if (level[x] + mask[x] == CROWDED && a + b >= 1.8) return true;
    }
    return false;
}

static bool fits(const lra_paddles *p, int image, const int at[2], const pathfinder_mask *m)
{
    const uint8_t *mask = p->mask + image * p->side * p->side;
    const uint8_t *level = pathfinder_mask_at(m, at[0] - p->radius, at[1] - p->radius);
    for (int y = 0; y < p->side; y++, level += m->stride, mask += p->side) {
        int most = 0;
        for (int x = 0; x < p->side; x++) {
            int sum = level[x] + mask[x];
            most = sum > most ? sum : most;
        }
        if (most > CROWDED) return false;
        if (most == CROWDED && tie_is_crowded(level, mask, p->side)) return false;
    }
    return true;
}

/* Returns 1 - (M dilated by the disc of radius m) at pixel (y,x). */
static double room_at(const pathfinder_turns *t, const pathfinder_mask *m, int y, int x)
{
    const uint8_t *level = pathfinder_mask_at(m, y, x);
    int most = 0;
    for (int i = 0; i < t->n_disc; i++) {
        int v = level[t->disc[i][0] * m->stride + t->disc[i][1]];
        most = v > most ? v : most;
    }
    return 1 - most / 255.0;
}

bool pathfinder_extend(const lra_paddles *p, const pathfinder_turns *t, const pathfinder_mask *m,
                       pathfinder_path *path, lra_rng *rng)
{
    double step = p->size->length + 2 * p->margin, up_to[PATHFINDER_CANDIDATES], total = 0;
    int pivot[2] = {(int)ceil(path->pivot[0] + step * t->sine[path->heading]),
                    (int)ceil(path->pivot[1] + step * t->cosine[path->heading])};
    for (int i = 0; i < t->n; i++) {
        int at[2] = {pivot[0] + t->at[i][0], pivot[1] + t->at[i][1]};
        double weight = t->weight[path->heading][i];
        if (weight > 0 && pathfinder_inside(m->window, at))
            total += weight * room_at(t, m, at[0], at[1]);
        up_to[i] = total;
    }
    if (total < 1e-4) return false;
    for (int trial = 0; trial < PATHFINDER_TRIALS; trial++) {
        double u = lra_rng_u01(rng) * total;
        int i = 0;
        while (i < t->n - 1 && up_to[i] <= u) i++;
        int at[2] = {pivot[0] + t->at[i][0], pivot[1] + t->at[i][1]};
        if (!fits(p, t->image[i], at, m)) continue;
        pathfinder_block(p, &path->paddle[path->n - 1], m);
        int heading = LRA_PATHFINDER_DEGREES + i;
        double turn = turn_between(t->angle[heading], t->angle[path->heading]);
        if (turn > path->turn) path->turn = turn;
        path->heading = heading;
        path->tip[0] = at[0], path->tip[1] = at[1];
        path->pivot[0] = pivot[0], path->pivot[1] = pivot[1];
        path->paddle[path->n++] = (pathfinder_paddle){t->image[i], {at[0], at[1]}};
        return true;
    }
    return false;
}
