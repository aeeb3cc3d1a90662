/* Computes values from a result: right predictions, chance, baselines. */
#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/results/result.h"
#include "reports/results/baseline_kind.h"

/* (n) 1 if the largest of the C logits of a row is that of its label. */
static uint8_t *correct(int64_t n, int64_t C, const float *logits, const int32_t *label)
{
    uint8_t *right = lra_alloc((size_t)n + 1);
    for (int64_t i = 0; i < n; i++) {
        const float *row = logits + i * C;
        int64_t best = 0;
        for (int64_t c = 1; c < C; c++)
            if (row[c] > row[best]) best = c;
        right[i] = best == label[i];
    }
    return right;
}

uint8_t *lra_result_correct(const lra_result *r)
{
    return correct(r->n, r->n_classes, r->logits, r->label);
}

uint8_t *lra_result_val_correct(const lra_result *r)
{
    return r->n_val ? correct(r->n_val, r->n_classes, r->val_logits, r->val_label) : NULL;
}

double lra_result_val_value(const lra_result *r)
{
    uint8_t *right = lra_result_val_correct(r);
    int64_t n = 0;
    for (int64_t i = 0; i < r->n_val; i++) n += right[i];
    lra_free(right);
    if (r->n_val) return (double)n / (double)r->n_val;
    if (r->training.best_epoch < 1 || r->training.best_epoch > r->n_epochs) return NAN;
    return r->history[(r->training.best_epoch - 1) * LRA_HISTORY_COLUMNS + LRA_HISTORY_VAL_VALUE];
}

const lra_metric *lra_result_metric(const lra_result *r)
{
    return r->metric ? r->metric : lra_metric_at(0);
}

lra_sums *lra_result_rows(const lra_result *r)
{
    lra_sums *row = lra_alloc_array((size_t)r->n + 1, sizeof *row);
    if (r->row) return memcpy(row, r->row, (size_t)r->n * sizeof *row);
    uint8_t *right = lra_result_correct(r);
    for (int64_t i = 0; i < r->n; i++) row[i] = (lra_sums){.n = 1, .right = right[i]};
    lra_free(right);
    return row;
}

int32_t lra_result_common_label(const lra_result *r, bool *of_training)
{
    *of_training = true;
    for (int b = 0; b < r->n_baselines; b++)
        if (lra_baseline_of(r->baseline_name[b]).kind == LRA_BASELINE_CONSTANT && r->n)
            return r->baseline[b][0];
    int64_t *count = lra_alloc_array((size_t)r->n_classes + 1, sizeof *count);
    int32_t most = 0;
    for (int64_t i = 0; i < r->n; i++) count[r->label[i]]++;
    for (int32_t c = 1; c < r->n_classes; c++)
        if (count[c] > count[most]) most = c;
    lra_free(count);
    *of_training = false;
    return most;
}

double lra_result_chance(const lra_result *r)
{
    if (r->n_classes == 0) return r->chance;
    bool of_training;
    int32_t common = lra_result_common_label(r, &of_training);
    int64_t n = 0;
    for (int64_t i = 0; i < r->n; i++) n += r->label[i] == common;
    return r->n ? (double)n / (double)r->n : 0;
}

double lra_result_baseline_accuracy(const lra_result *r, const char *name)
{
    for (int b = 0; b < r->n_baselines; b++) {
        if (strcmp(r->baseline_name[b], name) != 0) continue;
        int64_t right = 0;
        for (int64_t i = 0; i < r->n; i++) right += r->baseline[b][i] == r->label[i];
        return (double)right / (double)r->n;
    }
    return -1;
}

bool lra_result_counted(const char *baseline)
{
    return lra_baseline_of(baseline).kind == LRA_BASELINE_NGRAM;
}

const char *lra_result_simple_baseline(const lra_result *r, double *accuracy)
{
    const char *best = NULL;
    for (int b = 0; b < r->n_baselines; b++) {
        const char *name = r->baseline_name[b];
        if (lra_baseline_of(name).kind != LRA_BASELINE_TASK) continue;
        double a = lra_result_baseline_accuracy(r, name);
        if (best && a <= *accuracy) continue;
        best = name;
        *accuracy = a;
    }
    return best;
}
