/* The registry of tasks, in the order of datasets.def. */
#include "datasets/registry.h"

#include <string.h>

#include "kernels/base/core/nearest.h"

static const lra_task *const registry[] = {
#define LRA_TASK(name) &lra_task_##name,
#include "datasets/datasets.def"
#undef LRA_TASK
};
enum { N_TASKS = sizeof registry / sizeof *registry };

const lra_task *lra_task_at(int i)
{
    return i >= 0 && i < N_TASKS ? registry[i] : NULL;
}

const lra_task *lra_task_find(const char *name, lra_err *e)
{
    const char *names[N_TASKS];
    for (int i = 0; i < N_TASKS; i++) {
        names[i] = registry[i]->name;
        if (strcmp(names[i], name) == 0) return registry[i];
    }
    lra_fail_unknown(e, "task", name, N_TASKS, names, "lra-probe list tasks");
    return NULL;
}
