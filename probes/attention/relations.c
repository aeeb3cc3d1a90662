/* Finds relations between tokens of ListOps rows (relations.h). */
#include "probes/attention/relations.h"

#include "datasets/listops/tree.h"
#include "kernels/base/core/mem.h"

const char *const lra_relation_names[LRA_RELATIONS] = {"parent", "children", "siblings", "bracket"};

lra_tree lra_tree_new(const int32_t *token, int64_t n)
{
    lra_tree t = {.n = n};
    /* at: operator of the innermost open node */
    int64_t **array[] = {&t.own, &t.around, &t.other}, at = -1;
    for (int k = 0; k < 3; k++) *array[k] = lra_alloc_array((size_t)n + 1, sizeof(int64_t));
    for (int64_t i = 0; i < n; i++) {
        t.own[i] = t.around[i] = t.other[i] = -1;
        if (token[i] == LISTOPS_CLOSE && at >= 0) {
            t.own[i] = at, t.other[i] = at, t.other[at] = i;
            at = t.around[at];
        } else if (token[i] >= LISTOPS_DIGIT) {
            t.own[i] = i, t.around[i] = at;
            if (token[i] >= LISTOPS_MIN) at = i;
        }
    }
    return t;
}

void lra_tree_free(lra_tree *t)
{
    lra_free(t->own);
    lra_free(t->around);
    lra_free(t->other);
    *t = (lra_tree){0};
}

bool lra_tree_is(const lra_tree *t, lra_relation r, int64_t i, int64_t j)
{
    int64_t own = t->own[i];
    bool node = t->own[j] == j;
    if (own < 0) return false;
    switch (r) {
    case LRA_PARENT: return node && t->around[own] == j;
    case LRA_CHILDREN: return node && t->around[j] == own;
    case LRA_SIBLINGS:
        return node && j != own && t->around[own] >= 0 && t->around[j] == t->around[own];
    case LRA_BRACKET: return t->other[i] == j;
    case LRA_RELATIONS: break;
    }
    LRA_BUG("relation %d", (int)r);
}
