/* Uniform-attention baseline, for examples added one length at a time: distance profiles of the
 * pairs that each head may use, and the weight of each key. */
#ifndef LRA_PROBES_ATTENTION_UNIFORM_BASELINE_H
#define LRA_PROBES_ATTENTION_UNIFORM_BASELINE_H

#include "analysis/profile.h"
#include "probes/shared/attention_nodes.h"

/* Of a head, or of a layer's heads together. */
typedef struct {
    lra_profile_mask *tokens, *pixels; /* pixels: NULL without an image */
    double *equal;                     /* (T) uniform-baseline weight of a key, mean over rows */
} lra_attention_mask;

typedef struct {
    int64_t columns; /* of the image; 0: none */
    int64_t T[LRA_ATTENTION_LAYERS];
    int n_masks[LRA_ATTENTION_LAYERS];
    lra_attention_mask
        *mask[LRA_ATTENTION_LAYERS]; /* one, or of lists one for each head, then all */
} lra_uniform_baseline;

/* The baseline of layer k for examples of T positions; cached until another length is requested.
 * list: of such an example, (H,query blocks,most), if the layer has lists; node: of the graph of
 * that length. */
void lra_uniform_baseline_make(lra_uniform_baseline *m, int k, const lra_tensor *node, int64_t T,
                               const int32_t *list);
/* Sets allowed (T): keys that row i of a head, or (head -1) of any head, may have a weight at. */
void lra_attention_masks_row(const lra_tensor *node, int64_t T, int64_t head, int64_t i,
                             const int32_t *list, uint8_t *allowed);
/* head -1: of all together. */
const lra_attention_mask *lra_attention_mask_at(const lra_uniform_baseline *m, int k, int64_t head);
void lra_uniform_baseline_free(lra_uniform_baseline *m);

#endif
