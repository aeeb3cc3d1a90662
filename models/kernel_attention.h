/* Linear attention: attention weights are products of features, so that keys and values are summed
 * once for all queries:
 *   y_i = q_i sum_j k_j v_j^T / n_i,  n_i = q_i sum_j k_j, plus `added` if it is at most `least`
 * Time and memory grow linearly with T.
 * Source: Katharopoulos et al. 2020, arXiv:2006.16236, equation 6; Choromanski et al. 2021,
 * arXiv:2009.14794. */
#ifndef LRA_MODELS_KERNEL_ATTENTION_H
#define LRA_MODELS_KERNEL_ATTENTION_H

#include "models/model.h"

/* q, k: non-negative features (B,T,H,M); v, y: (B,T,H,V). Padding is excluded from the sums over
 * keys. */
lra_tensor *lra_kernel_attention(const lra_build *b, lra_tensor *q, lra_tensor *k, lra_tensor *v,
                                 double added, double least);

#endif
