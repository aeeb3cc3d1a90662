/* Computes the chance level: the metric of the best constant prediction. */
#include "datasets/loader/chance.h"

#include <math.h>
#include <string.h>

/* Sums over all targets of a split that are not NAN: the numbers, their squares, and their squared
 * distances to `mean` (as the loss). */
static lra_sums target_sums(const lra_sequences *r, double mean)
{
    lra_sums s = {0};
    int64_t n = (r->step_targets && r->n ? r->start[r->n] : r->n) * r->n_targets;
    for (int64_t i = 0; i < n; i++) {
        double y = (double)r->target[i];
        if (isnan(y)) continue;
        s.n++;
        s.target += y;
        s.square += y * y;
        s.loss += (y - mean) * (y - mean);
    }
    return s;
}

double lra_dataset_chance(const lra_dataset *d, int split)
{
    const lra_task *t = d->task;
    const lra_metric *m = lra_task_metric(t);
    lra_sums s = {.n = 1, .loss = log((double)d->vocab)};
    int32_t label;
    switch (t->goal) {
    case LRA_GOAL_CLASS:
    case LRA_GOAL_PAIR: return lra_sequences_majority(&d->split[split], t->n_classes, &label);
    case LRA_GOAL_VALUE:
    case LRA_GOAL_TOKENS:
        s = target_sums(&d->split[LRA_TRAIN_SPLIT], 0);
        s = target_sums(&d->split[split], s.n ? s.target / (double)s.n : 0);
        break;
    case LRA_GOAL_NEXT: break;
    }
    /* R2 of a constant is 0 by definition; the training mean would give slightly less on another
     * split. */
    return strcmp(m->name, "r2") == 0 ? 0 : m->value(&s);
}

double lra_dataset_mean_target(const lra_dataset *d, int j)
{
    const lra_sequences *r = &d->split[LRA_TRAIN_SPLIT];
    int64_t rows = r->step_targets && r->n ? r->start[r->n] : r->n, n = 0;
    double sum = 0;
    for (int64_t i = 0; i < rows; i++) {
        double y = (double)r->target[i * r->n_targets + j];
        if (isnan(y)) continue;
        sum += y;
        n++;
    }
    return n ? sum / (double)n : 0;
}
