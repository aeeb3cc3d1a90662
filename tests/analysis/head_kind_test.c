/* Kinds of heads: maps constructed to be of a kind are classified as that kind by the measurements
 * of the probe; thresholds agree with the header. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <string.h>

#include "analysis/attention_shares.h"
#include "analysis/head_kind.h"
#include "analysis/profile.h"
#include "kernels/base/core/philox.h"

enum { N = 40, T = 96, MOST = 64 };
static double map[N][T][T];

/* Sets row i of example b: `mass` on one key, and the rest uniform over all keys. */
static void put(int b, int i, int key, double mass)
{
    for (int j = 0; j < T; j++) map[b][i][j] = (1 - mass) / T;
    map[b][i][key] += mass;
}

static lra_measurement share_of(const char *id, double value, double equal)
{
    lra_measurement f = lra_measurement_of(id, value);
    f.lo = f.hi = value, f.null[LRA_NULL_UNIFORM] = equal;
    return f;
}

/* Computes the measurements that the probe attention makes of a head. parents: includes the mass on
 * the parent, which is token i/2. */
static int measure(bool shares, bool parents, lra_measurement *out)
{
    const lra_profile_options o = {.key = 1};
    int64_t length[N];
    uint8_t allowed[T];
    lra_profile *p = lra_profile_new(T, 0);
    double sink = 0, parent = 0;
    memset(allowed, 1, sizeof allowed);
    for (int b = 0; b < N; b++) length[b] = T;
    lra_shares *s = lra_shares_new(N, length);
    for (int b = 0; b < N; b++) {
        double column[T] = {0}, most = 0;
        lra_profile_begin(p, T);
        for (int i = 0; i < T; i++) {
            lra_profile_row(p, i, 0, T, map[b][i]);
            lra_shares_row(s, b, i, 0, T, map[b][i], allowed);
            for (int j = 0; j < T; j++) column[j] += map[b][i][j] / T;
            parent += map[b][i][i / 2] / (N * T);
        }
        lra_profile_end(p);
        for (int j = 0; j < T; j++) most = fmax(most, column[j]);
        sink += most / N;
    }
    int n = lra_profile_measurements(p, &o, out);
    out[n++] = share_of("sink.max", sink, 1.0 / T);
    if (parents) out[n++] = share_of("tree.lift.class.parent", parent * T, 1);
    if (shares) n += lra_shares_measurements(s, out + n);
    lra_profile_free(p);
    lra_shares_free(s);
    return n;
}

static void expect_kinds(lra_head_kind kind, unsigned also, bool shares, bool parents)
{
    lra_measurement found[MOST];
    int n = measure(shares, parents, found);
    unsigned kinds = lra_head_kinds(n, found).is, own = kind == LRA_HEAD_MIXED ? 0 : 1u << kind;
    if (kinds != (own | also))
        fail_msg("%s: kinds are %x, expected %x", lra_head_kind_names[kind], kinds, own | also);
    assert_int_equal(lra_head_kind_of(kinds), kind);
}

enum { POSITION = 1u << LRA_HEAD_POSITION, CONTENT = 1u << LRA_HEAD_CONTENT };
#define EACH_ROW                                                                                   \
    for (int b = 0; b < N; b++)                                                                    \
        for (int i = 0; i < T; i++)

TEST(maps_of_a_kind)
{
    lra_rng r = lra_rng_new(5, 1, 0);
    /* all queries attend to the first token, independent of its content */
    EACH_ROW put(b, i, 0, 0.5);
    expect_kinds(LRA_HEAD_SINK, POSITION | 1u << LRA_HEAD_FAR, true, false);
    EACH_ROW put(b, i, 0, 0);
    expect_kinds(LRA_HEAD_UNIFORM, 0, true, false);
    /* the parent is i/2 in all examples: the tree is always the same */
    EACH_ROW put(b, i, i / 2, 0.9);
    expect_kinds(LRA_HEAD_TREE, POSITION, true, true);
    expect_kinds(LRA_HEAD_POSITION, 0, true, false);
    EACH_ROW put(b, i, i ? i - 1 : 0, 1);
    expect_kinds(LRA_HEAD_LOCAL, POSITION, true, false);
    EACH_ROW put(b, i, (i + T / 2) % T, 1);
    expect_kinds(LRA_HEAD_FAR, POSITION, true, false);
    /* the mean distance is 1.33 times that of uniform weights, so the head is not local */
    EACH_ROW put(b, i, (i + T / 3) % T, 1);
    expect_kinds(LRA_HEAD_FAR, POSITION, true, false);
    EACH_ROW put(b, i, (int)lra_rng_below(&r, T), 1); /* the key differs between examples */
    expect_kinds(LRA_HEAD_CONTENT, 0, true, false);
    /* without shares (maps too long for them) the kind cannot be determined */
    expect_kinds(LRA_HEAD_MIXED, 0, false, false);
    EACH_ROW put(b, i, (int)(lra_rng_below(&r, 5) + (uint32_t)i) % T, 1);
    expect_kinds(LRA_HEAD_LOCAL, CONTENT, true, false);
}

