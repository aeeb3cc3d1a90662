/* labels: slow timeout: 300 */
/* Simulation of the rule that excludes failed seeds. It must not exclude seeds if none failed
 * (ladders at chance, of weakly and of well learned tasks), the intervals of differences must then
 * contain the true value, and it must detect seeds that failed.
 * Every rung has seeds of its own, whose accuracies have a standard deviation of 0.3 or 1.3 points;
 * examples differ in difficulty and are shared by all rungs and seeds. */
#include "tests/fixtures/test.h"

#include <math.h>

#include "analysis/ladder.h"
#include "kernels/base/core/philox.h"

enum { RUNGS = 5, MOST_SEEDS = 12, MOST_EXAMPLES = 2000, T = 64, LADDERS = 400 };
static const int64_t reach[RUNGS] = {4, 8, 16, 32, T};
static uint8_t right[RUNGS][MOST_SEEDS][MOST_EXAMPLES], guess[MOST_EXAMPLES];

/* A kind of ladder: true accuracies of the rungs, chance, and the probability that a seed stays at
 * chance. */
typedef struct {
    const char *name;
    double accuracy[RUNGS], chance, failing;
} design;

typedef struct {
    int ladders, alarms, failed, found, held;
    double seed_sd;
} score;

static double normal(lra_rng *r)
{
    double x, y;
    uint32_t first = lra_rng_u32(r);
    lra_normal2(first, lra_rng_u32(r), &x, &y);
    return x;
}

/* Draws ladder number `key`. The ladder and each of its seeds have random streams of their own. */
static void draw(const design *c, int64_t n, double sd, uint64_t key, int n_seeds,
                 bool fails[RUNGS][MOST_SEEDS], lra_ladder_data *d)
{
    static double easy[MOST_EXAMPLES];
    lra_rng rng = lra_rng_new(key, 1, 0);
    for (int64_t i = 0; i < n; i++) easy[i] = 0.2 * c->chance * (2 * lra_rng_u01(&rng) - 1);
    for (int64_t i = 0; i < n; i++) guess[i] = lra_rng_u01(&rng) < c->chance;
    *d = (lra_ladder_data){
        .n_rungs = RUNGS, .n_seeds = n_seeds, .n = n, .T = T, .chance_correct = guess};
    for (int r = 0; r < RUNGS; r++) {
        d->rung[r] = (lra_rung){.kernel = r, .reach = reach[r]};
        for (int s = 0; s < n_seeds; s++) {
            lra_rng own = lra_rng_new(key, 2, (uint64_t)(r * MOST_SEEDS + s));
            fails[r][s] = lra_rng_u01(&own) < c->failing;
            double level = fails[r][s] ? c->chance : c->accuracy[r] + sd * normal(&own);
            for (int64_t i = 0; i < n; i++) right[r][s][i] = lra_rng_u01(&own) < level + easy[i];
            d->rung[r].correct[s] = right[r][s];
        }
    }
}

static void judge(const design *c, const lra_ladder *l, int n_seeds, bool fails[RUNGS][MOST_SEEDS],
                  score *to)
{
    bool alarm = false;
    double truth = c->accuracy[RUNGS - 1] - c->accuracy[0];
    for (int r = 0; r < RUNGS; r++)
        for (int s = 0; s < n_seeds; s++) {
            bool dropped = !l->row[r].learned[s];
            alarm = alarm || (dropped && !fails[r][s]);
            to->failed += fails[r][s], to->found += dropped && fails[r][s];
        }
    const lra_estimate *x = &l->widest_minus_narrowest;
    to->held += x->lo <= truth && truth <= x->hi;
    to->alarms += alarm;
    to->ladders++;
}

static score run(const design *c, int64_t n, double sd, int n_seeds)
{
    score to = {.seed_sd = sd};
    bool fails[RUNGS][MOST_SEEDS];
    for (int k = 0; k < LADDERS; k++) {
        lra_ladder_data d;
        lra_ladder l;
        draw(c, n, sd, (uint64_t)(k + 1000 * n_seeds), n_seeds, fails, &d);
        assert_int_equal(lra_ladder_compute(&d, &l), LRA_LADDER_OK);
        judge(c, &l, n_seeds, fails, &to);
    }
    print_message("%-22s %5d examples %2d seeds, sd %.1f: false alarms %4.1f %%, found %5.1f %% of "
                  "%d, difference held %5.1f %%\n",
                  c->name, (int)n, n_seeds, 100 * sd, 100.0 * to.alarms / to.ladders,
                  to.failed ? 100.0 * to.found / to.failed : 0, to.failed,
                  100.0 * to.held / to.ladders);
    return to;
}

static const int seeds[] = {3, 5, MOST_SEEDS};
static const double spread[] = {0.003, 0.013};

/* Returns two standard errors of a share of LADDERS ladders. */
static double error_of(double share)
{
    return 2 * sqrt(share * (1 - share) / LADDERS);
}

TEST(no_seed_is_dropped_that_did_not_fail)
{
    static const design list[] = {{"at chance, 2 classes", {0.5, 0.5, 0.5, 0.5, 0.5}, 0.5, 0},
                                  {"at chance, 10 classes", {0.1, 0.1, 0.1, 0.1, 0.1}, 0.1, 0},
                                  {"weak", {0.51, 0.515, 0.52, 0.53, 0.54}, 0.5, 0},
                                  {"weak, late", {0.1, 0.1, 0.1, 0.11, 0.14}, 0.1, 0},
                                  {"learned", {0.3, 0.4, 0.5, 0.55, 0.6}, 0.1, 0}};
    for (size_t c = 0; c < sizeof list / sizeof *list; c++)
        for (int k = 0; k < 12; k++) {
            int64_t n = k < 6 ? 500 : MOST_EXAMPLES;
            score x = run(&list[c], n, spread[k % 2], seeds[k / 2 % 3]);
            double alarms = (double)x.alarms / x.ladders, held = (double)x.held / x.ladders;
            if (alarms > 0.04 + error_of(0.04))
                fail_msg("%.1f %% of ladders lose a healthy seed", 100 * alarms);
            if (held < 0.93 - error_of(0.93) || held > 0.995 + error_of(0.995))
                fail_msg("%.1f %% of differences hold the truth", 100 * held);
        }
}

TEST(failed_seeds_are_found)
{
    static const design list[] = {
        {"a fifth fails", {0.45, 0.5, 0.55, 0.58, 0.6}, 0.1, 0.2},
        {"a fifth fails, 2 classes", {0.7, 0.75, 0.8, 0.85, 0.9}, 0.5, 0.2},
        {"a third fails", {0.45, 0.5, 0.55, 0.58, 0.6}, 0.1, 0.33}};
    for (size_t c = 0; c < sizeof list / sizeof *list; c++)
        for (int k = 0; k < 6; k++) {
            score x = run(&list[c], MOST_EXAMPLES, spread[k % 2], seeds[k / 2]);
            double found = (double)x.found / x.failed, alarms = (double)x.alarms / x.ladders;
            assert_true(alarms <= 0.04 + error_of(0.04));
            if (found < (seeds[k / 2] == 3 ? 0.27 : 0.64)) fail_msg("%.1f %% found", 100 * found);
        }
}
