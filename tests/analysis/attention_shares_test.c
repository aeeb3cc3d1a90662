/* Shares of position and content in attention: known answers, and comparison with the definition
 * evaluated on all maps, for masks and examples of different lengths. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/attention_shares.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"

enum { N = 80, T = 14 };

static double map[N][T][T];
static int64_t length[N];
static bool causal;

static int keys_of(int b, int i)
{
    return causal ? i + 1 : (int)length[b];
}

static void random_maps(uint64_t seed, double by_position, double by_example)
{
    lra_rng r = lra_rng_new(seed, 1, 0);
    double fixed[T][T];
    for (int i = 0; i < T * T; i++) fixed[i / T][i % T] = lra_rng_u01(&r);
    for (int b = 0; b < N; b++)
        for (int i = 0; i < length[b]; i++)
            for (int j = 0; j < keys_of(b, i); j++)
                map[b][i][j] = exp(by_position * fixed[i][j] + by_example * lra_rng_u01(&r));
}

static void measure(lra_measurement out[LRA_SHARES_MEASUREMENTS])
{
    lra_shares *s = lra_shares_new(N, length);
    uint8_t allowed[T];
    memset(allowed, 1, sizeof allowed);
    for (int b = 0; b < N; b++)
        for (int i = 0; i < length[b]; i++)
            lra_shares_row(s, b, i, 0, keys_of(b, i), map[b][i], allowed);
    assert_int_equal(lra_shares_measurements(s, out), LRA_SHARES_MEASUREMENTS);
    lra_shares_free(s);
}

/* Returns the attention weight of example b from query i to key j minus the uniform weight; 0 and
 * *is = false if example b has no such entry. */
static double x_of(int b, int i, int j, bool *is)
{
    double sum = 0;
    *is = i < length[b] && j < keys_of(b, i);
    if (!*is) return 0;
    for (int k = 0; k < keys_of(b, i); k++) sum += map[b][i][k];
    return map[b][i][j] / sum - 1.0 / keys_of(b, i);
}

/* Evaluates the definition of the shares term by term. */
static void by_definition(double share[4])
{
    static double mean[T][T], n[T][T], variance[T][T];
    double total = 0, left = 0, relative = 0, absolute = 0, content = 0, noise = 0, all = 0;
    bool is;
    for (int i = 0; i < T; i++)
        for (int j = 0; j < T; j++) {
            double sum = 0, squares = 0, v = 0;
            n[i][j] = 0;
            for (int b = 0; b < N; b++) {
                double x = x_of(b, i, j, &is);
                sum += x, squares += x * x, n[i][j] += is;
            }
            bool kept = n[i][j] >= LRA_SHARES_LEAST;
            *(kept ? &total : &left) += squares;
            if (!kept) n[i][j] = 0;
            mean[i][j] = sum / n[i][j];
            for (int b = 0; b < N && kept; b++) {
                double x = x_of(b, i, j, &is);
                if (is) v += (x - mean[i][j]) * (x - mean[i][j]);
            }
            content += v, variance[i][j] = v / (n[i][j] - 1);
            if (kept) all += variance[i][j];
        }
    for (int d = 1 - T; d < T; d++) {
        double m = 0, entries = 0, residues = 0, examples = 0;
        for (int j = 0; j < T; j++)
            if (j + d >= 0 && j + d < T && n[j + d][j] > 0)
                m += n[j + d][j] * mean[j + d][j], entries += n[j + d][j];
        if (entries == 0) continue;
        m /= entries;
        for (int j = 0; j < T; j++)
            if (j + d >= 0 && j + d < T && n[j + d][j] > 0) {
                relative += n[j + d][j] * m * m;
                absolute += n[j + d][j] * (mean[j + d][j] - m) * (mean[j + d][j] - m);
            }
        for (int b = 0; b < N; b++) {
            double sum = 0;
            bool any = false;
            for (int j = 0; j < T; j++) {
                if (j + d < 0 || j + d >= T || n[j + d][j] == 0) continue;
                double x = x_of(b, j + d, j, &is);
                if (is) sum += x - mean[j + d][j], any = true;
            }
            residues += sum * sum, examples += any;
        }
        if (examples > 1) noise += residues / entries * examples / (examples - 1);
    }
    share[0] = (relative - noise) / total, share[1] = (absolute - (all - noise)) / total;
    share[2] = (content + all) / total, share[3] = left / (total + left);
}

