/* Lifts over content-blind heads: uniform, fixed-lag and exponential heads have a lift of 1.0000,
 * and heads that weight keys by the class of their tokens have no lift within classes. Heads that
 * attend to parents or siblings are detected; noisy content-blind heads are not classified as tree
 * heads. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/content_blind.h"
#include "analysis/head_kind.h"
#include "datasets/listops/tree.h"
#include "kernels/base/core/philox.h"
#include "probes/attention/relations.h"
#include "tests/fixtures/sanitized.h"

enum { MOST = 48, EXAMPLES = 60 };

/* ---- expressions ----------------------------------------------------------------------------- */

typedef struct {
    int n;
    int32_t token[MOST];
} expression;

/* Appends a random expression of at most `depth` levels; nested ones only as long as the array has
 * room. */
static void grow(expression *e, lra_rng *rng, int depth)
{
    bool leaf = depth == 0 || e->n > MOST / 2 || lra_rng_below(rng, 3) == 0;
    if (leaf) {
        e->token[e->n++] = LISTOPS_DIGIT + (int32_t)lra_rng_below(rng, 10);
        return;
    }
    e->token[e->n++] = LISTOPS_MIN + (int32_t)lra_rng_below(rng, 4);
    int arguments = 2 + (int)lra_rng_below(rng, 3);
    for (int k = 0; k < arguments && e->n < MOST - 12; k++) grow(e, rng, depth - 1);
    e->token[e->n++] = LISTOPS_CLOSE;
}

static expression draw_expression(lra_rng *rng)
{
    expression e;
    do {
        e.n = 0;
        e.token[e.n++] = LISTOPS_MIN + (int32_t)lra_rng_below(rng, 4);
        for (int k = 0; k < 3; k++) grow(&e, rng, 2);
        e.token[e.n++] = LISTOPS_CLOSE;
    } while (e.n < 8);
    return e;
}

static uint8_t class_of(int32_t token)
{
    return token >= LISTOPS_MIN ? 0 : token >= LISTOPS_DIGIT ? 1 : 2;
}

/* ---- heads ----------------------------------------------------------------------------------- */

typedef struct {
    double tau; /* weights decay as exp(-|lag| / tau); 0: equal weights */
    int lag;    /* the only lag with weight; 0: all lags have weight */
    bool causal;
    double of_class; /* factor of the weight of keys that are brackets */
    double noise;    /* half width of the uniform noise of the logarithms of weights */
    int related;     /* relation in the tree whose keys have `times` the weight; -1: none */
    double times;
} head;

static double weight_of(const head *h, const lra_tree *t, const expression *e, int i, int j,
                        lra_rng *rng)
{
    double w = h->tau > 0 ? exp(-fabs((double)(i - j)) / h->tau) : 1;
    if (h->lag) w = i - j == h->lag ? 1 : 1e-3;
    if (class_of(e->token[j]) == 2) w *= h->of_class;
    if (h->related >= 0 && lra_tree_is(t, (lra_relation)h->related, i, j)) w *= h->times;
    return h->noise > 0 ? w * exp(h->noise * (2 * lra_rng_u01(rng) - 1)) : w;
}

static void add_example(lra_blind *b, const head *h, const expression *e, lra_rng *rng)
{
    lra_tree t = lra_tree_new(e->token, e->n);
    uint8_t class[MOST], allowed[MOST];
    for (int j = 0; j < e->n; j++) class[j] = class_of(e->token[j]);
    lra_blind_example(b, e->n, class);
    for (int i = 0; i < e->n; i++) {
        double w[MOST], sum = 0;
        for (int j = 0; j < e->n; j++) {
            allowed[j] = !h->causal || j <= i;
            sum += w[j] = allowed[j] ? weight_of(h, &t, e, i, j, rng) : 0;
        }
        for (int j = 0; j < e->n; j++) w[j] /= sum;
        lra_blind_row(b, i, w, allowed);
        for (int r = 0; r < LRA_RELATIONS; r++) {
            int32_t key[MOST];
            int n = 0;
            for (int j = 0; j < e->n; j++)
                if (allowed[j] && lra_tree_is(&t, (lra_relation)r, i, j)) key[n++] = j;
            if (n > 0) lra_blind_related(b, r, n, key);
        }
    }
    lra_tree_free(&t);
}

