/* Masking. */
#include "datasets/mask.h"

static const double RANDOM_SHARE = 1.0 / 3; /* of what denoising picks */

int32_t lra_mask_id(const lra_dataset *d)
{
    return d->task->mask ? d->task->mask : d->vocab;
}

int64_t lra_mask_vocab(const lra_dataset *d, lra_masking m)
{
    bool one_more = m.kind == LRA_MASK_DENOISE || m.kind == LRA_MASK_MASKED;
    return one_more && lra_mask_id(d) == d->vocab ? d->vocab + 1 : d->vocab;
}

int64_t lra_mask_channels(const lra_dataset *d, lra_masking m)
{
    return d->task->channels + (d->task->channels && m.kind == LRA_MASK_MASKED);
}

bool lra_mask_asks_words(const lra_dataset *d)
{
    return d->task->channels == 0 || d->task->ask_levels;
}

int64_t lra_mask_classes(const lra_dataset *d)
{
    return lra_mask_asks_words(d) ? d->vocab : 0;
}

int lra_mask_check(const lra_dataset *d, lra_masking m, lra_err *e)
{
    if (m.kind == LRA_MASK_NONE) return 0;
    if (d->task->goal == LRA_GOAL_NEXT)
        return lra_fail_usage(e, "'%s' already asks for the next token: nothing is masked",
                              d->task->name);
    if (m.kind == LRA_MASK_DENOISE && d->task->channels)
        return lra_fail_usage(e, "'%s' has no words to replace: denoising needs tokens",
                              d->task->name);
    return 0;
}

/* What becomes of a step. */
typedef enum { KEPT, RANDOM, MASKED } fate;

static fate draw(lra_masking m, lra_rng *rng)
{
    if (m.kind == LRA_MASK_NEXT || lra_rng_u01(rng) >= m.p) return KEPT;
    return m.kind == LRA_MASK_DENOISE && lra_rng_u01(rng) < RANDOM_SHARE ? RANDOM : MASKED;
}

static bool is_word(const lra_dataset *d, int32_t token)
{
    return token >= d->task->first_word && token != lra_mask_id(d);
}

/* Each word of the vocabulary as likely. */
static int32_t random_word(const lra_dataset *d, lra_rng *rng)
{
    int32_t first = d->task->first_word, mask = lra_mask_id(d), n = d->vocab - first;
    bool skips = mask >= first && mask < d->vocab;
    int32_t word = first + (int32_t)lra_rng_below(rng, (uint32_t)(n - skips));
    return word + (skips && word >= mask);
}

void lra_mask_tokens(const lra_dataset *d, lra_masking m, lra_rng *rng, int64_t n, int32_t *token,
                     int32_t *word)
{
    for (int64_t t = 0; t < n; t++) {
        fate f = draw(m, rng);
        if (m.kind == LRA_MASK_NEXT) {
            word[t] = t + 1 < n ? token[t + 1] : -1;
            continue;
        }
        if (m.kind == LRA_MASK_DENOISE && !is_word(d, token[t])) f = KEPT;
        word[t] = f == KEPT ? -1 : token[t];
        if (f != KEPT) token[t] = f == MASKED ? lra_mask_id(d) : random_word(d, rng);
    }
}

void lra_mask_values(const lra_dataset *d, lra_masking m, lra_rng *rng, int64_t n, float *plain,
                     float *value, float *picked, const int32_t *level, int32_t *word)
{
    int64_t C = d->task->channels, seen = lra_mask_channels(d, m);
    for (int64_t t = 0; t < n; t++) {
        bool masked = draw(m, rng) == MASKED, next = m.kind == LRA_MASK_NEXT;
        bool asked = next ? t + 1 < n : masked;
        float *now = plain + t * C;
        for (int64_t c = 0; c < C; c++) {
            value[t * seen + c] = masked ? 0 : now[c];
            picked[t * C + c] = asked;
            now[c] = !asked ? 0 : next ? now[C + c] : now[c];
        }
        if (seen > C) value[t * seen + C] = masked;
        if (word) word[t] = asked ? level[next ? t + 1 : t] : -1;
    }
}
