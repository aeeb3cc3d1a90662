/* BIDMC: predicts the heart rate, the respiratory rate or the oxygen saturation of a patient. A row
 * has two signals (photoplethysmogram and electrocardiogram) of 32 s at 125 Hz: 4,000 tokens of two
 * numbers. The target is one real number. Inputs and targets are not scaled; targets are in
 * 1/minute and per cent.
 * Source: Pimentel et al. 2017 (signals); Tan et al. 2021 (series); as a task of long sequences,
 * Rusch and Mishra 2021, Gu et al. 2022.
 * Splits are those of Rusch and Mishra: 70, 15 and 15 % of all series drawn at random (not the
 * published training and test files). HR and SpO2 have 5,564 / 1,192 / 1,193 rows, RR 5,509 / 1,180
 * / 1,181. Series of one patient occur in all three splits.
 * --make writes synthetic series (bidmc_make.c); importing them prints a warning.
 * Known: predicting the mean of the training targets gives R2 = 0 on the training split, and about
 * 0 on the others. */
#include "datasets/formats/bidmc_file.h"

#include <math.h>

#include "datasets/bidmc.h"
#include "datasets/formats/bidmc_make.h"
#include "datasets/formats/signal_show.h"
#include "datasets/loader/split.h"
#include "kernels/base/core/mem.h"

void lra_bidmc_divide(int64_t n, int64_t *order, int64_t size[LRA_N_SPLITS])
{
    int64_t held = (int64_t)ceil(0.3 * (double)n);
    int64_t *first = lra_alloc_array((size_t)n + 1, sizeof *first);
    int64_t *second = lra_alloc_array((size_t)held + 1, sizeof *second);
    lra_split_numpy(0, n, first);
    lra_split_numpy(1, held, second);
    size[LRA_TEST_SPLIT] = (int64_t)ceil(0.5 * (double)held);
    size[LRA_VAL_SPLIT] = held - size[LRA_TEST_SPLIT];
    size[LRA_TRAIN_SPLIT] = n - held;
    int64_t at = 0;
    for (int64_t i = held; i < n; i++) order[at++] = first[i];
    for (int64_t i = size[LRA_TEST_SPLIT]; i < held; i++) order[at++] = first[second[i]];
    for (int64_t i = 0; i < size[LRA_TEST_SPLIT]; i++) order[at++] = first[second[i]];
    lra_free(first);
    lra_free(second);
}

static void add_rows(const lra_bidmc *b, const int64_t *order, int64_t n, int64_t wanted,
                     lra_sequences *to)
{
    int64_t taken = wanted && wanted < n ? wanted : n;
    for (int64_t k = 0; k < taken; k++) {
        int64_t i = order[lra_split_spaced(k, n, taken)];
        const lra_ts *t = &b->part[0];
        if (i >= t->n) i -= t->n, t++;
        lra_row row = {.n = t->length,
                       .width = t->dimensions,
                       .n_targets = 1,
                       .value = t->value + i * t->length * t->dimensions,
                       .target = &t->target[i]};
        lra_sequences_add(to, &row);
    }
}

static int import(const char *target, const lra_config *c, const char *folder, lra_dataset *d,
                  lra_err *e)
{
    lra_bidmc b = {.target = target};
    int rc = lra_bidmc_read(&b, folder, e);
    int64_t n = b.part[0].n + b.part[1].n, size[LRA_N_SPLITS];
    d->n_official[LRA_TRAIN_SPLIT] = b.made_up ? 0 : b.part[0].n;
    d->n_official[LRA_TEST_SPLIT] = b.made_up ? 0 : b.part[1].n;
    if (rc == 0 && n < 4)
        rc = lra_fail(e, "'%s' has %lld series, expected at least 4", folder, (long long)n);
    if (rc == 0) {
        int64_t *order = lra_alloc_array((size_t)n, sizeof *order), at = 0;
        lra_bidmc_divide(n, order, size);
        for (int s = 0; s < LRA_N_SPLITS; at += size[s++])
            add_rows(&b, order + at, size[s], lra_config_int(c, "rows"), &d->split[s]);
        lra_free(order);
    }
    lra_bidmc_free(&b);
    return rc;
}

static void resize(lra_config *c, int64_t n)
{
    lra_config_set_int(c, "rows", n);
}

