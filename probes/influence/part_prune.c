/* Part prune: the windows of part keep, for ListOps expressions. Digits outside the window are
 * removed, and so are all nodes without remaining digits, so that the result is an expression. It
 * includes the operators around the window (restricted_part.h). */
#include "datasets/listops/tree.h"
#include "probes/influence/part.h"

static int64_t fill_expression(const lra_filling *f, void *to)
{
    return lra_listops_prune(f->n, f->from, f->kept[0], f->kept[f->n_kept - 1] + 1, to);
}

static const lra_filler expression = {.fill = fill_expression};

static const char *undefined(const lra_influence *p)
{
    bool expressions = p->subject.data->task->data.grammar == LRA_GRAMMAR_EXPRESSION;
    return expressions ? NULL : "rows are no expressions";
}

const lra_influence_part lra_part_prune = {
    .name = "prune",
    .summary = "gain with only the digits in a window of w tokens, and the operators around them",
    .examples = 500,
    .least = 1,
    .nulls = LRA_NULL_BIT(LRA_NULL_UNIFORM),
    .undefined = undefined,
    .perturbation = &(const lra_perturbation){.geometry = &lra_windows,
                                              .filler = &expression,
                                              /* the random stream of part keep: the same windows */
                                              .draws = {.stream = 0},
                                              .ids = {.least = "keep.w", .area = "keep.auc"},
                                              .well_formed = true}};
