/* Fits content-blind weights to an attention head. */
#include "analysis/content_blind.h"

#include <math.h>
#include <string.h>

#include "analysis/distributions.h"
#include "kernels/base/core/mem.h"

enum { ROUNDS = 200, CLASSES = LRA_BLIND_CLASSES };
static const double small_change = 1e-9, normal_95 = 1.959963984540054;

typedef struct {
    int64_t T, token; /* token: offset of the example's token classes in lra_blind.token */
} blind_example;

typedef struct {
    int64_t example, i, bits; /* bits: offset of the row's mask of allowed keys in lra_blind.bits */
    int query;                /* class of the query token */
} blind_row;

typedef struct {
    int64_t row, first, n; /* first, n: range of the related keys in lra_blind.key */
    int relation;
    double mass;
} blind_related;

struct lra_blind {
    int64_t n_examples, n_rows, n_related, n_tokens, n_bits, n_keys, longest;
    blind_example *example;
    blind_row *row;
    blind_related *related;
    uint8_t *token, *bits;
    int32_t *key;
    const double *last; /* weights of the last added row */
    /* (CLASSES, CLASSES, 2 longest - 1) sums of the head's weights by query class, key class and
     * lag */
    double *sum;
};

lra_blind *lra_blind_new(void)
{
    return lra_alloc(sizeof(lra_blind));
}

void lra_blind_free(lra_blind *b)
{
    if (!b) return;
    lra_free(b->example);
    lra_free(b->row);
    lra_free(b->related);
    lra_free(b->token);
    lra_free(b->bits);
    lra_free(b->key);
    lra_free(b->sum);
    lra_free(b);
}

/* Returns the array with room for `more` elements after its n elements. Its capacity is a power of
 * 2. */
static void *grown(void *array, int64_t n, int64_t more, size_t size)
{
    int64_t room = 1, wanted = n + more;
    while (room < n) room *= 2;
    if (n > 0 && wanted <= room) return array;
    while (room < wanted) room *= 2;
    return lra_resize(array, (size_t)room * size);
}

/* Enlarges the sums to the lags of T tokens; existing sums are moved to the middle. */
static void make_room(lra_blind *b, int64_t T)
{
    if (T <= b->longest) return;
    int64_t wide = 2 * T - 1, before = b->longest ? 2 * b->longest - 1 : 0;
    double *sum = lra_alloc_array((size_t)(CLASSES * CLASSES * wide), sizeof *sum);
    for (int64_t c = 0; c < CLASSES * CLASSES && before; c++)
        memcpy(sum + c * wide + T - b->longest, b->sum + c * before, (size_t)before * sizeof *sum);
    lra_free(b->sum);
    b->sum = sum, b->longest = T;
}

void lra_blind_example(lra_blind *b, int64_t T, const uint8_t *of_token)
{
    make_room(b, T);
    b->example = grown(b->example, b->n_examples, 1, sizeof *b->example);
    b->token = grown(b->token, b->n_tokens, T, 1);
    memcpy(b->token + b->n_tokens, of_token, (size_t)T);
    b->example[b->n_examples++] = (blind_example){T, b->n_tokens};
    b->n_tokens += T;
}

void lra_blind_row(lra_blind *b, int64_t i, const double *share, const uint8_t *allowed)
{
    const blind_example *e = &b->example[b->n_examples - 1];
    const uint8_t *token = b->token + e->token;
    int64_t bytes = (e->T + 7) / 8, wide = 2 * b->longest - 1;
    b->row = grown(b->row, b->n_rows, 1, sizeof *b->row);
    b->bits = grown(b->bits, b->n_bits, bytes, 1);
    uint8_t *bits = b->bits + b->n_bits;
    memset(bits, 0, (size_t)bytes);
    b->row[b->n_rows++] = (blind_row){b->n_examples - 1, i, b->n_bits, token[i]};
    b->n_bits += bytes, b->last = share;
    for (int64_t j = 0; j < e->T; j++) {
        if (!allowed[j]) continue;
        bits[j / 8] |= (uint8_t)(1u << j % 8);
        b->sum[(token[i] * CLASSES + token[j]) * wide + i - j + b->longest - 1] += share[j];
    }
}