TEST(they_are_the_definition)
{
    for (int k = 0; k < 6; k++) {
        lra_measurement f[LRA_SHARES_MEASUREMENTS];
        double wanted[4];
        lra_rng r = lra_rng_new(7, 7, (uint64_t)k);
        causal = k % 2;
        for (int b = 0; b < N; b++) length[b] = k < 2 ? T : 3 + (int)lra_rng_below(&r, T - 2);
        random_maps((uint64_t)k, k > 3 ? 0 : 3, k == 3 ? 0 : 1.5);
        measure(f);
        by_definition(wanted);
        for (int i = 0; i < 4; i++)
            if (!(fabs(f[i].value - wanted[i]) < 1e-10))
                fail_msg("case %d: %s is %.12g, expected %.12g", k, f[i].id, f[i].value, wanted[i]);
        assert_true(fabs(f[0].value + f[1].value + f[2].value - 1) < 1e-12);
        assert_int_equal(f[3].value > 0, k >= 2);
    }
}

/* Maps that depend on the distance only, on the key's position only, or on a random key of each
 * example; the shares of uniform weights are undefined. */
TEST(known_answers)
{
    lra_measurement f[LRA_SHARES_MEASUREMENTS];
    lra_rng r = lra_rng_new(3, 3, 0);
    causal = false;
    for (int b = 0; b < N; b++) length[b] = T;
    for (int b = 0; b < N; b++)
        for (int i = 0; i < T * T; i++) map[b][i / T][i % T] = i % T == 2 ? 1 : 0;
    measure(f);
    assert_true(fabs(f[2].value) < 1e-12 && f[1].value > 0.5);
    random_maps(1, 0, 2);
    measure(f);
    assert_true(f[2].value > 0.9 && fabs(f[0].value) < 0.05 && fabs(f[1].value) < 0.06);
    for (int b = 0; b < N; b++) {
        int key = (int)lra_rng_below(&r, T);
        for (int i = 0; i < T * T; i++) map[b][i / T][i % T] = i % T == key;
    }
    measure(f);
    assert_true(f[2].value > 0.95);
    for (int b = 0; b < N;
         /* every row is the same row shifted: position explains everything, and distance all of it
          * except at the ends */
         b++)
        for (int i = 0; i < T * T; i++)
            map[b][i / T][i % T] = i / T - i % T == 1 || i % T - i / T == T - 1;
    measure(f);
    assert_true(fabs(f[2].value) < 1e-12 && f[0].value > 0.999);
    random_maps(1, 0, 0);
    measure(f);
    assert_true(isnan(f[0].value));
}

/* A head with a fixed decay ignores its input. Its share of content is 0 if all examples have the
 * same length. If lengths differ, its rows are normalized over different numbers of keys, which
 * counts as content. Rows of causal heads do not depend on the length. */
TEST(ragged_lengths_count_as_content)
{
    for (int k = 0; k < 3; k++) {
        lra_measurement share[LRA_SHARES_MEASUREMENTS];
        causal = k == 2;
        for (int b = 0; b < N; b++) {
            length[b] = k == 0 ? T : T - b % 9;
            for (int i = 0; i < length[b]; i++)
                for (int j = 0; j < keys_of(b, i); j++) map[b][i][j] = exp(-abs(i - j) / 4.0);
        }
        measure(share);
        double content = share[2].value;
        assert_string_equal(share[2].id, "share.content");
        if (k == 1 ? !(content > 0.02 && content < 0.25) : !(fabs(content) < 1e-9))
            fail_msg("case %d: content %g", k, content);
    }
    causal = false;
}

TEST(few_examples_are_undefined)
{
    const int64_t lengths[] = {9, 4, 7};
    lra_measurement f[LRA_SHARES_MEASUREMENTS];
    assert_int_equal(lra_shares_positions(3, lengths), 0);
    lra_shares *s = lra_shares_new(3, lengths);
    lra_shares_row(s, 0, 1, 0, 2, (double[]){0.25, 0.75}, (uint8_t[]){1, 1});
    lra_shares_measurements(s, f);
    assert_true(isnan(f[0].value) && f[3].value == 1);
    lra_shares_free(s);
}

/* ---- intervals ------------------------------------------------------------------------------- */

/* Causal maps of n examples of at most `size` positions: some key positions have more weight in all
 * examples, every example has its own decay with distance, and the remainder is random. */
typedef struct {
    int n, size;
    int64_t *length;
    double *weight; /* (n, size, size) weights of all maps */
} drawn_maps;

