/* Applies a perturbation to one sequence (perturb.h). */
#include "probes/influence/perturb.h"

#include <string.h>

#include "analysis/profile.h"
#include "kernels/base/core/err.h"
#include "kernels/base/core/mem.h"

enum { RANDOM_WINDOWS = 8, FIXED_WINDOWS = 3, STREAM = 0x5243 };

lra_rng lra_perturb_rng(const lra_perturb *c)
{
    return lra_rng_new(c->seed, STREAM + c->is->draws.stream,
                       (c->row << 24) ^ ((uint64_t)c->w << 8) ^ (uint64_t)c->draw);
}

/* ---- windows --------------------------------------------------------------------------------- */

static int64_t window_draws(int64_t w, int64_t n)
{
    return w >= n ? 1 : FIXED_WINDOWS + RANDOM_WINDOWS;
}

static int64_t window_start(const lra_perturb *c, int64_t n)
{
    lra_rng rng = lra_perturb_rng(c);
    int64_t room = n - c->w;
    if (room <= 0 || c->draw == 0) return 0;
    if (c->draw == 1) return room;
    if (c->draw == 2) return room / 2;
    return lra_rng_below(&rng, (uint32_t)(room + 1));
}

static int64_t select_window(const lra_perturb *c, int64_t n, int64_t *position)
{
    int64_t start = window_start(c, n), w = start + c->w < n ? c->w : n - start;
    for (int64_t i = 0; i < w; i++) position[i] = start + i;
    return w;
}

const lra_geometry lra_windows = {.draws = window_draws, .select = select_window};

/* ---- fillers --------------------------------------------------------------------------------- */

static void copy_token(const lra_filling *f, int64_t from, void *to, int64_t at)
{
    memcpy((char *)to + (size_t)at * f->size, (const char *)f->from + (size_t)from * f->size,
           f->size);
}

static int64_t fill_nothing(const lra_filling *f, void *to)
{
    for (int64_t k = 0; k < f->n_kept; k++) copy_token(f, f->kept[k], to, k);
    return f->n_kept;
}

static int64_t fill_from_row(const lra_filling *f, void *to)
{
    if (!f->other) LRA_BUG("a perturbation without another row");
    memcpy(to, f->from, (size_t)f->n * f->size);
    memcpy(to, f->other, (size_t)(f->other_n < f->n ? f->other_n : f->n) * f->size);
    for (int64_t k = 0; k < f->n_kept; k++) copy_token(f, f->kept[k], to, f->kept[k]);
    return f->n;
}

static int64_t fill_zero(const lra_filling *f, void *to)
{
    memset(to, 0, (size_t)f->n * f->size);
    for (int64_t k = 0; k < f->n_kept; k++) copy_token(f, f->kept[k], to, f->kept[k]);
    return f->n;
}

const lra_filler lra_crop = {.fill = fill_nothing};
const lra_filler lra_other_row = {.fill = fill_from_row, .other_row = true, .keeps_length = true};
const lra_filler lra_zero = {.fill = fill_zero, .keeps_length = true};

bool lra_perturb_keeps_length(const lra_perturbation *is)
{
    return is->filler->keeps_length || is->geometry->permutes;
}

/* ---- one draw -------------------------------------------------------------------------------- */

int64_t lra_perturb_apply(const lra_perturb *c, int64_t n, size_t size, const void *from,
                          const void *other, int64_t other_n, void *to)
{
    if (c->draw >= c->is->geometry->draws(c->w, n)) return 0;
    int64_t *kept = lra_alloc_array((size_t)n + 1, sizeof *kept);
    const lra_filling f = {.n = n,
                           .n_kept = c->is->geometry->select(c, n, kept),
                           .kept = kept,
                           .size = size,
                           .from = from,
                           .other = other,
                           .other_n = other_n};
    int64_t left = c->is->filler->fill(&f, to);
    lra_free(kept);
    return left;
}

int64_t lra_perturb_start(const lra_perturb *c, int64_t n)
{
    int64_t *kept = lra_alloc_array((size_t)n + 1, sizeof *kept);
    int64_t start = c->is->geometry->select(c, n, kept) > 0 ? kept[0] : 0;
    lra_free(kept);
    return start;
}

/* ---- marks ----------------------------------------------------------------------------------- */

void lra_nearest_mark(int64_t n, int64_t grid, const bool *marked, int32_t *near)
{
    bool any = false;
    for (int64_t i = 0; i < n; i++) near[i] = INT32_MAX;
    for (int64_t m = 0; m < n; m++) {
        if (!marked[m]) continue;
        any = true;
        for (int64_t i = 0; i < n; i++) {
            int64_t d = lra_profile_distance(grid, i, m);
            if (d < near[i]) near[i] = (int32_t)d;
        }
    }
    for (int64_t i = 0; i < n && !any; i++) near[i] = 0;
}
