/* Perturbations of one sequence. */
#include "probes/influence/perturb.h"

#include <string.h>

#include "analysis/profile.h"
#include "datasets/listops/tree.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"

enum { RANDOM_WINDOWS = 8, FIXED_WINDOWS = 3, PERMUTATIONS = 1, STREAM = 0x5243 };

int64_t lra_perturb_draws(lra_perturbation_kind kind, int64_t w, int64_t n)
{
    switch (kind) {
    case LRA_KEEP_WINDOW:
    case LRA_TOKEN_WINDOW:
    case LRA_MASK_WINDOW:
    case LRA_PRUNE_WINDOW:
    case LRA_SWAP_WINDOW: return w >= n ? 1 : FIXED_WINDOWS + RANDOM_WINDOWS;
    case LRA_BAG: return (n + w - 1) / w;
    case LRA_ORDER_IN:
    case LRA_ORDER_OUT: return PERMUTATIONS;
    case LRA_DROP_SWAP:
    case LRA_DROP_TOKEN: return 1;
    }
    LRA_BUG("restriction %d", (int)kind);
}

/* Masked and pruned windows are the same as cropped ones, so that the results differ only in the
 * position ids, or in the surroundings. */
static lra_rng rng_of(const lra_perturb *c)
{
    bool same = c->kind == LRA_MASK_WINDOW || c->kind == LRA_PRUNE_WINDOW;
    lra_perturbation_kind kind = same ? LRA_KEEP_WINDOW : c->kind;
    return lra_rng_new(c->seed, STREAM + (uint32_t)kind,
                       (c->row << 24) ^ ((uint64_t)c->w << 8) ^ (uint64_t)c->draw);
}

int64_t lra_perturb_start(const lra_perturb *c, int64_t n)
{
    lra_rng rng = rng_of(c);
    int64_t room = n - c->w;
    if (room <= 0 || c->draw == 0) return 0;
    if (c->draw == 1) return room;
    if (c->draw == 2) return room / 2;
    return lra_rng_below(&rng, (uint32_t)(room + 1));
}

static void permute(lra_rng *rng, int64_t n, int64_t *order)
{
    for (int64_t i = 0; i < n; i++) order[i] = i;
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t k = lra_rng_below(rng, (uint32_t)(i + 1)), at = order[i];
        order[i] = order[k], order[k] = at;
    }
}

/* Windows begin at phase - w, phase, phase + w, ..; the first and the last may be cut. */
static void reorder(const lra_perturb *c, int64_t n, size_t size, const char *from, char *to)
{
    lra_rng rng = rng_of(c);
    int64_t phase = c->w > 1 ? lra_rng_below(&rng, (uint32_t)c->w) : 0;
    int64_t windows = (n - phase + c->w - 1) / c->w + (phase > 0), at = 0;
    int64_t *order = lra_alloc_array((size_t)(n + windows) + 1, sizeof *order);
    if (c->kind == LRA_ORDER_OUT)
        permute(&rng, windows, order);
    else
        for (int64_t k = 0; k < windows; k++) order[k] = k;
    for (int64_t k = 0; k < windows; k++) {
        int64_t start = phase + (order[k] - (phase > 0)) * c->w, end = start + c->w;
        if (start < 0) start = 0;
        if (end > n) end = n;
        int64_t *inside = order + windows;
        for (int64_t i = 0; i < end - start; i++) inside[i] = i;
        if (c->kind == LRA_ORDER_IN) permute(&rng, end - start, inside);
        for (int64_t i = 0; i < end - start; i++, at++)
            memcpy(to + (size_t)at * size, from + (size_t)(start + inside[i]) * size, size);
    }
    lra_free(order);
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

/* Removes tokens far from the marks. */
static void drop_far(const lra_perturb *c, int64_t n, size_t size, const char *from,
                     const char *other, int64_t other_n, char *to)
{
    bool swaps = c->kind == LRA_DROP_SWAP && other;
    memcpy(to, from, (size_t)n * size);
    for (int64_t i = 0; i < n; i++) {
        size_t at = (size_t)i * size;
        if (c->near[i] <= c->w || (swaps && i >= other_n)) continue;
        if (swaps)
            memcpy(to + at, other + at, size);
        else
            memset(to + at, 0, size);
    }
}

int64_t lra_perturb_apply(const lra_perturb *c, int64_t n, size_t size, const void *from,
                          const void *other, int64_t other_n, void *to)
{
    const char *source = from;
    if (c->draw >= lra_perturb_draws(c->kind, c->w, n)) return 0;
    if (c->kind == LRA_ORDER_IN || c->kind == LRA_ORDER_OUT) {
        reorder(c, n, size, source, to);
        return n;
    }
    if (c->kind == LRA_DROP_SWAP || c->kind == LRA_DROP_TOKEN) {
        drop_far(c, n, size, source, other, other_n, to);
        return n;
    }
    int64_t start = c->kind == LRA_BAG ? c->draw * c->w : lra_perturb_start(c, n);
    int64_t w = start + c->w < n ? c->w : n - start;
    if (c->kind == LRA_PRUNE_WINDOW) return lra_listops_prune(n, from, start, start + w, to);
    if (c->kind == LRA_TOKEN_WINDOW) {
        memset(to, 0, (size_t)n * size);
        memcpy((char *)to + (size_t)start * size, source + (size_t)start * size, (size_t)w * size);
        return n;
    }
    if (c->kind != LRA_SWAP_WINDOW || !other) {
        memcpy(to, source + (size_t)start * size, (size_t)w * size);
        return w;
    }
    memcpy(to, source, (size_t)n * size);
    memcpy(to, other, (size_t)(other_n < n ? other_n : n) * size);
    memcpy((char *)to + (size_t)start * size, source + (size_t)start * size, (size_t)w * size);
    return n;
}
