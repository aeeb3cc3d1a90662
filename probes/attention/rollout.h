/* Attention rolled out over the layers of a run:
 *   R = A'_L .. A'_1,   A' = (mean over heads of A + 1) / 2, rows over their sum
 * (Abnar and Zuidema 2020, and the columns stay where they belong).  Of a few rows of each example,
 * which are multiplied with one layer after another from the top: no map is stored.  What stands
 * between attentions is left aside, as are signs: it says what can flow, not what does. */
#ifndef LRA_PROBES_ATTENTION_ROLLOUT_H
#define LRA_PROBES_ATTENTION_ROLLOUT_H

#include "analysis/profile.h"
#include "models/training/loaded_model.h"

enum { LRA_ROLLOUT_ROWS = 32 };

/* Nodes are asked in the order of the network.  (n,T,P): P rows of R, whose positions (n,P) int32
 * are an input. */
lra_tensor *lra_rollout(int n_nodes, const lra_tensor *const *node, lra_tensor *position);
/* Rows spread over each example, the ends among them.  sample: rows of the test split, 0: all.  The
 * caller frees *out; NULL where a layer's keys are another sequence. */
int lra_rollout_measure(const lra_train_spec *run, lra_device *dev, lra_weights_kind weights,
                        int64_t sample, lra_profile **out, lra_err *e);

#endif
