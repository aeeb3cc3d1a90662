/* The objective `pretrain-masked`: reconstruction of masked positions. Cross-entropy for words and
 * levels, mean absolute error for real numbers.
 * Source: Amos et al. 2024, arXiv:2310.02980 (pretraining on the task's own data; the masked share
 * p of its section 4 and presets). */
#include "models/training/objective.h"

const lra_objective lra_objective_pretrain_masked = {
    .name = "pretrain-masked",
    .paper = "arXiv:2310.02980",
    .summary = "prediction of masked tokens, without labels; fine-tune with train --from RUN",
    .pretrains = true,
    .training = LRA_MASK_MASKED,
    .evaluation = LRA_MASK_MASKED,
    .keys = lra_objective_picking};
