/* Masks inputs for denoising, masked and next-token pretraining. */
#include "datasets/loader/mask.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 256 /* tokens per block of random numbers */ };
/* share of tokens masked by denoising that become a random word */
static const double RANDOM_SHARE = 1.0 / 3;

int32_t lra_mask_id(const lra_dataset *d)
{
    return d->task->input.mask ? d->task->input.mask : d->vocab;
}

int64_t lra_mask_vocab(const lra_dataset *d, lra_masking m)
{
    bool one_more = m.kind == LRA_MASK_DENOISE || m.kind == LRA_MASK_MASKED;
    return one_more && lra_mask_id(d) == d->vocab ? d->vocab + 1 : d->vocab;
}

int64_t lra_mask_channels(const lra_dataset *d, lra_masking m)
{
    return d->task->input.channels + (d->task->input.channels && m.kind == LRA_MASK_MASKED);
}

bool lra_mask_predicts_tokens(const lra_dataset *d)
{
    return d->task->input.channels == 0 || d->task->input.predicts_levels;
}

int64_t lra_mask_classes(const lra_dataset *d)
{
    return lra_mask_predicts_tokens(d) ? d->vocab : 0;
}

int lra_mask_check(const lra_dataset *d, lra_masking m, lra_err *e)
{
    if (m.kind == LRA_MASK_NONE) return 0;
    if (d->task->goal == LRA_GOAL_NEXT)
        return lra_fail_usage(e, "'%s' already predicts the next token: nothing is masked",
                              d->task->name);
    if (m.kind == LRA_MASK_DENOISE && d->task->input.channels)
        return lra_fail_usage(e, "'%s' has no words to replace: denoising needs tokens",
                              d->task->name);
    return 0;
}

/* Threshold t of a probability: a random 32-bit word w is below t with probability p. */
static uint64_t limit_of(double p)
{
    return (uint64_t)ceil(p * 0x1p32);
}

static bool is_word(const lra_dataset *d, int32_t token)
{
    return token >= d->task->input.first_word && token != lra_mask_id(d);
}

/* Returns a random word; all words of the vocabulary except special ids are equally likely. */
static int32_t random_word(const lra_dataset *d, lra_rng *rng)
{
    int32_t first = d->task->input.first_word, mask = lra_mask_id(d), n = d->vocab - first;
    bool skips = mask >= first && mask < d->vocab;
    int32_t word = first + (int32_t)lra_rng_below(rng, (uint32_t)(n - skips));
    return word + (skips && word >= mask);
}

/* Denoising: 1/3 of the selected tokens become a random word, the others the mask. */
static void denoise(const lra_dataset *d, double p, lra_rng *rng, int64_t n, int32_t *token,
                    int32_t *word)
{
    for (int64_t t = 0; t < n; t++) {
        bool value_mask = lra_rng_u01(rng) < p,
             random = value_mask && lra_rng_u01(rng) < RANDOM_SHARE;
        value_mask = value_mask && is_word(d, token[t]);
        word[t] = value_mask ? token[t] : -1;
        if (value_mask) token[t] = random ? random_word(d, rng) : lra_mask_id(d);
    }
}

void lra_mask_tokens(const lra_dataset *d, lra_masking m, lra_rng *rng, int64_t n, int32_t *token,
                     int32_t *word)
{
    uint32_t drawn[CHUNK];
    uint64_t limit = limit_of(m.p);
    int32_t mask = lra_mask_id(d);
    if (m.kind == LRA_MASK_DENOISE) {
        denoise(d, m.p, rng, n, token, word);
        return;
    }
    if (m.kind == LRA_MASK_NEXT) {
        for (int64_t t = 0; t < n; t++) word[t] = t + 1 < n ? token[t + 1] : -1;
        return;
    }
    for (int64_t from = 0; from < n; from += CHUNK) {
        int64_t k = n - from < CHUNK ? n - from : CHUNK;
        lra_rng_fill(rng, k, drawn);
        for (int64_t i = 0; i < k; i++) {
            bool value_mask = drawn[i] < limit;
            word[from + i] = value_mask ? token[from + i] : -1;
            token[from + i] = value_mask ? mask : token[from + i];
        }
    }
}

/* Next-token prediction: the target at each token is the next token; nothing is masked. */
static void predict_next(int64_t n, int64_t C, float *value_target, float *value, float *value_mask,
                         const int32_t *level, int32_t *word)
{
    memcpy(value, value_target, (size_t)(n * C) * sizeof *value);
    memmove(value_target, value_target + C, (size_t)((n - 1) * C) * sizeof *value_target);
    for (int64_t j = 0; j < n * C; j++) value_mask[j] = j < (n - 1) * C;
    for (int64_t c = 0; c < C; c++) value_target[(n - 1) * C + c] = 0;
    for (int64_t t = 0; word && t < n; t++) word[t] = t + 1 < n ? level[t + 1] : -1;
}

void lra_mask_values(const lra_dataset *d, lra_masking m, lra_rng *rng, int64_t n,
                     float *value_target, float *value, float *value_mask, const int32_t *level,
                     int32_t *word)
{
    int64_t C = d->task->input.channels, seen = lra_mask_channels(d, m);
    uint32_t drawn[CHUNK];
    uint64_t limit = limit_of(m.p);
    if (m.kind == LRA_MASK_NEXT && n > 0)
        predict_next(n, C, value_target, value, value_mask, level, word);
    if (m.kind == LRA_MASK_NEXT) return;
    for (int64_t from = 0; from < n; from += CHUNK) {
        int64_t k = n - from < CHUNK ? n - from : CHUNK;
        lra_rng_fill(rng, k, drawn);
        for (int64_t i = 0; i < k; i++) {
            int64_t t = from + i;
            bool masked = drawn[i] < limit;
            for (int64_t c = 0; c < C; c++) {
                float now = value_target[t * C + c];
                value[t * seen + c] = masked ? 0 : now;
                value_target[t * C + c] = masked ? now : 0;
                value_mask[t * C + c] = masked;
            }
            value[t * seen + C] = masked;
            if (word) word[t] = masked ? level[t] : -1;
        }
    }
}
