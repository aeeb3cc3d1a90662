/* Counts equal rows by their hash, and equal windows of streams by a rolling hash. */
#include "datasets/loader/repeats.h"

#include <string.h>

#include "kernels/base/os/file.h"
#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"

/* A set of hashes in a hash table with open addressing. */
typedef struct {
    uint64_t *slot; /* (mask + 1) hashes; 0: empty slot */
    uint64_t mask;
} hashes;

static hashes hashes_new(int64_t n)
{
    hashes h = {.mask = 1023};
    while ((int64_t)h.mask < 2 * n) h.mask = 2 * h.mask + 1;
    h.slot = lra_alloc_array((size_t)h.mask + 1, sizeof *h.slot);
    return h;
}

/* Returns the slot that holds the hash, or the free slot for it. */
static uint64_t *hashes_at(const hashes *h, uint64_t hash)
{
    uint64_t i = hash ^ hash >> 32;
    while (h->slot[i & h->mask] != 0 && h->slot[i & h->mask] != hash) i++;
    return &h->slot[i & h->mask];
}

static bool hashes_has(const hashes *h, uint64_t hash)
{
    return *hashes_at(h, hash) == hash;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static uint64_t row_hash(const lra_sequences *r, int64_t i)
{
    lra_row row = lra_sequences_row(r, i);
    size_t n = (size_t)(row.n * row.width);
    uint64_t part[3] = {row.token ? lra_hash64(row.token, n * sizeof *row.token)
                                  : lra_hash64(row.value, n * sizeof *row.value),
                        (uint64_t)row.n, (uint64_t)row.middle};
    return lra_hash64(part, sizeof part) | 1;
}

/* Counts the rows of `of` whose hash is in the set. */
static int64_t count_in(const lra_sequences *of, const hashes *h)
{
    int64_t n = 0;
#pragma omp parallel for reduction(+ : n)
    for (int64_t i = 0; i < of->n; i++) n += hashes_has(h, row_hash(of, i));
    return n;
}

/* Returns the set of the rows' hashes. *repeated: number of rows that equal an earlier row. */
static hashes set_of(const lra_sequences *r, int64_t *repeated)
{
    hashes h = hashes_new(r->n);
    *repeated = 0;
    for (int64_t i = 0; i < r->n; i++) {
        uint64_t hash = row_hash(r, i), *slot = hashes_at(&h, hash);
        *repeated += *slot == hash;
        *slot = hash;
    }
    return h;
}

static void count_rows(const lra_dataset *d, lra_repeats *r)
{
    const lra_sequences *s = d->split;
    int64_t ignored;
    hashes train = set_of(&s[LRA_TRAIN_SPLIT], &r->in_train[LRA_TRAIN_SPLIT]);
    hashes val = set_of(&s[LRA_VAL_SPLIT], &ignored);
    for (int k = LRA_VAL_SPLIT; k < LRA_N_SPLITS; k++) r->in_train[k] = count_in(&s[k], &train);
    r->in_val = count_in(&s[LRA_TEST_SPLIT], &val);
    for (int k = 0; k < LRA_N_SPLITS; k++) r->n[k] = s[k].n;
    lra_free(train.slot);
    lra_free(val.slot);
}

/* ---- streams --------------------------------------------------------------------------------- */

/* Rolling hash of a window of T tokens: sum_k (token_k + 1) BASE^(T-1-k), modulo 2^64. */
#define BASE 0x9E3779B97F4A7C15u

static uint64_t number_at(const lra_sequences *r, int64_t i)
{
    return (uint64_t)lra_token_at(r->token, r->width, i) + 1;
}

static uint64_t window_hash(const lra_sequences *r, int64_t first, int64_t T)
{
    uint64_t hash = 0;
    for (int64_t t = first; t < first + T; t++) hash = hash * BASE + number_at(r, t);
    return hash | 1;
}

static int64_t n_tokens(const lra_sequences *r)
{
    return r->n ? r->start[1] : 0;
}

/* Counts the windows of T tokens of `of` that occur anywhere in `in`. */
static int64_t count_windows(const lra_sequences *of, const lra_sequences *in, int64_t T)
{
    int64_t n = n_tokens(of) / T, found = 0, to = n_tokens(in);
    hashes wanted = hashes_new(n), there = hashes_new(n);
    /* power: BASE^T, the factor of the token that leaves the window */
    uint64_t power = 1, hash = 0;
    for (int64_t k = 0; k < n; k++) {
        uint64_t window = window_hash(of, k * T, T);
        *hashes_at(&wanted, window) = window;
    }
    for (int64_t t = 0; t < T; t++) power *= BASE;
    for (int64_t i = 0; i < to && n > 0; i++) {
        hash = hash * BASE + number_at(in, i);
        if (i >= T) hash -= power * number_at(in, i - T);
        if (i >= T - 1 && hashes_has(&wanted, hash | 1)) *hashes_at(&there, hash | 1) = hash | 1;
    }
    for (int64_t k = 0; k < n; k++) found += hashes_has(&there, window_hash(of, k * T, T));
    lra_free(wanted.slot);
    lra_free(there.slot);
    return found;
}

void lra_repeats_count(const lra_dataset *d, lra_repeats *r)
{
    const lra_sequences *s = d->split;
    *r = (lra_repeats){0};
    if (d->task->goal != LRA_GOAL_NEXT) {
        count_rows(d, r);
        return;
    }
    int64_t T = lra_config_int(d->config, "context");
    for (int k = 0; k < LRA_N_SPLITS; k++) r->n[k] = n_tokens(&s[k]) / T;
    for (int k = LRA_VAL_SPLIT; k < LRA_N_SPLITS; k++)
        r->in_train[k] = count_windows(&s[k], &s[LRA_TRAIN_SPLIT], T);
    r->in_val = count_windows(&s[LRA_TEST_SPLIT], &s[LRA_VAL_SPLIT], T);
}

void lra_repeats_report(const lra_dataset *d)
{
    lra_repeats r;
    lra_repeats_count(d, &r);
    if (r.in_train[LRA_VAL_SPLIT] + r.in_train[LRA_TEST_SPLIT] == 0) return;
    lra_warn("%s: %lld of %lld validation and %lld of %lld test %s also occur in training",
             d->task->name, (long long)r.in_train[LRA_VAL_SPLIT], (long long)r.n[LRA_VAL_SPLIT],
             (long long)r.in_train[LRA_TEST_SPLIT], (long long)r.n[LRA_TEST_SPLIT],
             d->task->goal == LRA_GOAL_NEXT ? "windows" : "rows");
}
