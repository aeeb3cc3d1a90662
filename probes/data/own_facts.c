/* Collects facts about own data. */
#include "probes/data/own_facts.h"

#include <stdlib.h>

#include "datasets/own/own.h"
#include "kernels/base/core/mem.h"
#include "probes/run/symbols.h"

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void add_lengths(const lra_dataset *d, lra_facts *found)
{
    const lra_sequences *r = &d->split[LRA_TRAIN_SPLIT];
    int64_t *all = lra_alloc_array((size_t)r->n + 1, sizeof *all);
    for (int64_t i = 0; i < r->n; i++) all[i] = lra_sequences_length(r, i);
    qsort(all, (size_t)r->n, sizeof *all, ascending);
    if (r->n) {
        lra_facts_add(found, (double)all[0], "train, shortest input (tokens)");
        lra_facts_add(found, (double)all[r->n / 2], "train, median length (tokens)");
        lra_facts_add(found, (double)all[r->n - 1], "train, longest input (tokens)");
    }
    lra_free(all);
}

static void add_classes(const lra_dataset *d, lra_facts *found)
{
    const lra_sequences *r = &d->split[LRA_TRAIN_SPLIT];
    int C = d->task->n_classes, missing = 0;
    if (C == 0) return;
    int64_t *count = lra_alloc_array((size_t)C, sizeof *count), least = 0, most = 0;
    for (int64_t i = 0; i < r->n; i++) count[r->label[i]]++;
    for (int k = 0; k < C; k++) {
        missing += count[k] == 0;
        most = count[k] > most ? count[k] : most;
        least = k == 0 || count[k] < least ? count[k] : least;
    }
    lra_facts_add(found, C, "classes");
    lra_facts_add(found, (double)most, "train, rows of the largest class");
    lra_facts_add(found, (double)least, "train, rows of the smallest class");
    lra_facts_defect(found, missing, "classes without a training row");
    lra_free(count);
}

static void add_accuracy(const lra_sequences *test, const int32_t *predicted, const char *name,
                         lra_facts *found)
{
    int64_t right = 0;
    for (int64_t i = 0; i < test->n; i++) right += predicted[i] == test->label[i];
    lra_facts_add(found, test->n ? 100 * (double)right / (double)test->n : 0,
                  "test, baseline %s, accuracy (%%)", name);
}

static void add_ngrams(const lra_dataset *d, int32_t *predicted, lra_facts *found)
{
    const lra_sequences *test = &d->split[LRA_TEST_SPLIT];
    lra_coding by;
    lra_coded train;
    uint8_t *symbol = lra_alloc((size_t)d->longest + 1);
    lra_coding_of(d, &by);
    lra_code(d, &by, LRA_TRAIN_SPLIT, LRA_COUNT_STEPS, false, &train);
    for (int w = 0; w < LRA_NGRAM_WIDTHS; w++) {
        char name[24];
        lra_ngram *g = lra_ngram_new(lra_ngram_widths[w], d->task->n_classes, &train.rows,
                                     train.label);
        for (int64_t i = 0; i < test->n; i++) {
            int64_t n = lra_code_row(d, &by, LRA_TEST_SPLIT, i, symbol);
            predicted[i] = lra_ngram_predict(g, n, symbol);
        }
        lra_ngram_free(g);
        snprintf(name, sizeof name, "ngram-%d", lra_ngram_widths[w]);
        add_accuracy(test, predicted, name, found);
    }
    lra_coded_free(&train);
    lra_coding_free(&by);
    lra_free(symbol);
}

static void add_baselines(const lra_dataset *d, lra_facts *found)
{
    const lra_sequences *train = &d->split[LRA_TRAIN_SPLIT], *test = &d->split[LRA_TEST_SPLIT];
    const char *name;
    if (!d->task->baseline) return;
    int32_t *predicted = lra_alloc_array((size_t)test->n + 1, sizeof *predicted);
    for (int b = 0; (name = d->task->baseline(b, train, test, predicted)) != NULL; b++)
        add_accuracy(test, predicted, name, found);
    if (d->task->n_classes <= LRA_NGRAM_CLASSES) add_ngrams(d, predicted, found);
    lra_free(predicted);
}

void lra_data_own_facts(const lra_dataset *d, lra_facts *found)
{
    lra_own own;
    lra_err e;
    if (!d->own) return;
    if (lra_own_parse(d->properties, &own, &e) != 0) LRA_BUG("%s", e.msg);
    add_lengths(d, found);
    add_classes(d, found);
    add_baselines(d, found);
    lra_facts_add(found, (double)own.n_repeated, "examples with the input of an earlier one");
    lra_facts_add(found, (double)own.n_truncated, "inputs truncated to the length limit");
    lra_facts_defect(found, own.n_contradicted, "examples, input also with another label");
    lra_facts_defect(found, own.n_empty, "texts, empty");
    lra_own_free(&own);
}