/* Returns the kinds (bits) that follow from a single measurement. */
static unsigned kinds_of(const char *id, double value, double equal)
{
    lra_measurement f = share_of(id, value, equal);
    return lra_head_kinds(1, &f).is;
}

TEST(thresholds_are_told)
{
    assert_int_equal(kinds_of("sink.max", 0.5, 0.1), 0);
    assert_int_equal(kinds_of("sink.max", 0.51, 0.1), 1u << LRA_HEAD_SINK);
    assert_int_equal(kinds_of("entropy.rel", 0.95, NAN), 0);
    assert_int_equal(kinds_of("entropy.rel", 0.951, NAN), 1u << LRA_HEAD_UNIFORM);
    assert_int_equal(kinds_of("tree.lift.class.bracket", 1.04, 1), 0);
    assert_int_equal(kinds_of("tree.lift.class.bracket", 1.05, 1), 1u << LRA_HEAD_TREE);
    /* tree.bracket is an attention mass, not a lift, and determines no kind */
    assert_int_equal(kinds_of("tree.bracket", 0.5, 0.1), 0);
    assert_int_equal(kinds_of("dist.mean.rel", 0.5, 1), 0);
    assert_int_equal(kinds_of("dist.mean.rel", 0.499, 1), 1u << LRA_HEAD_LOCAL);
    assert_int_equal(kinds_of("dist.mean.rel", 1.1, 1), 0);
    assert_int_equal(kinds_of("dist.mean.rel", 1.135, 1), 1u << LRA_HEAD_FAR);
    assert_int_equal(kinds_of("share.content", 0.5, NAN), 0);
    assert_int_equal(kinds_of("share.content", 0.51, NAN), CONTENT);
    lra_measurement both[] = {share_of("share.relative", 0.3, NAN),
                              share_of("share.absolute", 0.2, NAN)};
    assert_int_equal(lra_head_kinds(2, both).is, 0);
    both[0].value = 0.31;
    assert_int_equal(lra_head_kinds(2, both).is, POSITION);
    /* Measurements that are NaN determine no kind. Nor does a lift whose interval includes 1, or
     * that is not significant among four tests. */
    assert_int_equal(kinds_of("dist.mean.rel", NAN, NAN), 0);
    lra_measurement sure = share_of("tree.lift.class.parent", 1.5, 1);
    sure.lo = 0.99, sure.hi = 2.01;
    assert_int_equal(lra_head_kinds(1, &sure).is, 0);
    sure.lo = 1.05, sure.hi = 1.95; /* this interval corresponds to p = 0.015 */
    assert_int_equal(lra_head_kinds(1, &sure).is, 1u << LRA_HEAD_TREE);
    lra_measurement four[] = {sure, share_of("tree.lift.class.children", 1, 1),
                              share_of("tree.lift.class.siblings", 1, 1),
                              share_of("tree.lift.class.bracket", 1, 1)};
    assert_int_equal(lra_head_kinds(4, four).is, 0);
    assert_int_equal(lra_head_kind_of(POSITION | CONTENT), LRA_HEAD_POSITION);
}

/* A threshold inside of the interval of a measurement: the kind is possible but not certain. A
 * threshold outside of the interval: the kind is certain or excluded. */
TEST(ends_say_what_is_sure)
{
    static const struct {
        const char *id;
        double lo, value, hi, equal;
        unsigned is, surely, perhaps;
    } cases[] = {
        {"dist.mean.rel", 0.4, 0.45, 0.5, 1, 0, 0, 1u << LRA_HEAD_LOCAL},
        {"dist.mean.rel", 0.6, 0.7, 0.8, 1, 0, 0, 0},
        {"dist.mean.rel", 0.3, 0.4, 0.45, 1, 1u << LRA_HEAD_LOCAL, 1u << LRA_HEAD_LOCAL,
         1u << LRA_HEAD_LOCAL},
        {"dist.mean.rel", 1.05, 1.2, 1.35, 1, 0, 0, 1u << LRA_HEAD_FAR},
        {"entropy.rel", 0.94, 0.945, 0.96, NAN, 0, 0, 1u << LRA_HEAD_UNIFORM},
        {"sink.max", 0.4, 0.6, 0.7, 0.1, 1u << LRA_HEAD_SINK, 0, 1u << LRA_HEAD_SINK},
        {"tree.lift.class.parent", 0.9, 1.3, 1.7, 1, 0, 0, 1u << LRA_HEAD_TREE},
        {"share.content", 0.45, 0.55, 0.65, NAN, CONTENT, 0, CONTENT | POSITION},
        {"share.content", 0.55, 0.6, 0.65, NAN, CONTENT, CONTENT, CONTENT},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        lra_measurement f = share_of(cases[c].id, cases[c].value, cases[c].equal);
        f.lo = cases[c].lo, f.hi = cases[c].hi;
        lra_head_kinds_found k = lra_head_kinds(1, &f);
        if (k.is != cases[c].is || k.surely != cases[c].surely || k.perhaps != cases[c].perhaps)
            fail_msg("case %zu: %x %x %x", c, k.is, k.surely, k.perhaps);
    }
}
