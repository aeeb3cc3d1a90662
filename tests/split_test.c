/* Permutations of public pipelines: values printed by PyTorch and NumPy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "datasets/split.h"
#include "kernels/base/mem.h"

typedef void permutation(uint32_t seed, int64_t n, int64_t *order);

typedef struct {
    permutation *of;
    uint32_t seed;
    int64_t n, at; /* `expected` stands at order[at..] */
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

static void known_values(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const known *k = &cases[c];
        int64_t *order = lra_alloc_array((size_t)k->n, sizeof *order);
        k->of(k->seed, k->n, order);
        for (int i = 0; i < k->n_expected; i++) assert_int_equal(order[k->at + i], k->expected[i]);
        lra_free(order);
    }
}

static void every_index_once(void **state)
{
    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_values),
        cmocka_unit_test(every_index_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
