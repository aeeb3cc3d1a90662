/* Training techniques of papers (techniques.h).
 *
 * Sources: the locality paper (its section on training techniques, and the numbers of epochs in its
 * tables 5 to 7); arXiv:2310.02980. */
#include "reports/papers/techniques.h"

#include <stdbool.h>
#include <string.h>

static const lra_technique techniques[] = {
    {"locality", "listops", "operand shuffling", "augment=1", 1},
    {"locality", "image", "augmentation by a policy derived from AutoAugment", "augment=1", 1},
    {"locality", "pathfinder", "training on the easy, intermediate and hard sets", "sets=three", 3},
    {"locality", "text retrieval", "multitask denoising", "objective=denoise mask=0.3", 1},
    {"spt", NULL, "self-pretraining", NULL, 1},
};
enum { N = sizeof techniques / sizeof *techniques };

static bool has_task(const char *tasks, const char *task)
{
    size_t n = strlen(task);
    for (const char *at = tasks; *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        if (length == n && strncmp(at, task, n) == 0) return true;
        at += length;
    }
    return false;
}

const lra_technique *lra_technique_find(const char *paper, const char *task)
{
    for (int i = 0; i < N && paper; i++)
        if (strcmp(techniques[i].paper, paper) == 0 &&
            (!techniques[i].tasks || has_task(techniques[i].tasks, task)))
            return &techniques[i];
    return NULL;
}
