/* Parts order-in and order-out: order-in permutes the tokens inside each window of w tokens;
 * order-out permutes the windows and keeps the order inside (restricted_part.h). The start of the
 * first window is random. */
#include "kernels/base/core/mem.h"
#include "probes/influence/part.h"

enum { PERMUTATIONS = 1 };

static int64_t draws(int64_t w, int64_t n)
{
    (void)w;
    (void)n;
    return PERMUTATIONS;
}

static void permute(lra_rng *rng, int64_t n, int64_t *order)
{
    for (int64_t i = 0; i < n; i++) order[i] = i;
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t k = lra_rng_below(rng, (uint32_t)(i + 1)), at = order[i];
        order[i] = order[k], order[k] = at;
    }
}

/* Writes the new order of n tokens to position. Windows begin at phase - w, phase, phase + w, ..;
 * the first and the last window can be shorter. */
static int64_t reorder(const lra_perturb *c, int64_t n, bool inside, int64_t *position)
{
    lra_rng rng = lra_perturb_rng(c);
    int64_t phase = c->w > 1 ? lra_rng_below(&rng, (uint32_t)c->w) : 0;
    int64_t windows = (n - phase + c->w - 1) / c->w + (phase > 0), at = 0;
    int64_t *order = lra_alloc_array((size_t)(n + windows) + 1, sizeof *order);
    int64_t *token = order + windows;
    for (int64_t k = 0; k < windows; k++) order[k] = k;
    if (!inside) permute(&rng, windows, order);
    for (int64_t k = 0; k < windows; k++) {
        int64_t start = phase + (order[k] - (phase > 0)) * c->w, end = start + c->w;
        if (start < 0) start = 0;
        if (end > n) end = n;
        for (int64_t i = 0; i < end - start; i++) token[i] = i;
        if (inside) permute(&rng, end - start, token);
        for (int64_t i = 0; i < end - start; i++) position[at++] = start + token[i];
    }
    lra_free(order);
    return at;
}

static int64_t inside_windows(const lra_perturb *c, int64_t n, int64_t *position)
{
    return reorder(c, n, true, position);
}

static int64_t of_windows(const lra_perturb *c, int64_t n, int64_t *position)
{
    return reorder(c, n, false, position);
}

static const lra_geometry in = {.draws = draws, .select = inside_windows, .permutes = true};
static const lra_geometry out = {.draws = draws, .select = of_windows, .permutes = true};

const lra_influence_part lra_part_order_in = {
    .name = "order-in",
    .summary = "gain with tokens permuted inside windows of w",
    .examples = 2000,
    .least = 1,
    .nulls = LRA_NULL_BIT(LRA_NULL_UNIFORM),
    .perturbation = &(const lra_perturbation){.geometry = &in,
                                              .filler = &lra_crop,
                                              .draws = {.stream = 3},
                                              .ids = {.costs = ".local", .smallest = true}}};

const lra_influence_part lra_part_order_out = {
    .name = "order-out",
    .summary = "gain with windows of w tokens permuted as units",
    .examples = 2000,
    .least = 1,
    .nulls = LRA_NULL_BIT(LRA_NULL_UNIFORM),
    .perturbation = &(const lra_perturbation){.geometry = &out,
                                              .filler = &lra_crop,
                                              .draws = {.stream = 4},
                                              .ids = {.costs = ".global"}}};