void lra_blind_related(lra_blind *b, int relation, int64_t n, const int32_t *key)
{
    double mass = 0;
    b->related = grown(b->related, b->n_related, 1, sizeof *b->related);
    b->key = grown(b->key, b->n_keys, n, sizeof *b->key);
    for (int64_t k = 0; k < n; k++) mass += b->last[key[k]];
    memcpy(b->key + b->n_keys, key, (size_t)n * sizeof *key);
    b->related[b->n_related++] = (blind_related){b->n_rows - 1, b->n_keys, n, relation, mass};
    b->n_keys += n;
}

/* ---- the fit --------------------------------------------------------------------------------- */

/* The fitted weights: f of a lag for each query class, factors g for each query class and key
 * class. Without classes only class 0 is used. */
typedef struct {
    const lra_blind *b;
    bool by_class;
    int64_t wide;
    double *f, *below; /* (CLASSES, wide) f, and the denominators of f */
    double g[CLASSES][CLASSES], g_below[CLASSES][CLASSES];
} fit;

static int query_of(const fit *x, const blind_row *r)
{
    return x->by_class ? r->query : 0;
}

static double weight(const fit *x, const blind_row *r, const uint8_t *token, int64_t j)
{
    int q = query_of(x, r);
    return x->f[q * x->wide + r->i - j + x->b->longest - 1] * (x->by_class ? x->g[q][token[j]] : 1);
}

/* Returns the normaliser Z of a row; *token: classes of the example's tokens. */
static double row_sum(const fit *x, const blind_row *r, const uint8_t **token)
{
    const blind_example *e = &x->b->example[r->example];
    const uint8_t *bits = x->b->bits + r->bits;
    double sum = 0;
    *token = x->b->token + e->token;
    for (int64_t j = 0; j < e->T; j++)
        if (bits[j / 8] >> j % 8 & 1) sum += weight(x, r, *token, j);
    return sum;
}

/* Computes the denominators of f, or of g if of_keys is true. */
static void add_below(fit *x, bool of_keys)
{
    memset(x->below, 0, (size_t)(CLASSES * x->wide) * sizeof *x->below);
    memset(x->g_below, 0, sizeof x->g_below);
    for (int64_t n = 0; n < x->b->n_rows; n++) {
        const blind_row *r = &x->b->row[n];
        const uint8_t *bits = x->b->bits + r->bits, *token;
        double one = 1 / row_sum(x, r, &token);
        int q = query_of(x, r);
        for (int64_t j = 0; j < x->b->example[r->example].T; j++) {
            if (!(bits[j / 8] >> j % 8 & 1)) continue;
            int64_t at = q * x->wide + r->i - j + x->b->longest - 1;
            if (of_keys)
                x->g_below[q][token[j]] += x->f[at] * one;
            else
                x->below[at] += (x->by_class ? x->g[q][token[j]] : 1) * one;
        }
    }
}

/* Numerator of f at index `at`: sum of the head's weights at this lag. */
static double above_lag(const fit *x, int q, int64_t at)
{
    double sum = 0;
    for (int c = 0; c < CLASSES * CLASSES; c++)
        if (!x->by_class || c / CLASSES == q) sum += x->b->sum[c * x->wide + at];
    return sum;
}

static double above_key(const fit *x, int q, int k)
{
    double sum = 0;
    for (int64_t at = 0; at < x->wide; at++) sum += x->b->sum[(q * CLASSES + k) * x->wide + at];
    return sum;
}

