/* Attention rollout over the layers of a model:
 *   R = A'_L .. A'_1,   A' = (mean over heads of A + 1) / 2, rows normalised
 * (Abnar and Zuidema 2020, with the columns kept at their positions). Computed for a few rows of
 * each example, which are multiplied with one layer after another from the top: no map is stored.
 * Operations between the attention layers and the signs of the values are ignored: rollout bounds
 * the flow of information, it does not measure it. */
#ifndef LRA_PROBES_ATTENTION_ROLLOUT_H
#define LRA_PROBES_ATTENTION_ROLLOUT_H

#include "analysis/profile.h"
#include "models/training/loaded_model.h"

enum { LRA_ROLLOUT_ROWS = 32 };

/* The nodes must be in network order. Returns (n,T,P): P rows of R, whose positions (n,P) int32 are
 * an input. */
lra_tensor *lra_rollout(int n_nodes, const lra_tensor *const *node, lra_tensor *position);
/* Rollout of rows spread over each example, including both ends. sample: rows of the test split, 0:
 * all. The caller frees *out; NULL if a layer's keys are another sequence. */
int lra_rollout_measure(const lra_train_spec *run, lra_device *dev, lra_weights_kind weights,
                        int64_t sample, lra_profile **out, lra_err *e);

#endif
