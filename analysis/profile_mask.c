/* Uniform baseline of distance profiles. */
#include <math.h>

#include "analysis/profile.h"
#include "kernels/base/core/mem.h"

int64_t lra_profile_distance(int64_t columns, int64_t i, int64_t j)
{
    if (columns == 0) return i > j ? i - j : j - i;
    int64_t dy = i / columns - j / columns, dx = i % columns - j % columns;
    dy = dy < 0 ? -dy : dy, dx = dx < 0 ? -dx : dx;
    return dy > dx ? dy : dx;
}

/* Returns one more than the largest distance of T inputs. */
static int64_t distances_of(int64_t T, int64_t columns)
{
    if (columns == 0) return T;
    int64_t lines = (T + columns - 1) / columns, across = T < columns ? T : columns;
    return lines > across ? lines : across;
}

lra_profile_mask *lra_profile_mask_new(int64_t T, int64_t columns)
{
    lra_profile_mask *m = lra_alloc(sizeof *m);
    m->T = T, m->columns = columns, m->n = distances_of(T, columns);
    double **array[] = {&m->pairs, &m->equal, &m->reach, &m->other};
    for (int k = 0; k < 4; k++) *array[k] = lra_alloc_array((size_t)m->n + 1, sizeof **array[k]);
    return m;
}

void lra_profile_mask_free(lra_profile_mask *m)
{
    if (!m) return;
    lra_free(m->pairs);
    lra_free(m->equal);
    lra_free(m->reach);
    lra_free(m->other);
    lra_free(m);
}

/* Adds a row of n allowed inputs to the counts; `before` of them precede the output, `after` follow
 * it. */
static void count_row(lra_profile_mask *m, int64_t n, int64_t before, int64_t after)
{
    double keys = (double)n;
    int64_t others = before + after;
    m->n_other += others > 0;
    if (others > 0) m->self += (double)(n - others) / keys;
    m->n_rows++, m->n_single += n == 1;
    m->past += (double)before / keys, m->future += (double)after / keys;
    m->keys += keys, m->log_keys += log(keys);
}

void lra_profile_mask_holes(lra_profile_mask *m, int64_t i, const uint8_t *allowed)
{
    int64_t n = 0, before = 0, after = 0, farthest = -1;
    for (int64_t j = 0; j < m->T; j++)
        if (allowed[j]) n++, before += j<i, after += j> i;
    if (n == 0) return;
    count_row(m, n, before, after);
    for (int64_t j = 0; j < m->T; j++) {
        if (!allowed[j]) continue;
        int64_t d = lra_profile_distance(m->columns, i, j);
        m->pairs[d] += 1, m->equal[d] += 1 / (double)n;
        if (j != i) m->other[d] += 1 / (double)(before + after);
        if (d > farthest) farthest = d;
    }
    for (int64_t d = 0; d <= farthest; d++) m->reach[d] += 1;
}

/* Adds one pair at each distance from `from` to `to`, inclusive. */
static void add_run(lra_profile_mask *m, int64_t from, int64_t to, double share, double other)
{
    for (int64_t d = from; d <= to; d++)
        m->pairs[d] += 1, m->equal[d] += share, m->other[d] += other;
}

void lra_profile_mask_row(lra_profile_mask *m, int64_t i, int64_t from, int64_t to)
{
    if (from < 0) from = 0;
    if (to > m->T) to = m->T;
    if (from >= to) return;
    if (m->columns) {
        uint8_t *allowed = lra_alloc((size_t)m->T);
        for (int64_t j = from; j < to; j++) allowed[j] = 1;
        lra_profile_mask_holes(m, i, allowed);
        lra_free(allowed);
        return;
    }
    int64_t n = to - from, near = to <= i ? i - to + 1 : from > i ? from - i : 0;
    int64_t back = i - from, ahead = to - 1 - i, far = back > ahead ? back : ahead;
    count_row(m, n, back < 0 ? 0 : back < n ? back : n, ahead < 0 ? 0 : ahead < n ? ahead : n);
    double share = 1 / (double)n;
    if (near > 0) {
        add_run(m, near, far, share, share);
    } else {
        double other = n > 1 ? 1 / (double)(n - 1) : 0;
        add_run(m, 0, 0, share, 0);
        add_run(m, 1, back, share, other);
        add_run(m, 1, ahead, share, other);
    }
    for (int64_t d = 0; d <= far; d++) m->reach[d] += 1;
}
