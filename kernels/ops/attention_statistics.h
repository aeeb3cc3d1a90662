/* What the op attention_statistics leaves for each head of an example, one behind the other; D: the longer of queries and
 * keys. */
#ifndef LRA_OPS_ATTENTION_STATISTICS_H
#define LRA_OPS_ATTENTION_STATISTICS_H

#include "kernels/graph/op.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    LRA_ATTENTION_ENTROPY, /* mean over rows of -sum a ln a, nats */
    LRA_ATTENTION_ENTROPY_REL, /* of that over ln n_i, without rows of a single key; NAN: there are no others */
    LRA_ATTENTION_SUPPORT,   /* mean over rows of (sum a)^2 / sum a^2 */
    LRA_ATTENTION_UNDEFINED, /* rows without a key */
    LRA_ATTENTION_NUMBERS
};
/* Of an attention that stands in a graph, as it is there: (B,H,W), real, by one pass over the scores, without a map:
 *   mass (2 D - 1)     mean over rows of the weight at offset i - j, from 1 - D on
 *   column (D)         mean over rows of the weight of key j
 *   numbers (LRA_ATTENTION_NUMBERS)
 * Means are over the rows that see a key. */
lra_tensor *lra_attention_statistics_of(const lra_tensor *attention);
/* D of such a node. */
int64_t lra_attention_statistics_length(const lra_tensor *statistics);
/* Columns [from, to) that row i of an example of T may have a weight at, averages over columns included.  The attention
 * must not be to another sequence. */
void lra_attention_columns(const lra_tensor *attention, int64_t T, int64_t i, int64_t *from,
                           int64_t *to);
/* Are its keys another sequence, so that there are no distances? */
bool lra_attention_crosses(const lra_tensor *attention);

#ifdef __cplusplus
}
#endif
#endif
