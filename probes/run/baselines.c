/* Baselines of a result (baselines.h). */
#include "probes/run/baselines.h"

#include "kernels/base/core/mem.h"
#include "probes/run/symbols.h"

/* Adds baselines that need no model: n-gram classifiers, counted on the training rows and evaluated
 * on every test row. */
static void add_ngrams(const lra_dataset *d, lra_result *out)
{
    lra_coding by;
    lra_coded train;
    const lra_sequences *test = &d->split[LRA_TEST_SPLIT];
    int64_t longest = 0;
    for (int64_t i = 0; i < test->n; i++)
        if (test->start[i + 1] - test->start[i] > longest)
            longest = test->start[i + 1] - test->start[i];
    uint8_t *symbol = lra_alloc((size_t)longest + 1);
    lra_coding_of(d, &by);
    lra_code(d, &by, LRA_TRAIN_SPLIT, LRA_COUNT_STEPS, false, &train);
    for (int w = 0; w < LRA_NGRAM_WIDTHS && out->n_baselines < LRA_MAX_BASELINES; w++) {
        int n = lra_ngram_widths[w], b = out->n_baselines++;
        lra_ngram *g = lra_ngram_new(n, d->task->n_classes, &train.rows, train.label);
        out->baseline_name[b] = lra_format("ngram-%d", n);
        out->baseline[b] = lra_alloc_array((size_t)test->n + 1, sizeof(int32_t));
        for (int64_t i = 0; i < test->n; i++) {
            int64_t steps = lra_code_row(d, &by, LRA_TEST_SPLIT, i, symbol);
            out->baseline[b][i] = lra_ngram_predict(g, steps, symbol);
        }
        lra_ngram_free(g);
    }
    lra_free(symbol);
    lra_coded_free(&train);
    lra_coding_free(&by);
}

/* Adds the baselines that the task provides. */
static void add_own(const lra_dataset *d, lra_result *out)
{
    const lra_sequences *train = &d->split[LRA_TRAIN_SPLIT], *test = &d->split[LRA_TEST_SPLIT];
    for (int b = 0; d->task->baseline && d->task->n_classes && b < LRA_MAX_BASELINES; b++) {
        int32_t *predicted = lra_alloc_array((size_t)test->n, sizeof *predicted);
        const char *name = d->task->baseline(b, train, test, predicted);
        if (!name) {
            lra_free(predicted);
            return;
        }
        out->baseline_name[b] = lra_copy_text(name);
        out->baseline[b] = predicted;
        out->n_baselines = b + 1;
    }
}

void lra_add_baselines(const lra_dataset *d, lra_result *out)
{
    add_own(d, out);
    if (out->n_classes <= LRA_NGRAM_CLASSES) add_ngrams(d, out);
}
