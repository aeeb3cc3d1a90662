/* Training techniques of the papers.
 *
 * Sources: the locality paper (its section on training techniques, and the numbers of epochs in its
 * tables 5 to 7); arXiv:2310.02980. */
#include "probes/run/technique.h"

#include <string.h>

/* Three training sets with 67 epochs have as many steps as one set with 200 epochs. */
static const lra_technique techniques[] = {
    {"locality", "listops", "operand shuffling", "augment=1"},
    {"locality", "image", "augmentation by a policy derived from AutoAugment", "augment=1"},
    {"locality", "pathfinder", "training on the easy, intermediate and hard sets",
     "sets=three epochs=67"},
    {"locality", "text retrieval", "multitask denoising", "objective=denoise mask=0.3"},
    {"spt", NULL, "self-pretraining", NULL},
};
enum { N = sizeof techniques / sizeof *techniques };

const lra_technique *lra_technique_find(const char *paper, const char *task)
{
    for (int i = 0; i < N && paper; i++)
        if (strcmp(techniques[i].paper, paper) == 0 &&
            (!techniques[i].tasks || lra_task_has_key(techniques[i].tasks, task)))
            return &techniques[i];
    return NULL;
}

void lra_technique_set(const char *paper, const lra_task *t, lra_config *parameters)
{
    const lra_technique *x = lra_technique_find(paper, t->name);
    lra_err e;
    lra_config *changes = lra_config_parse(x && x->settings ? x->settings : "", &e);
    if (!changes) LRA_BUG("%s", e.msg);
    for (int i = 0; lra_config_key(changes, i); i++)
        if (lra_key_find(t->keys, lra_config_key(changes, i)))
            lra_config_set(parameters, lra_config_key(changes, i), lra_config_value(changes, i));
    lra_config_free(changes);
}
