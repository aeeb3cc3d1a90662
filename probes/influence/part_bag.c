/* Part bag: the input is split into adjacent windows of w tokens. The model evaluates each window
 * alone, and the outputs are averaged (restricted_part.h). The remaining gain measures evidence
 * that is local and additive over windows. */
#include "probes/influence/part.h"

static int64_t draws(int64_t w, int64_t n)
{
    return (n + w - 1) / w;
}

static int64_t select_block(const lra_perturb *c, int64_t n, int64_t *position)
{
    int64_t start = c->draw * c->w, w = start + c->w < n ? c->w : n - start;
    for (int64_t i = 0; i < w; i++) position[i] = start + i;
    return w;
}

static const lra_geometry blocks = {.draws = draws, .select = select_block};

static const char *undefined(const lra_influence *p)
{
    bool language = p->subject.data->task->goal == LRA_GOAL_NEXT;
    return language ? "windows of a language model answer for different tokens" : NULL;
}

const lra_influence_part lra_part_bag = {
    .name = "bag",
    .summary = "gain of windows of w tokens, each evaluated alone, with their outputs averaged",
    .examples = 500,
    .least = 1,
    .nulls = LRA_NULL_BIT(LRA_NULL_UNIFORM),
    .undefined = undefined,
    .perturbation = &(const lra_perturbation){.geometry = &blocks,
                                              .filler = &lra_crop,
                                              .draws = {.stream = 2, .averaged = true},
                                              .ids = {.least = "bag.w", .area = "bag.auc"}}};
