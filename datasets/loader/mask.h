/* Masked inputs: some tokens of a row are replaced, and the model predicts the originals.
 *   denoise  every word is selected with probability p; of these, 1/3 become a random word, 2/3
 *            the mask
 *   masked   every token is selected with probability p. Ids: replaced by the mask id. Real inputs:
 *            all channels are 0, and one additional last channel is 1 (0 at other tokens)
 *   next     nothing is masked; the target is the next token, the last token has no target
 * Selections are keyed by (seed, epoch, row), hence drawn again in every epoch. Padding is never
 * selected. The documents of a pair are masked separately.
 * Source: the locality paper's multitask denoising; Amos et al. 2024, arXiv:2310.02980. The
 * locality paper does not state whether 1/3 : 2/3 are probabilities of each token or exact shares;
 * here they are probabilities. */
#ifndef LRA_DATASETS_LOADER_MASK_H
#define LRA_DATASETS_LOADER_MASK_H

#include "datasets/loader/dataset.h"

typedef enum { LRA_MASK_NONE, LRA_MASK_DENOISE, LRA_MASK_MASKED, LRA_MASK_NEXT } lra_mask_kind;
typedef struct {
    lra_mask_kind kind;
    double p; /* probability that a token is selected */
} lra_masking;

/* Returns the id of the mask: the task's own, or the first id after its vocabulary. */
int32_t lra_mask_id(const lra_dataset *d);
/* lra_mask_vocab(): number of ids in the input of a model. lra_mask_channels(): number of real
 * inputs at each token. */
int64_t lra_mask_vocab(const lra_dataset *d, lra_masking m);
int64_t lra_mask_channels(const lra_dataset *d, lra_masking m);
/* lra_mask_predicts_tokens(): true if targets are words or levels, false if they are real numbers.
 * lra_mask_classes(): number of words or levels, 0 for real numbers. */
bool lra_mask_predicts_tokens(const lra_dataset *d);
int64_t lra_mask_classes(const lra_dataset *d);
/* Checks the masking. LRA_USAGE: streams cannot be masked, and denoising needs words. */
int lra_mask_check(const lra_dataset *d, lra_masking m, lra_err *e);

/* Masks one row or document of n tokens in place. token: (n) original ids, replaced by the inputs
 * of the model. word: (n) receives the target at each token, -1: none. */
void lra_mask_tokens(const lra_dataset *d, lra_masking m, lra_rng *rng, int64_t n, int32_t *token,
                     int32_t *word);
/* Masks real inputs. value_target: (n,channels) holds the numbers and becomes the targets, 0 where
 * there is no target. value: (n, lra_mask_channels()) receives the inputs of the model. value_mask:
 * (n,channels) receives the loss mask. level: (n) levels of the tokens; word: (n) receives target
 * levels. Nullable: level, word. */
void lra_mask_values(const lra_dataset *d, lra_masking m, lra_rng *rng, int64_t n,
                     float *value_target, float *value, float *value_mask, const int32_t *level,
                     int32_t *word);

#endif
