/* Masked inputs: what is taken from a row, so that a model has to find it.
 *   denoise  every word is picked with probability p; of the picked, 1/3 become a random word, 2/3
 *            the mask
 *   masked   every step is picked with probability p and masked.  Tokens: the mask; values: 0 in
 *            all channels, and one more channel, the last, is 1 there and 0 elsewhere
 *   next     nothing is hidden; asked is the step that follows, the last is not asked
 * Drawn from (seed, epoch, row), so afresh at every access.  Padding is never picked.  Documents of
 * a pair are masked each on its own.
 * Source: the locality paper's multitask denoising; Amos et al. 2024, arXiv:2310.02980.  Whether
 * 1/3 : 2/3 holds token by token or by count is open in the former: here token by token. */
#ifndef LRA_DATASETS_LOADER_MASK_H
#define LRA_DATASETS_LOADER_MASK_H

#include "datasets/loader/dataset.h"

typedef enum { LRA_MASK_NONE, LRA_MASK_DENOISE, LRA_MASK_MASKED, LRA_MASK_NEXT } lra_mask_kind;
typedef struct {
    lra_mask_kind kind;
    double p; /* of a step to be picked */
} lra_masking;

/* The mask: the task's, or one id more than its vocabulary has. */
int32_t lra_mask_id(const lra_dataset *d);
/* Ids and real numbers a step that a model of these inputs must take. */
int64_t lra_mask_vocab(const lra_dataset *d, lra_masking m);
int64_t lra_mask_channels(const lra_dataset *d, lra_masking m);
/* What is to be found are words or levels, of lra_mask_classes(); false: real numbers. */
bool lra_mask_asks_words(const lra_dataset *d);
int64_t lra_mask_classes(const lra_dataset *d);
/* 0, or LRA_USAGE: streams are not masked, and denoising needs words. */
int lra_mask_check(const lra_dataset *d, lra_masking m, lra_err *e);

/* One row or document of n steps, in place.
 * tokens, as inputs and to be found: word[t] is what is asked at t, -1: nothing. */
void lra_mask_tokens(const lra_dataset *d, lra_masking m, lra_rng *rng, int64_t n, int32_t *token,
                     int32_t *word);
/* values: plain (n,channels) holds the values and becomes what is asked, 0 where nothing is; value
 * (n, lra_mask_channels()) what a model sees; picked (n,channels).
 * Nullable: level (n), word: levels that are to be found. */
void lra_mask_values(const lra_dataset *d, lra_masking m, lra_rng *rng, int64_t n, float *plain,
                     float *value, float *picked, const int32_t *level, int32_t *word);

#endif
