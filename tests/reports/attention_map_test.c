/* Attention maps as pixels of figures: means over heads and over squares, the scale from the
 * smallest weight to the largest, square roots. */
#include "tests/fixtures/test.h"

#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/views/attention_map.h"

TEST(heads_are_averaged)
{
    float first[] = {1, 0, 0.5F, 0.5F}, second[] = {1, 0, 0, 1};
    const lra_probe_array a = {"map", 2, {2, 2}, first}, b = {"map", 2, {2, 2}, second};
    const lra_probe_array *both[] = {&a, &b};
    lra_text t = {0};
    lra_map_add(&t, "two heads", 2, both); /* the mean map has the rows (1, 0) and (0.25, 0.75) */
    assert_non_null(strstr(t.s, "two heads: one line per query, weights from 0 to 1\n"));
    assert_non_null(strstr(t.s, "\n1.0000 0.0000\n0.5000 0.8660\n\n\n"));
    assert_int_equal(lra_map_pixels(&a), 2);
    assert_true(lra_map_is_square(&a, 2) && !lra_map_is_square(&a, 3));
    lra_text_free(&t);
}

/* 128 queries are averaged over squares of two by two; the largest pixel is the mean 0.5 of such a
 * square. */
TEST(long_maps_are_averaged)
{
    enum { T = 128 };
    static float value[T * T];
    value[0] = value[T + 1] = 1;
    value[2 * T + 2] = 1;
    const lra_probe_array a = {"map", 2, {T, T}, value};
    const lra_probe_array *one = &a;
    lra_text t = {0};
    lra_map_add(&t, "long", 1, &one);
    assert_int_equal(lra_map_pixels(&a), 64);
    assert_non_null(strstr(t.s, "weights from 0 to 0.5\n1.0000 0.0000 "));
    assert_non_null(strstr(t.s, "\n0.0000 0.7071 0.0000 "));
    lra_text_free(&t);
}
