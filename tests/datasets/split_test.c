/* Permutations and splits of public pipelines: values printed by PyTorch and NumPy. */
#include "tests/fixtures/test.h"

#include "datasets/loader/split.h"
#include "kernels/base/core/mem.h"

typedef void permutation(uint32_t seed, int64_t n, int64_t *order);

typedef struct {
    permutation *of;
    uint32_t seed;
    int64_t n, at; /* `expected` is the part of the permutation from index `at` on */
    int64_t expected[10];
    int n_expected;
} known;

static const known cases[] = {
    {lra_split_torch, 42, 10, 0, {2, 6, 1, 8, 4, 5, 0, 9, 3, 7}, 10},
    {lra_split_torch, 0, 5, 0, {4, 0, 1, 3, 2}, 5},
    {lra_split_torch, 42, 50000, 0, {37542, 44491, 216, 43688, 41558, 32245, 27206, 10863}, 8},
    {lra_split_torch, 42, 50000, 45000, {17408, 40845, 3378}, 3},
    {lra_split_torch, 42, 200000, 0, {37542, 143173, 127710}, 3},
    {lra_split_torch, 42, 200000, 160000, {122036, 135593, 30913}, 3},
    {lra_split_torch, 42, 200000, 180000, {143170, 45464, 153084}, 3},
    {lra_split_torch, 42, 60000, 0, {37542, 43087, 2992}, 3},
    {lra_split_torch, 42, 60000, 54000, {33841, 37977, 40521}, 3},
    {lra_split_numpy, 0, 10, 0, {2, 8, 4, 9, 1, 6, 7, 3, 0, 5}, 10},
    {lra_split_numpy, 42, 10, 0, {8, 1, 5, 0, 7, 2, 9, 4, 3, 6}, 10},
    {lra_split_numpy, 0, 7949, 0, {3402, 1454, 167, 1742}, 4},
    {lra_split_numpy, 0, 7870, 0, {5622, 4123, 2065, 6730}, 4},
    {lra_split_numpy, 1, 2385, 0, {2276, 1210, 1551, 2332}, 4},
    {lra_split_numpy, 1, 2361, 0, {56, 589, 1967, 1931}, 4},
};

TEST(known_values)
{
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const known *k = &cases[c];
        int64_t *order = lra_alloc_array((size_t)k->n, sizeof *order);
        k->of(k->seed, k->n, order);
        for (int i = 0; i < k->n_expected; i++) assert_int_equal(order[k->at + i], k->expected[i]);
        lra_free(order);
    }
}

TEST(every_index_once)
{
    permutation *const both[] = {lra_split_torch, lra_split_numpy};
    enum { MOST = 700 };
    int64_t order[MOST];
    for (int64_t n = 0; n < MOST; n = 2 * n + 1)
        for (int k = 0; k < 2; k++) {
            int seen[MOST] = {0};
            both[k](7, n, order);
            for (int64_t i = 0; i < n; i++) {
                assert_in_range(order[i], 0, n - 1);
                assert_int_equal(seen[order[i]]++, 0);
            }
        }
}

/* Checksums sum((i + 1) order[i]) mod 2^64 of permutations: sizes near the 624 words of the
 * generator's state and near powers of two, extreme seeds, and the sizes of published data sets.
 * PyTorch 2.15: randperm(n) after manual_seed(seed); NumPy 2.4:
 * RandomState(seed).permutation(n). */
static const struct {
    permutation *of;
    uint32_t seed;
    int64_t n;
    uint64_t sum;
} wholes[] = {
    {lra_split_torch, 0, 1, 0},
    {lra_split_torch, 1, 2, 1},
    {lra_split_torch, 42, 3, 7},
    {lra_split_torch, 0, 623, 58807443},
    {lra_split_torch, 0, 624, 59847227},
    {lra_split_torch, 7, 625, 61525566},
    {lra_split_torch, 42, 626, 61457172},
    {lra_split_torch, 1, 1249, 488869258},
    {lra_split_torch, UINT32_MAX, 1000, 251053152},
    {lra_split_torch, 1u << 31, 4096, 17103795960},
    {lra_split_torch, 123456789, 65536, 70251323153996},
    {lra_split_torch, 42, 65537, 70213955131507},
    {lra_split_torch, 42, 50000, 31282961465637},
    {lra_split_torch, 42, 60000, 53968154258704},
    {lra_split_torch, 42, 105829, 296104931902857},
    {lra_split_torch, 42, 200000, 2000317794704101},
    {lra_split_numpy, 0, 1, 0},
    {lra_split_numpy, 1, 2, 2},
    {lra_split_numpy, 7, 256, 4294219},
    {lra_split_numpy, 7, 257, 4341641},
    {lra_split_numpy, 0, 623, 60045179},
    {lra_split_numpy, 1, 624, 60432021},
    {lra_split_numpy, 0, 625, 60525393},
    {lra_split_numpy, UINT32_MAX, 1000, 250435292},
    {lra_split_numpy, 92916, 784, 118959658}, /* the permutation of pMNIST in some papers */
    {lra_split_numpy, 42, 45000, 22772641224837},
    {lra_split_numpy, 0, 7949, 125781559692},
    {lra_split_numpy, 0, 7870, 121956690001},
    {lra_split_numpy, 1, 2385, 3379735811},
    {lra_split_numpy, 1, 2361, 3292334368},
    {lra_split_numpy, 5, 65536, 70375776899452},
    {lra_split_numpy, 5, 65537, 70378818997467},
    {lra_split_numpy, 42, 200000, 1996816635468793},
};

