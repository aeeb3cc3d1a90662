/* Statistics of adjacent positions: mean, standard deviation and correlation of numbers, entropies
 * of tokens.
 * Reference values: the entropy of a byte of English text is 4.3 bits, and 3.4 bits given the
 * previous byte; both are 8 bits for noise. ListOps is close to noise by this measure: 3.81 and
 * 3.77 bits. */
#include "probes/data/statistics.h"

#include <math.h>

#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"

enum {
    MAX_VOCAB = 4096 /* largest vocabulary for which pairs are counted */,
    ENOUGH = 100 /* minimum number of counted pairs per possible pair of tokens */
};
/* Data are reported as noise if the correlation of adjacent positions is below LEAST_SHARE of the
 * published one, or if the previous token provides fewer than LEAST_BITS bits. */
static const double LEAST_SHARE = 0.5, LEAST_BITS = 0.02;

/* ---- numbers --------------------------------------------------------------------------------- */

/* Sums over the values of one channel, and over pairs of adjacent positions (a, b) of that
 * channel. */
typedef struct {
    double n, sum, squares;
    double pairs, a, b, ab, aa, bb;
} moments;

static double number_at(const lra_sequences *r, int64_t i)
{
    return r->token ? (double)r->token[i] : (double)r->value[i];
}

static void add_row(const lra_sequences *r, int64_t i, moments *to)
{
    int64_t from = r->start[i] * r->width, end = r->start[i + 1] * r->width;
    for (int64_t k = from; k < end; k++) {
        moments *m = &to[(k - from) % r->width];
        double x = number_at(r, k);
        m->n++, m->sum += x, m->squares += x * x;
        if (k + r->width >= end) continue;
        double y = number_at(r, k + r->width);
        m->pairs++, m->a += x, m->b += y, m->ab += x * y, m->aa += x * x, m->bb += y * y;
    }
}

/* Correlation of adjacent positions over all channels, each centred at its own mean. */
static double correlation(const moments *m, int width)
{
    double ab = 0, aa = 0, bb = 0;
    for (int j = 0; j < width && m[j].pairs > 0; j++) {
        ab += m[j].ab - m[j].a * m[j].b / m[j].pairs;
        aa += m[j].aa - m[j].a * m[j].a / m[j].pairs;
        bb += m[j].bb - m[j].b * m[j].b / m[j].pairs;
    }
    return aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : 0;
}

static void describe_numbers(const lra_dataset *d, lra_facts *found)
{
    const lra_sequences *r = &d->split[LRA_TRAIN_SPLIT];
    moments *m = lra_alloc_array((size_t)r->width, sizeof *m);
    double n = 0, sum = 0, squares = 0, known = d->task->data.correlation;
    for (int64_t i = 0; i < r->n; i++) add_row(r, i, m);
    for (int j = 0; j < r->width; j++) n += m[j].n, sum += m[j].sum, squares += m[j].squares;
    double neighbours = correlation(m, r->width), mean = sum / n;
    lra_free(m);
    lra_facts_add(found, mean, "train, mean of the values");
    lra_facts_add(found, sqrt(fmax(0, squares / n - mean * mean)), "train, standard deviation");
    lra_facts_add(found, neighbours, "train, correlation of adjacent positions");
    if (known != 0) lra_facts_add(found, known, "same, published rows");
    if (known != 0 && fabs(neighbours) < LEAST_SHARE * fabs(known))
        lra_warn(
            "%s: adjacent positions of the training rows have a correlation of %.2f, of published "
            "rows %.2f: the files look like noise or like other data",
            d->task->name, neighbours, known);
}

/* ---- words ----------------------------------------------------------------------------------- */

/* Entropy in bits: -sum p log2 p with p = count[i] / total, over n counts. */
static double entropy(const int64_t *count, int64_t n, int64_t total)
{
    double bits = 0;
    for (int64_t i = 0; i < n; i++)
        if (count[i])
            bits -= (double)count[i] / (double)total * log2((double)count[i] / (double)total);
    return bits;
}

static void describe_words(const lra_dataset *d, lra_facts *found)
{
    const lra_sequences *r = &d->split[LRA_TRAIN_SPLIT];
    int64_t V = d->vocab, total = 0, pairs = 0, used = 0;
    int64_t *one = lra_alloc_array((size_t)V, sizeof *one);
    int64_t *two = V <= MAX_VOCAB ? lra_alloc_array((size_t)(V * V), sizeof *two) : NULL;
    int64_t *before = lra_alloc_array((size_t)V, sizeof *before);
    for (int64_t i = 0; i < r->n; i++)
        for (int64_t k = r->start[i]; k < r->start[i + 1]; k++, total++) {
            int64_t token = lra_token_at(r->token, r->width, k);
            one[token]++;
            if (!two || k + 1 == r->start[i + 1]) continue;
            two[token * V + lra_token_at(r->token, r->width, k + 1)]++, before[token]++, pairs++;
        }
    for (int64_t v = 0; v < V; v++) used += one[v] > 0;
    double bits = entropy(one, V, total);
    lra_facts_add(found, (double)used, "train, distinct tokens");
    lra_facts_add(found, bits, "train, entropy of a token (bits)");
    if (pairs) {
        double after = entropy(two, V * V, pairs) - entropy(before, V, pairs);
        lra_facts_add(found, after, "train, entropy of a token given the previous one (bits)");
        if (bits < LEAST_BITS)
            lra_warn(
                "%s: a token of the training rows has an entropy of %.2f bits: nearly all tokens "
                "are equal",
                d->task->name, bits);
        else if (pairs >= ENOUGH * used * used && bits - after < LEAST_BITS)
            lra_warn(
                "%s: a token of the training rows has an entropy of %.2f bits, and %.2f bits given "
                "the previous token: these look like noise",
                d->task->name, bits, after);
    }
    lra_free(one);
    lra_free(two);
    lra_free(before);
}

void lra_data_statistics(const lra_dataset *d, lra_facts *found)
{
    if (d->task->input.channels || d->task->input.image)
        describe_numbers(d, found);
    else if (d->vocab)
        describe_words(d, found);
}