static drawn_maps draw_maps(uint64_t seed, int n, int size, int shorter, double by_position,
                            double by_example)
{
    drawn_maps m = {.n = n, .size = size};
    lra_rng places = lra_rng_new(5, 5, 0), r = lra_rng_new(seed, 6, 0);
    double *fixed = lra_alloc_array((size_t)(size * size), sizeof *fixed);
    m.length = lra_alloc_array((size_t)n, sizeof *m.length);
    m.weight = lra_alloc_array((size_t)n * (size_t)(size * size), sizeof *m.weight);
    for (int i = 0; i < size * size; i++) fixed[i] = lra_rng_u01(&places);
    for (int b = 0; b < n; b++) {
        double fall = 0.3 * by_position * lra_rng_u01(&r);
        m.length[b] = b % 2 ? size : size - shorter;
        for (int i = 0; i < size; i++)
            for (int j = 0; j <= i; j++)
                m.weight[(b * size + i) * size + j] = exp(by_position * fixed[i * size + j] -
                                                          fall * (i - j) +
                                                          by_example * lra_rng_u01(&r));
    }
    lra_free(fixed);
    return m;
}

static void free_maps(drawn_maps *m)
{
    lra_free(m->length);
    lra_free(m->weight);
}

/* Measures the shares of all examples except `without`; -1 excludes none. */
static void measure_drawn(const drawn_maps *m, int without,
                          lra_measurement out[LRA_SHARES_MEASUREMENTS])
{
    int64_t *lengths = lra_alloc_array((size_t)m->n, sizeof *lengths);
    uint8_t *allowed = lra_alloc((size_t)m->size);
    int n = 0;
    memset(allowed, 1, (size_t)m->size);
    for (int b = 0; b < m->n; b++)
        if (b != without) lengths[n++] = m->length[b];
    lra_shares *s = lra_shares_new(n, lengths);
    n = 0;
    for (int b = 0; b < m->n; b++) {
        if (b == without) continue;
        for (int i = 0; i < m->length[b]; i++)
            lra_shares_row(s, n, i, 0, i + 1, m->weight + (b * m->size + i) * m->size, allowed);
        n++;
    }
    lra_shares_measurements(s, out);
    lra_shares_free(s);
    lra_free(allowed);
    lra_free(lengths);
}

/* The half widths of intervals equal those of a jackknife that leaves out one example at a time,
 * both with one cell per entry and with 4,096 entries in fewer cells. */
TEST(intervals_are_the_jackknifes)
{
    static const struct {
        int size, shorter;
        double by_position, by_example, within;
    } cases[] = {{10, 0, 1.5, 1, 0.05}, {10, 3, 1.5, 1, 0.05}, {64, 0, 1.5, 1, 0.15}};
    enum { MAPS = 80 };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        static lra_measurement one[MAPS][LRA_SHARES_MEASUREMENTS], all[LRA_SHARES_MEASUREMENTS];
        drawn_maps m = draw_maps(11 + c, MAPS, cases[c].size, cases[c].shorter,
                                 cases[c].by_position, cases[c].by_example);
        measure_drawn(&m, -1, all);
        for (int b = 0; b < MAPS; b++) measure_drawn(&m, b, one[b]);
        for (int k = 0; k < 3; k++) {
            double mean = 0, squares = 0, own = (all[k].hi - all[k].lo) / 2;
            for (int b = 0; b < MAPS; b++) mean += one[b][k].value / MAPS;
            for (int b = 0; b < MAPS; b++)
                squares += (one[b][k].value - mean) * (one[b][k].value - mean);
            double half = 1.959964 * sqrt(squares * (MAPS - 1) / MAPS);
            if (!(fabs(own / half - 1) < cases[c].within))
                fail_msg("case %zu: %s +- %g, jackknife %g", c, all[k].id, own, half);
            assert_true(all[k].lo < all[k].value && all[k].value < all[k].hi);
        }
        free_maps(&m);
    }
}

/* The intervals of at least 93 % of 1,000 samples of 80 maps contain the shares of 20,000 maps; the
 * tolerance is two standard errors of a share of 1,000 samples. */
TEST(intervals_cover)
{
    static const double cases[][2] = {{1.5, 1}, {0.5, 2}};
    enum { SAMPLES = 1000 };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        lra_measurement truth[LRA_SHARES_MEASUREMENTS], f[LRA_SHARES_MEASUREMENTS];
        int held[3] = {0};
        drawn_maps m = draw_maps(1000, 20000, 6, 0, cases[c][0], cases[c][1]);
        measure_drawn(&m, -1, truth);
        free_maps(&m);
        for (int s = 0; s < SAMPLES; s++) {
            m = draw_maps(2000 + (uint64_t)s, 80, 6, 0, cases[c][0], cases[c][1]);
            measure_drawn(&m, -1, f);
            free_maps(&m);
            for (int k = 0; k < 3; k++)
                held[k] += f[k].lo <= truth[k].value && truth[k].value <= f[k].hi;
        }
        for (int k = 0; k < 3; k++)
            if (held[k] < SAMPLES * 0.914 || held[k] > SAMPLES * 0.995)
                fail_msg("case %zu: %s is held by %d of %d", c, f[k].id, held[k], SAMPLES);
    }
}