static uint64_t sum_of(const int64_t *order, int64_t n)
{
    uint64_t sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (uint64_t)(i + 1) * (uint64_t)order[i];
    return sum;
}

TEST(whole_permutations)
{
    for (size_t c = 0; c < sizeof wholes / sizeof *wholes; c++) {
        int64_t n = wholes[c].n, *order = lra_alloc_array((size_t)n, sizeof *order);
        wholes[c].of(wholes[c].seed, n, order);
        if (sum_of(order, n) != wholes[c].sum)
            fail_msg("case %zu (n = %lld): sum %llu, expected %llu", c, (long long)n,
                     (unsigned long long)sum_of(order, n), (unsigned long long)wholes[c].sum);
        lra_free(order);
    }
}

/* random_split() of n rows into int(n (1 - share)) and the others with seed 42, by PyTorch 2.15. If
 * the product would be a whole number in exact arithmetic, the result depends on the rounding of
 * double precision: 30 x 0.7 is 21, 100 x 0.58 is 58, 110 x 0.9 is 99. */
TEST(two_way_splits)
{
    static const struct {
        int64_t n;
        double share;
        int64_t kept;
        uint64_t first, second; /* expected checksums of both parts */
    } splits[] = {
        {50000, 0.1, 45000, 25342856038760, 311566311877}, /* CIFAR-10 */
        {60000, 0.1, 54000, 43784604325544, 538220917160}, /* MNIST */
        {25000, 0.1, 22500, 3175968741123, 38679493709},   /* IMDB */
        {30, 0.3, 21, 3610, 631},
        {10, 0.7, 3, 17, 143},
        {100, 0.42, 58, 80337, 42286},
        {1000, 0.29, 710, 123608690, 21526838},
        {7, 0.1, 6, 62, 2},
        {3000, 0.1, 2700, 5481023806, 67600133},
        {20000, 0.1, 18000, 1622621945352, 19663650458},
        {3, 0.05, 2, 4, 1},
        {9, 1.0 / 3, 6, 115, 10},
        {49, 0.02, 48, 24883, 28},
        {1000, 0.001, 999, 250927058, 455},
        {110, 0.1, 99, 274516, 3514},
        {10, 0.1, 9, 198, 7},
    };
    for (size_t c = 0; c < sizeof splits / sizeof *splits; c++) {
        int64_t n = splits[c].n, *order = lra_alloc_array((size_t)n, sizeof *order);
        int64_t kept = lra_split_carve(42, n, splits[c].share, order);
        assert_int_equal(kept, splits[c].kept);
        assert_int_equal(sum_of(order, kept), splits[c].first);
        assert_int_equal(sum_of(order + kept, n - kept), splits[c].second);
        lra_free(order);
    }
}

/* The number of rows kept for training is rounded down; both parts have at least one row. */
TEST(kept_rows_are_rounded_down)
{
    static const struct {
        int64_t n;
        double share;
        int64_t kept;
    } carved[] = {{15, 0.1, 13}, {10, 0.25, 7}, {11, 0.25, 8}, {3, 0.5, 1},
                  {2, 0.01, 1},  {1, 0.9, 1},   {4, 0, 3},     {19, 0.1, 17}};
    for (size_t i = 0; i < sizeof carved / sizeof *carved; i++) {
        int64_t order[20];
        assert_int_equal(lra_split_carve(1, carved[i].n, carved[i].share, order), carved[i].kept);
    }
}

/* Selected rows are evenly spaced over all rows, including the last ones. */
TEST(spaced_rows_reach_the_end)
{
    static const int64_t wanted[] = {0, 2, 5, 7};
    for (int k = 0; k < 4; k++) assert_int_equal(lra_split_spaced(k, 10, 4), wanted[k]);
    assert_int_equal(lra_split_spaced(99, 19900, 100), 19701);
    assert_int_equal(lra_split_spaced(59, 100, 60), 98);
}

/* Pathfinder's three parts, by random_split() with seed 42. */
TEST(three_way_splits)
{
    static const struct {
        int64_t n, part[3];
        uint64_t sum[3];
    } splits[] = {
        {200000, {160000, 20000, 20000}, {1283672636397664, 19784457490666, 19920480395771}},
        {199999, {160001, 19999, 19999}, {1280390603779517, 19963441828068, 20133586092225}},
        {1000, {800, 100, 100}, {157938656, 2792380, 2451922}},
        {100, {80, 10, 10}, {156406, 2722, 2631}},
        {15, {13, 1, 1}, {632, 7, 0}},
    };
    for (size_t c = 0; c < sizeof splits / sizeof *splits; c++) {
        int64_t *order = lra_alloc_array((size_t)splits[c].n, sizeof *order), at = 0;
        lra_split_torch(42, splits[c].n, order);
        for (int p = 0; p < 3; at += splits[c].part[p++])
            assert_int_equal(sum_of(order + at, splits[c].part[p]), splits[c].sum[p]);
        lra_free(order);
    }
}
