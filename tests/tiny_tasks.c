/* Tiny tasks. */
#include "tests/tiny_tasks.h"

#include <math.h>

#include "datasets/prepare.h"
#include "kernels/base/mem.h"

enum { ROWS = 64, LONGEST = 12 };

static lra_rng rng_of(int split, int64_t row)
{
    return lra_rng_new((uint64_t)split + 1, 0x7E57, (uint64_t)row);
}

static int64_t rows_of(int split)
{
    return split == LRA_TRAIN_SPLIT ? ROWS : ROWS / 2;
}

static int make_class(const lra_config *c, lra_sequences split[LRA_N_SPLITS], lra_err *e)
{
    (void)c, (void)e;
    for (int s = 0; s < LRA_N_SPLITS; s++)
        for (int64_t i = 0; i < rows_of(s); i++) {
            lra_rng r = rng_of(s, i);
            uint16_t token[LONGEST];
            int64_t n = 3 + lra_rng_below(&r, LONGEST - 2);
            for (int64_t t = 0; t < n; t++) token[t] = (uint16_t)lra_rng_below(&r, 5);
            if (i % 2) token[lra_rng_below(&r, (uint32_t)n)] = 5;
            lra_sequences_add_tokens(&split[s], token, n, (int32_t)(i % 2));
        }
    return 0;
}

static int make_pair(const lra_config *c, lra_sequences split[LRA_N_SPLITS], lra_err *e)
{
    (void)c, (void)e;
    for (int s = 0; s < LRA_N_SPLITS; s++)
        for (int64_t i = 0; i < rows_of(s); i++) {
            lra_rng r = rng_of(s, i);
            uint16_t token[2 * LONGEST];
            int64_t first = 2 + lra_rng_below(&r, LONGEST - 2);
            int64_t n = first + 2 + lra_rng_below(&r, LONGEST - 2);
            int32_t half = (int32_t)lra_rng_below(&r, 2), label = (int32_t)(i % 2);
            for (int64_t t = 0; t < n; t++) {
                int32_t own = t < first || label ? half : 1 - half;
                token[t] = (uint16_t)(4 * own + (int32_t)lra_rng_below(&r, 4));
            }
            lra_row row = {.n = n, .width = 1, .token = token, .label = label, .middle = first};
            lra_sequences_add(&split[s], &row);
        }
    return 0;
}

/* Numbers, and targets of the row or of its steps. */
static void make_numbers(lra_sequences split[LRA_N_SPLITS], bool steps)
{
    for (int s = 0; s < LRA_N_SPLITS; s++)
        for (int64_t i = 0; i < rows_of(s); i++) {
            lra_rng r = rng_of(s, i);
            float value[LONGEST], target[LONGEST], sum = 0;
            lra_row row = {.n = 4 + lra_rng_below(&r, LONGEST - 3),
                           .width = 1,
                           .n_targets = 1,
                           .step_targets = steps,
                           .value = value,
                           .target = target};
            float mean = (float)(2 * lra_rng_u01(&r) - 1);
            for (int64_t t = 0; t < row.n; t++) {
                value[t] = mean + (float)(2 * lra_rng_u01(&r) - 1);
                sum += value[t];
                target[t] = t ? 2 * value[t] : NAN;
            }
            if (!steps) target[0] = 3 * sum / (float)row.n + 1;
            lra_sequences_add(&split[s], &row);
        }
}

static int make_value(const lra_config *c, lra_sequences split[LRA_N_SPLITS], lra_err *e)
{
    (void)c, (void)e;
    make_numbers(split, false);
    return 0;
}

static int make_steps(const lra_config *c, lra_sequences split[LRA_N_SPLITS], lra_err *e)
{
    (void)c, (void)e;
    make_numbers(split, true);
    return 0;
}

static int make_next(const lra_config *c, lra_sequences split[LRA_N_SPLITS], lra_err *e)
{
    (void)c, (void)e;
    for (int s = 0; s < LRA_N_SPLITS; s++) {
        uint16_t token[1024];
        int64_t n = s == LRA_TRAIN_SPLIT ? 1024 : 203;
        for (int64_t t = 0; t < n; t++) token[t] = (uint16_t)((t + s) % 5);
        lra_sequences_add_tokens(&split[s], token, n, 0);
    }
    return 0;
}

const lra_task tiny_tasks[] = {
    [LRA_GOAL_CLASS] = {.name = "tiny-class",
                        .steps = LONGEST,
                        .goal = LRA_GOAL_CLASS,
                        .n_classes = 2,
                        .vocab = 6,
                        .keys = NULL,
                        .make = make_class},
    [LRA_GOAL_PAIR] = {.name = "tiny-pair",
                       .steps = LONGEST,
                       .goal = LRA_GOAL_PAIR,
                       .n_classes = 2,
                       .vocab = 8,
                       .keys = NULL,
                       .make = make_pair},
    [LRA_GOAL_VALUE] = {.name = "tiny-value",
                        .steps = LONGEST,
                        .goal = LRA_GOAL_VALUE,
                        .n_targets = 1,
                        .channels = 1,
                        .level_scale = 1,
                        .keys = NULL,
                        .make = make_value},
    [LRA_GOAL_STEPS] = {.name = "tiny-steps",
                        .steps = LONGEST,
                        .goal = LRA_GOAL_STEPS,
                        .n_targets = 1,
                        .channels = 1,
                        .level_scale = 1,
                        .keys = NULL,
                        .make = make_steps},
    [LRA_GOAL_NEXT] = {.name = "tiny-next",
                       .longest = lra_longest_context,
                       .goal = LRA_GOAL_NEXT,
                       .metric = "perplexity",
                       .vocab = 5,
                       .keys = (const lra_key[]){LRA_INT_KEY("context", "8", 1, 64, ""),
                                                 LRA_KEYS_END},
                       .make = make_next},
};

lra_dataset *tiny_dataset(lra_goal goal)
{
    lra_err e;
    lra_config *c = lra_keys_config(tiny_tasks[goal].keys);
    lra_dataset *d = c ? lra_dataset_make(&tiny_tasks[goal], c, &e) : NULL;
    if (!d) LRA_BUG("%s", e.msg);
    lra_config_free(c);
    return d;
}