/* Measures the lift of every relation, without and with classes of keys. */
static void measure(const head *h, uint64_t set, lra_measurement plain[LRA_RELATIONS],
                    lra_measurement by_class[LRA_RELATIONS])
{
    lra_rng rng = lra_rng_new(21, 4, set);
    lra_blind *b = lra_blind_new();
    for (int e = 0; e < EXAMPLES; e++) {
        expression x = draw_expression(&rng);
        add_example(b, h, &x, &rng);
    }
    lra_blind_lifts(b, false, LRA_RELATIONS, plain);
    lra_blind_lifts(b, true, LRA_RELATIONS, by_class);
    lra_blind_free(b);
    for (int r = 0; r < LRA_RELATIONS; r++)
        snprintf(by_class[r].id, sizeof by_class[r].id, "tree.lift.class.%s",
                 lra_relation_names[r]);
}

static bool is_tree(const lra_measurement by_class[LRA_RELATIONS])
{
    return lra_head_kinds(LRA_RELATIONS, by_class).is >> LRA_HEAD_TREE & 1;
}

static const head content_blind[] = {{.related = -1, .of_class = 1},
                                     {.related = -1, .of_class = 1, .causal = true},
                                     {.related = -1, .of_class = 1, .lag = 3},
                                     {.related = -1, .of_class = 1, .lag = 1, .causal = true},
                                     {.related = -1, .of_class = 1, .tau = 2},
                                     {.related = -1, .of_class = 1, .tau = 9, .causal = true}};
enum { BLIND = sizeof content_blind / sizeof *content_blind };

TEST(content_blind_heads_have_none)
{
    for (int k = 0; k < BLIND; k++) {
        lra_measurement plain[LRA_RELATIONS], by_class[LRA_RELATIONS];
        measure(&content_blind[k], 1, plain, by_class);
        for (int r = 0; r < LRA_RELATIONS; r++) {
            if (!(fabs(plain[r].value - 1) < 5e-5) || !(fabs(by_class[r].value - 1) < 2e-3))
                fail_msg("head %d, %s: %.6f, by class %.6f", k, lra_relation_names[r],
                         plain[r].value, by_class[r].value);
            assert_true(plain[r].null[LRA_NULL_UNIFORM] == 1);
        }
        assert_false(is_tree(by_class));
    }
}

/* Brackets have eight times the weight: brackets have a lift, but none within their class. */
TEST(classes_of_keys_are_no_tree)
{
    const head h = {.related = -1, .of_class = 8, .tau = 6};
    lra_measurement plain[LRA_RELATIONS], by_class[LRA_RELATIONS];
    measure(&h, 2, plain, by_class);
    assert_true(plain[LRA_BRACKET].value > 1.05);
    for (int r = 0; r < LRA_RELATIONS; r++) assert_true(fabs(by_class[r].value - 1) < 1e-3);
    assert_false(is_tree(by_class));
}

TEST(tree_heads_are_found)
{
    for (int r = 0; r < LRA_RELATIONS; r++) {
        const head h = {.related = r, .times = 8, .of_class = 1, .tau = 10, .noise = 0.5};
        lra_measurement plain[LRA_RELATIONS], by_class[LRA_RELATIONS];
        measure(&h, 3, plain, by_class);
        if (!is_tree(by_class) || !(by_class[r].lo > 1.05) || !(plain[r].lo > 1.05))
            fail_msg("%s: %.3f, by class %.3f (%.3f to %.3f)", lra_relation_names[r],
                     plain[r].value, by_class[r].value, by_class[r].lo, by_class[r].hi);
    }
}

/* The weights of the heads vary from row to row at random, independent of the tokens. */
TEST(noise_is_no_tree)
{
    enum { SETS = sanitized ? 2 * BLIND : 60 };
    int found = 0;
    for (int s = 0; s < SETS; s++) {
        head h = content_blind[s % BLIND];
        lra_measurement plain[LRA_RELATIONS], by_class[LRA_RELATIONS];
        h.noise = 2;
        measure(&h, 100 + (uint64_t)s, plain, by_class);
        found += is_tree(by_class);
    }
    if (found > 3) fail_msg("%d of %d content-blind heads are called tree", found, (int)SETS);
}
