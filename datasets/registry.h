/* All tasks. To add one: a file with the task's name, and one line in datasets.def. */
#ifndef LRA_DATASETS_REGISTRY_H
#define LRA_DATASETS_REGISTRY_H

#include "datasets/loader/task.h"

#define LRA_TASK(name) extern const lra_task lra_task_##name;
#include "datasets/datasets.def"
#undef LRA_TASK
const lra_task *lra_task_at(int i); /* NULL after the last */
/* Finds a task by name. "file:NAME" is the task `file`; NAME is the name of the data. */
const lra_task *lra_task_find(const char *name, lra_err *e);

#endif
