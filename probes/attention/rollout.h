/* Attention rollout over the layers of a model (Abnar and Zuidema 2020):
 *   R = A'_L .. A'_1,   A' = (mean over heads of A + 1) / 2, rows normalised
 * Only a few rows of R are computed for each example: they are multiplied by one layer after
 * another, from the last to the first, so that no map is stored. Rollout ignores the operations
 * between attention layers and the signs of the values. It is therefore an approximation of the
 * flow of information; its errors have no known bound. */
#ifndef LRA_PROBES_ATTENTION_ROLLOUT_H
#define LRA_PROBES_ATTENTION_ROLLOUT_H

#include "analysis/profile.h"
#include "models/training/loaded_model.h"
#include "probes/shared/mixing_matrix.h"

enum { LRA_ROLLOUT_ROWS = 32 };

/* Builds P rows of R: (n,T,P). node: in network order; position (n,P) int32: input with the
 * positions of the rows. */
lra_tensor *lra_rollout(int n_nodes, const lra_tensor *const *node, lra_tensor *position);
/* Computes the rollout of rows that are spread over each example. sample: number of rows of the
 * test split, 0 = all. *out: profile, which the caller frees, or NULL if the keys of a layer come
 * from another sequence. */
int lra_rollout_measure(const lra_train_spec *run, lra_device *dev, lra_weights_kind weights,
                        int64_t sample, lra_profile **out, lra_err *e);

/* Positions of the rows for row `row` of the split, with T positions (0: none): spread over the
 * example; -1: none. */
void lra_rollout_positions(uint64_t seed, int64_t row, int64_t T, int32_t at[LRA_ROLLOUT_ROWS]);
/* Adds the rows of an example to the profile; frees x. */
void lra_rollout_add(lra_profile *profile, lra_roll *x, int64_t T, const int32_t *at);

#endif
