/* Memory layout: for random lifetimes, a brute-force check that buffers in use at the same time
 * never overlap. */
#include "tests/fixtures/test.h"

#include <limits.h>
#include <stdlib.h>

#include "kernels/base/core/philox.h"
#include "kernels/graph/graph_impl.h"

enum { N = 200, ROUNDS = 100 };

static int by_first(const void *a, const void *b)
{
    const lra_range *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

static void random_ranges(lra_rng *r, lra_range *range)
{
    for (int i = 0; i < N; i++) {
        int first = (int)lra_rng_below(r, 100), life = (int)lra_rng_below(r, 12);
        bool forever = lra_rng_below(r, 20) == 0;
        range[i] = (lra_range){0, lra_rng_below(r, 5000), first, forever ? INT_MAX : first + life};
    }
    qsort(range, N, sizeof *range, by_first);
}

TEST(live_buffers_never_overlap)
{
    for (int round = 0; round < ROUNDS; round++) {
        lra_rng r = lra_rng_new(7, 0, (uint64_t)round);
        lra_range range[N];
        lra_err e;
        random_ranges(&r, range);
        size_t total = lra_layout(range, N);
        assert_int_equal(lra_layout_check(range, N, &e), 0);
        for (int i = 0; i < N; i++) {
            assert_true(range[i].offset + range[i].size <= total);
            assert_int_equal(range[i].offset % 256, 0);
        }
    }
}

TEST(the_check_sees_an_overlap)
{
    lra_err e;
    lra_range range[2] = {{0, 100, 0, 5}, {64, 100, 5, 6}};
    assert_int_equal(lra_layout_check(range, 2, &e), -1);
    range[1].first = 6;
    assert_int_equal(lra_layout_check(range, 2, &e), 0);
}

TEST(a_dead_buffer_is_used_again)
{
    lra_range chain[10];
    for (int i = 0; i < 10; i++) chain[i] = (lra_range){0, 1000, i, i + 1};
    assert_true(lra_layout(chain, 10) <= 3 * 1024);
}