/* Performs one round of the fit; returns the largest change of f divided by the largest f. */
static double improve(fit *x)
{
    int queries = x->by_class ? CLASSES : 1;
    double change = 0, most = 0;
    add_below(x, false);
    for (int q = 0; q < queries; q++)
        for (int64_t at = 0; at < x->wide; at++) {
            double *f = &x->f[q * x->wide + at], below = x->below[q * x->wide + at];
            double next = below > 0 ? above_lag(x, q, at) / below : *f;
            if (below > 0) change = fmax(change, fabs(next - *f)), most = fmax(most, next);
            *f = next;
        }
    double worst = most > 0 ? change / most : 0;
    if (!x->by_class) return worst;
    add_below(x, true);
    for (int q = 0; q < queries; q++)
        for (int k = 0; k < CLASSES; k++) {
            double next = x->g_below[q][k] > 0 ? above_key(x, q, k) / x->g_below[q][k] : 1;
            worst = fmax(worst, fabs(next - x->g[q][k]) / fmax(next, 1));
            x->g[q][k] = next;
        }
    return worst;
}

/* ---- lifts ----------------------------------------------------------------------------------- */

/* Computes means over the queries of each example that have related keys: mass of the head (A), and
 * expected mass (P), both (n_examples). NAN: no query has one. */
static void means_of(const fit *x, int relation, double *mass, double *expected)
{
    const lra_blind *b = x->b;
    double *rows = lra_alloc_array((size_t)b->n_examples + 1, sizeof *rows);
    for (int64_t e = 0; e < b->n_examples; e++) mass[e] = expected[e] = 0;
    for (int64_t n = 0; n < b->n_related; n++) {
        const blind_related *r = &b->related[n];
        const blind_row *row = &b->row[r->row];
        const uint8_t *token;
        if (r->relation != relation) continue;
        double all = row_sum(x, row, &token), sum = 0;
        for (int64_t k = 0; k < r->n; k++) sum += weight(x, row, token, b->key[r->first + k]);
        mass[row->example] += r->mass, expected[row->example] += sum / all;
        rows[row->example]++;
    }
    for (int64_t e = 0; e < b->n_examples; e++) mass[e] /= rows[e], expected[e] /= rows[e];
    lra_free(rows);
}

static lra_measurement lift_of(int64_t n, const double *mass, const double *expected)
{
    double above = 0, below = 0, known = 0, squares = 0;
    for (int64_t e = 0; e < n; e++)
        if (!isnan(mass[e])) above += mass[e], below += expected[e], known++;
    lra_measurement f = lra_measurement_of("", below > 0 ? above / below : (double)NAN);
    f.examples = (int64_t)known, f.null[LRA_NULL_UNIFORM] = 1;
    if (known < 2 || !(below > 0)) return f;
    for (int64_t e = 0; e < n; e++) {
        double x = mass[e] - f.value * expected[e];
        if (!isnan(x)) squares += x * x;
    }
    double half = normal_95 * sqrt(squares / (known - 1) / known) / (below / known);
    f.lo = fmax(f.value - half, 0), f.hi = f.value + half;
    return f;
}

void lra_blind_lifts(const lra_blind *b, bool by_class, int n, lra_measurement *lift)
{
    fit x = {.b = b, .by_class = by_class, .wide = b->longest ? 2 * b->longest - 1 : 0};
    size_t all = (size_t)(CLASSES * x.wide);
    double *mass = lra_alloc_array(2 * (size_t)b->n_examples + 1, sizeof *mass);
    x.f = lra_alloc_array(2 * all + 1, sizeof *x.f), x.below = x.f + all;
    for (size_t at = 0; at < all; at++) x.f[at] = 1;
    for (int c = 0; c < CLASSES * CLASSES; c++) x.g[c / CLASSES][c % CLASSES] = 1;
    for (int round = 0; round < ROUNDS; round++)
        if (improve(&x) < small_change) break;
    for (int r = 0; r < n; r++) {
        means_of(&x, r, mass, mass + b->n_examples);
        lift[r] = lift_of(b->n_examples, mass, mass + b->n_examples);
    }
    lra_free(mass);
    lra_free(x.f);
}

double lra_blind_p(const lra_measurement *lift)
{
    double error = (lift->hi - lift->value) / normal_95;
    if (isnan(error)) return 1;
    if (!(error > 0)) return lift->value > 1 ? 0 : 1;
    return 0.5 * erfc((lift->value - 1) / error / sqrt(2));
}
