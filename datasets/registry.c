/* The registry of tasks, in the order of datasets.def. */
#include "datasets/registry.h"

#include <string.h>

#include "kernels/base/core/nearest.h"

static const lra_task *const registry[] = {
#define LRA_TASK(name) &lra_task_##name,
#include "datasets/datasets.def"
#undef LRA_TASK
};
enum { N_TASKS = sizeof registry / sizeof *registry, MAX_NAME = 58 };

const lra_task *lra_task_at(int i)
{
    return i >= 0 && i < N_TASKS ? registry[i] : NULL;
}

/* Checks the part of the name of own data after "file:", which begins at `from`. */
static int check_own(const char *name, size_t from, lra_err *e)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_.+-";
    size_t n = strlen(name + from);
    if (n && n <= MAX_NAME && strspn(name + from, letters) == n && name[from] != '-') return 0;
    return lra_fail_usage(e,
                          "the name of own data is '%.80s', expected at most %d of a-z, 0-9 and "
                          "_.+-",
                          name + from, (int)MAX_NAME);
}

const lra_task *lra_task_find(const char *name, lra_err *e)
{
    const char *names[N_TASKS];
    for (int i = 0; i < N_TASKS; i++) {
        names[i] = registry[i]->name;
        if (strcmp(names[i], name) == 0) return registry[i];
        size_t n = strlen(names[i]);
        if (registry[i]->resolve && strncmp(name, names[i], n) == 0 && name[n] == ':')
            return check_own(name, n + 1, e) == 0 ? registry[i] : NULL;
    }
    lra_fail_unknown(e, "task", name, N_TASKS, names, "lra-probe list tasks");
    return NULL;
}
