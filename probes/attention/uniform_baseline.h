/* Uniform-attention baseline for examples that arrive in order of length: distance profiles of the
 * (query, key) pairs that each head can use, and the weight of each key. */
#ifndef LRA_PROBES_ATTENTION_UNIFORM_BASELINE_H
#define LRA_PROBES_ATTENTION_UNIFORM_BASELINE_H

#include "analysis/profile.h"
#include "probes/shared/attention_nodes.h"

/* Baseline of one head, or of all heads of a layer together. */
typedef struct {
    lra_profile_mask *tokens, *pixels; /* pixels: NULL if inputs are not images */
    /* (T) uniform-baseline weight of each key, averaged over rows */
    double *equal;
} lra_attention_mask;

typedef struct {
    int64_t columns; /* columns of the image, 0 if inputs are not images */
    int64_t T[LRA_ATTENTION_LAYERS];
    int n_masks[LRA_ATTENTION_LAYERS];
    lra_attention_mask
        /* (n_masks): one for all heads; or, with key lists, one per head and a last one for all
         * heads together */
        *mask[LRA_ATTENTION_LAYERS];
} lra_uniform_baseline;

/* Computes the baseline of layer k for examples of T positions; it is cached until another length
 * is requested. list: key list of such an example, (H,query blocks,most), if the layer has lists;
 * node: the layer's node in the graph of that length. */
void lra_uniform_baseline_make(lra_uniform_baseline *m, int k, const lra_tensor *node, int64_t T,
                               const int32_t *list);
/* Writes allowed (T): 1 for each key to which row i of a head, or of any head if head is -1, can
 * have a weight. */
void lra_attention_masks_row(const lra_tensor *node, int64_t T, int64_t head, int64_t i,
                             const int32_t *list, uint8_t *allowed);
/* Returns the baseline of a head, or of all heads of the layer together if head is -1. */
const lra_attention_mask *lra_attention_mask_at(const lra_uniform_baseline *m, int k, int64_t head);
void lra_uniform_baseline_free(lra_uniform_baseline *m);

#endif
