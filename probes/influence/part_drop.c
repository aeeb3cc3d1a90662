/* Parts drop and drop-token: the gain that remains if only tokens at most w from a token that the
 * task marks (lra_task.marks) stay (restricted_part.h). In images, w is in pixels. */
#include "probes/influence/part.h"

enum { STREAM_SWAP = 7, STREAM_TOKEN = 8 };

static int64_t draws(int64_t w, int64_t n)
{
    (void)w;
    (void)n;
    return 1;
}

static int64_t near_marks(const lra_perturb *c, int64_t n, int64_t *position)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++)
        if (c->near[i] <= c->w) position[kept++] = i;
    return kept;
}

static const lra_geometry marks = {.draws = draws, .select = near_marks, .marks = true};

static const char *undefined(const lra_influence *p)
{
    return p->subject.data->task->text.marks
               ? NULL
               : "the task does not mark the tokens on which the label depends";
}

static const lra_part_setting of_drop[] = {LRA_DONORS_SETTING("drop"), {.name = NULL}};

const lra_influence_part lra_part_drop = {
    .name = "drop",
    .summary = "gain with tokens farther than w from marked ones taken from another row",
    .examples = 2000,
    .least = 2,
    .nulls = LRA_NULL_BIT(LRA_NULL_UNIFORM),
    .settings = of_drop,
    .undefined = undefined,
    .perturbation = &(const lra_perturbation){.geometry = &marks,
                                              .filler = &lra_other_row,
                                              .draws = {.stream = STREAM_SWAP},
                                              .ids = {.least = "drop.w", .area = "drop.auc"},
                                              .alternative = &lra_part_drop_token}};

static const lra_part_setting of_drop_token[] = {LRA_DONORS_SETTING("drop-token"), {.name = NULL}};

const lra_influence_part lra_part_drop_token = {
    .name = "drop-token",
    .summary = "gain with tokens farther than w from marked ones replaced by token 0",
    .examples = 2000,
    .least = 1,
    .nulls = LRA_NULL_BIT(LRA_NULL_UNIFORM),
    .settings = of_drop_token,
    .undefined = undefined,
    .perturbation = &(const lra_perturbation){.geometry = &marks,
                                              .filler = &lra_zero,
                                              .draws = {.stream = STREAM_TOKEN},
                                              .ids = {.least = "drop.w", .area = "drop.auc"},
                                              .alternative = &lra_part_drop}};
