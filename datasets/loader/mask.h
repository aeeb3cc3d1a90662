/* Masked inputs: steps are removed from a row, and the model predicts them.
 *   denoise  every word is picked with probability p; of the picked, 1/3 become a random word, 2/3
 *            the mask
 *   masked   every step is picked with probability p and masked. Tokens: the mask; values: 0 in
 *            all channels, and one more channel, the last, is 1 there and 0 elsewhere
 *   next     nothing is masked; the target is the next step, the last step has no target
 * Drawn from (seed, epoch, row), so anew at every access. Padding is never picked. Documents of a
 * pair are masked separately.
 * Source: the locality paper's multitask denoising; Amos et al. 2024, arXiv:2310.02980. The former
 * leaves open whether 1/3 : 2/3 holds token by token or by count: here token by token. */
#ifndef LRA_DATASETS_LOADER_MASK_H
#define LRA_DATASETS_LOADER_MASK_H

#include "datasets/loader/dataset.h"

typedef enum { LRA_MASK_NONE, LRA_MASK_DENOISE, LRA_MASK_MASKED, LRA_MASK_NEXT } lra_mask_kind;
typedef struct {
    lra_mask_kind kind;
    double p; /* of a step to be picked */
} lra_masking;

/* Id of the mask: the task's, or the first id after its vocabulary. */
int32_t lra_mask_id(const lra_dataset *d);
/* Number of ids, and of real numbers at a step, in the input of a model. */
int64_t lra_mask_vocab(const lra_dataset *d, lra_masking m);
int64_t lra_mask_channels(const lra_dataset *d, lra_masking m);
/* True: the targets are words or levels, of lra_mask_classes(); false: real numbers. */
bool lra_mask_asks_words(const lra_dataset *d);
int64_t lra_mask_classes(const lra_dataset *d);
/* 0, or LRA_USAGE: streams are not masked, and denoising needs words. */
int lra_mask_check(const lra_dataset *d, lra_masking m, lra_err *e);

/* Masks one row or document of n steps, in place. tokens, which are both inputs and targets:
 * word[t] is the target at t, -1: none. */
void lra_mask_tokens(const lra_dataset *d, lra_masking m, lra_rng *rng, int64_t n, int32_t *token,
                     int32_t *word);
/* values: plain (n,channels) holds the values and becomes the targets, 0 where there is none; value
 * (n, lra_mask_channels()) the inputs of the model; picked (n,channels). Nullable: level (n), word:
 * target levels. */
void lra_mask_values(const lra_dataset *d, lra_masking m, lra_rng *rng, int64_t n, float *plain,
                     float *value, float *picked, const int32_t *level, int32_t *word);

#endif
