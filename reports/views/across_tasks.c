/* Adds means over tasks as notes of a table (across_tasks.h). */
#include "reports/views/across_tasks.h"

#include <math.h>
#include <string.h>

#include "kernels/base/os/file.h"

void lra_across_tasks_add(lra_across_tasks *a, const char *task, lra_sample *sample, int r)
{
    for (int i = 0; i < a->n; i++) a->twice = a->twice || strcmp(a->name[i], task) == 0;
    if (a->twice || a->n == LRA_ACROSS_MOST) {
        a->twice = true;
        lra_sample_free(sample);
        return;
    }
    a->name[a->n] = task, a->sample[a->n] = sample, a->series[a->n] = r;
    a->n++;
}

void lra_across_tasks_note(lra_table *t, const char *identity, lra_across_tasks *a)
{
    lra_task_value task[LRA_ACROSS_MOST];
    for (int i = 0; i < a->n; i++) task[i] = (lra_task_value){a->sample[i], a->series[i]};
    if (a->n > 1 && !a->twice) {
        lra_estimate x = lra_mean_over_tasks(a->n, task);
        lra_table_note(t, "mean over %d tasks\t%s %.2f %% (%.2f to %.2f)", a->n, identity,
                       100 * x.value, 100 * x.lo, 100 * x.hi);
        x = lra_iqm_over_tasks(a->n, task, lra_hash64(identity, strlen(identity)), LRA_REPLICATES);
        if (!isnan(x.value))
            lra_table_note(t, "interquartile mean over %d tasks\t%s %.2f %% (%.2f to %.2f)", a->n,
                           identity, 100 * x.value, 100 * x.lo, 100 * x.hi);
    }
    for (int i = 0; i < a->n; i++) lra_sample_free(a->sample[i]);
    a->n = 0;
}
