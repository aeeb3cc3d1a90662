/* The objective `pretrain-causal`: next-token prediction, for causal models. Cross-entropy for
 * words and levels, mean absolute error for real numbers.
 * Source: Amos et al. 2024, arXiv:2310.02980. */
#include "models/training/objective.h"

const lra_objective lra_objective_pretrain_causal = {
    .name = "pretrain-causal",
    .paper = "arXiv:2310.02980",
    .summary = "prediction of the next token, without labels; fine-tune with train --from RUN",
    .pretrains = true,
    .training = LRA_MASK_NEXT,
    .evaluation = LRA_MASK_NEXT};
