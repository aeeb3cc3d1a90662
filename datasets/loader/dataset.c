/* The prepared data of a task: allocation and freeing. */
#include "datasets/loader/dataset.h"

#include "kernels/base/core/mem.h"

lra_dataset *lra_dataset_new(const lra_task *t)
{
    lra_dataset *d = lra_alloc(sizeof *d);
    d->task = lra_task_record(t), d->vocab = t->input.vocab;
    return d;
}

void lra_dataset_free(lra_dataset *d)
{
    if (!d) return;
    for (int s = 0; s < LRA_N_SPLITS; s++) lra_sequences_free(&d->split[s]);
    lra_config_free(d->config);
    lra_config_free(d->resolved);
    lra_free(d->properties);
    lra_free(d->name);
    lra_arena_free(d->arena);
    lra_free(d->words);
    lra_free(d->scale);
    lra_free(d->shift);
    lra_free(d->positions);
    lra_free(d);
}

void lra_dataset_rename(lra_dataset *d, const char *name)
{
    if (!d->own) LRA_BUG("task '%s' has one name", d->task->name);
    char *copy = lra_copy_text(name);
    lra_free(d->name);
    d->name = copy, d->own->name = copy;
}

int64_t lra_dataset_grid(const lra_dataset *d)
{
    int64_t side = 0;
    while (d->task->input.image && side * side < d->max_length) side++;
    return side;
}
