/* Parts keep, swap, token, mask: the gain that remains if the model sees only a window of w tokens
 * (restricted_part.h). The parts differ in what fills the other positions.
 * Tested (tests/probes/restrict_next_test.c): a window of the complete length loses nothing, and
 * neither does a window of w tokens if the model's reach is smaller. */
#include "models/model.h"
#include "probes/influence/part.h"

enum { STREAM_KEEP = 0, STREAM_SWAP = 1, STREAM_TOKEN = 5 };
#define WINDOW_IDS .least = "keep.w", .area = "keep.auc"

static const lra_part_setting of_keep[] = {LRA_DONORS_SETTING("keep"), {.name = NULL}};

const lra_influence_part lra_part_keep = {
    .name = "keep",
    .summary = "gain with only a window of w tokens; the others are cropped",
    .examples = 500,
    .least = 1,
    .nulls = LRA_NULL_BIT(LRA_NULL_UNIFORM),
    .settings = of_keep,
    .perturbation = &(const lra_perturbation){.geometry = &lra_windows,
                                              .filler = &lra_crop,
                                              .draws = {.stream = STREAM_KEEP},
                                              .ids = {WINDOW_IDS, .answers = true},
                                              .alternative = &lra_part_swap}};

static const lra_part_setting of_swap[] = {LRA_DONORS_SETTING("swap"), {.name = NULL}};

const lra_influence_part lra_part_swap = {
    .name = "swap",
    .summary = "gain with only a window of w tokens; the others come from another row",
    .examples = 500,
    .least = 2,
    .nulls = LRA_NULL_BIT(LRA_NULL_UNIFORM),
    .settings = of_swap,
    .perturbation = &(const lra_perturbation){.geometry = &lra_windows,
                                              .filler = &lra_other_row,
                                              .draws = {.stream = STREAM_SWAP},
                                              .ids = {WINDOW_IDS},
                                              .alternative = &lra_part_keep}};

const lra_influence_part lra_part_token = {
    .name = "token",
    .summary = "gain with only a window of w tokens; the others are token 0",
    .examples = 500,
    .least = 1,
    .nulls = LRA_NULL_BIT(LRA_NULL_UNIFORM),
    .perturbation = &(const lra_perturbation){.geometry = &lra_windows,
                                              .filler = &lra_zero,
                                              .draws = {.stream = STREAM_TOKEN},
                                              .ids = {WINDOW_IDS},
                                              .alternative = &lra_part_keep}};

static const char *undefined_mask(const lra_influence *p)
{
    const char *why = lra_influence_no_position_ids(p);
    const lra_train_spec *s = p->engine ? &p->engine->spec : NULL;
    if (why || !s || lra_adds_positions(s->model, s->model_config)) return why;
    return "the model has no position embeddings: part 'keep' gives the same result";
}

/* Uses the same windows as part keep. */
const lra_influence_part lra_part_mask = {
    .name = "mask",
    .summary =
        "gain with only a window of w tokens; the others are masked, and tokens keep their position ids",
    .examples = 500,
    .least = 1,
    .nulls = LRA_NULL_BIT(LRA_NULL_UNIFORM),
    .undefined = undefined_mask,
    .perturbation = &(const lra_perturbation){.geometry = &lra_windows,
                                              .filler = &lra_crop,
                                              .draws = {.stream = STREAM_KEEP},
                                              .ids = {WINDOW_IDS},
                                              .keeps_position_ids = true,
                                              .alternative = &lra_part_keep}};