static int inspect(const char *target, const char *folder, lra_facts *found, lra_err *e)
{
    static const char *const files[2] = {"training file", "test file"};
    lra_bidmc b = {.target = target};
    int rc = lra_bidmc_read(&b, folder, e);
    for (int p = 0; p < 2 && rc == 0; p++) {
        const lra_ts *t = &b.part[p];
        double least = t->target[0], most = least, sum = 0;
        for (int64_t i = 0; i < t->n; i++) {
            double y = (double)t->target[i];
            least = y < least ? y : least, most = y > most ? y : most, sum += y;
        }
        lra_facts_add(found, (double)t->n, "%s, series", files[p]);
        lra_facts_add(found, (double)t->n_missing, "%s, with missing values", files[p]);
        lra_facts_defect(found, t->n_damaged, "%s, damaged", files[p]);
        lra_facts_add(found, sum / (double)t->n, "%s, mean target", files[p]);
        lra_facts_add(found, least, "%s, smallest target", files[p]);
        lra_facts_add(found, most, "%s, largest target", files[p]);
    }
    lra_bidmc_free(&b);
    return rc;
}

/* ---- the tasks ------------------------------------------------------------------------------- */

static const lra_key keys[] = {LRA_ROWS_KEY("maximum number of rows of each split (0 = all)"),
                               LRA_KEYS_END};

#define BIDMC_TASK(symbol, task, kind, n_train, question)                                          \
    static int import_##symbol(const lra_config *c, const char *folder, lra_dataset *d,            \
                               lra_err *e)                                                         \
    {                                                                                              \
        return import(kind, c, folder, d, e);                                                      \
    }                                                                                              \
    static int hash_##symbol(const lra_config *c, const char *folder, lra_digest *to, lra_err *e)  \
    {                                                                                              \
        (void)c;                                                                                   \
        return lra_bidmc_hash(kind, folder, to, e);                                                \
    }                                                                                              \
    static int make_files_##symbol(const lra_config *c, const char *folder, bool again,            \
                                   lra_err *e)                                                     \
    {                                                                                              \
        return lra_bidmc_make(kind, lra_config_int(c, "rows"), folder, again, e);                  \
    }                                                                                              \
    static int inspect_##symbol(const lra_config *c, const char *folder, lra_facts *found,         \
                                lra_err *e)                                                        \
    {                                                                                              \
        (void)c;                                                                                   \
        return inspect(kind, folder, found, e);                                                    \
    }                                                                                              \
    const lra_task lra_task_##symbol = {                                                           \
        .name = task,                                                                              \
        .summary = question,                                                                       \
        .files.source = "BIDMC32" kind "_TRAIN.ts and BIDMC32" kind                                \
                        "_TEST.ts of the time series regression archive (tseregression.org)",      \
        .files.published = {n_train, 0, 2399},                                                     \
        .goal = LRA_GOAL_VALUE,                                                                    \
        .n_targets = 1,                                                                            \
        .data.steps = LRA_BIDMC_STEPS,                                                             \
        .input.channels = 2,                                                                       \
        .input.level_scale = 1,                                                                    \
        .keys = keys,                                                                              \
        .quick = {"rows=500", "batch=4 epochs=8 warmup=0.05 final-share=0.34 final-rate=0.1", 2},  \
        .small = {NULL, "batch=32 epochs=20 warmup=0.02", 2},                                      \
        .paper = {NULL, "batch=32 epochs=500", 3}, /* settings of the state-space papers */        \
        .files.import_keys = "rows",                                                               \
        .files.import = import_##symbol,                                                           \
        .files.import_hash = hash_##symbol,                                                        \
        .data.resize = resize,                                                                     \
        .files.make_files = make_files_##symbol,                                                   \
        .files.inspect = inspect_##symbol,                                                         \
        .text.show = lra_signal_show,                                                              \
    };

BIDMC_TASK(bidmc_hr, "bidmc-hr", "HR", 5550, "heart rate of a patient from two signals of 32 s")
BIDMC_TASK(bidmc_rr, "bidmc-rr", "RR", 5471,
           "respiratory rate of a patient from two signals of 32 s")
BIDMC_TASK(bidmc_spo2, "bidmc-spo2", "SpO2", 5550,
           "oxygen saturation of a patient from two signals of 32 s")
