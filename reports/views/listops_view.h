/* ListOps breakdowns from probe files: runs grouped into cells by seed, rows grouped by attributes,
 * and their analysis. */
#ifndef LRA_REPORTS_VIEWS_LISTOPS_VIEW_H
#define LRA_REPORTS_VIEWS_LISTOPS_VIEW_H

#include "analysis/breakdown.h"
#include "reports/results/listops_result.h"

enum { LRA_LISTOPS_GROUPS = 16, LRA_LISTOPS_CELLS = 24 };

typedef enum {
    LRA_BY_ROOT,
    LRA_BY_LABEL,
    LRA_BY_ARITY,
    LRA_BY_DEPTH,
    LRA_BY_LENGTH,
    LRA_N_GROUPINGS
} lra_listops_by;

/* Rows of the test split by group.  Root operators and labels as they are; arity and depth by
 * value, those beyond the last place together (">= 17"); length in five bins of about equal
 * count. */
typedef struct {
    const char *what; /* "operator" "label" "arity" "depth" "length" */
    int n_groups;
    char name[LRA_LISTOPS_GROUPS][24];
    int32_t *group; /* (n) */
} lra_listops_grouping;

/* Seeds of one configuration. */
typedef struct {
    const lra_listops *run[LRA_BREAKDOWN_MAX_SEEDS];
    char name[64]; /* "K = 5"; followed by the settings in which it differs from the other cells */
    lra_breakdown_data data;
} lra_listops_cell;

/* Runs on the same test rows. */
typedef struct {
    const lra_listops *first; /* any of them */
    const int32_t *greedy;    /* its majority-by-operator */
    int n_cells;
    lra_listops_cell cell[LRA_LISTOPS_CELLS];
    lra_listops_grouping by[LRA_N_GROUPINGS];
} lra_listops_view;

/* Returns the number of views, or -1; the results must outlive them. */
int lra_listops_views(lra_listops *const *list, int n, lra_listops_view **views, lra_err *e);
/* For figures: the runs must be of one data set.  The caller frees it with
 * lra_listops_views_free(v, 1). */
int lra_listops_view_only(lra_listops *const *list, int n, lra_listops_view **view, lra_err *e);
void lra_listops_views_free(lra_listops_view *views, int n);
/* Accuracy by operator and label: row[0] is all examples, row[1 + root * LABELS + label] one of
 * each. */
void lra_listops_recall(const lra_listops_view *v, const lra_listops_cell *c,
                        lra_breakdown_row row[1 + LRA_LISTOPS_ROOTS * LRA_LISTOPS_LABELS]);
/* Accuracy of a heuristic on the rows of group g; g -1: on all rows. */
double lra_listops_share(const lra_listops *r, const int32_t *predicted, const int32_t *group,
                         int g);

#endif
