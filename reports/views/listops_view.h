/* ListOps breakdowns from probe files: runs are grouped into cells over seeds, rows are grouped by
 * attributes, and both are analysed. */
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

/* Rows of the test split by group. Root operators and labels form one group each; arity and depth
 * one group per value, with a last group for all larger values (">= 17"); length five bins with
 * about the same number of rows. */
typedef struct {
    const char *what; /* attribute: "operator", "label", "arity", "depth" or "length" */
    int n_groups;
    char name[LRA_LISTOPS_GROUPS][24];
    int32_t *group; /* (n) group of each row */
} lra_listops_grouping;

/* A cell: runs of one configuration with different seeds. */
typedef struct {
    const lra_listops *run[LRA_BREAKDOWN_MAX_SEEDS];
    /* "K = 5", followed by the settings in which the cell differs from other cells */
    char name[64];
    lra_breakdown_data data;
} lra_listops_cell;

/* Cells that were evaluated on the same test rows. */
typedef struct {
    const lra_listops *first; /* any of the runs */
    const int32_t *greedy;    /* predictions of the baseline majority-by-operator of `first` */
    int n_cells;
    lra_listops_cell cell[LRA_LISTOPS_CELLS];
    lra_listops_grouping by[LRA_N_GROUPINGS];
} lra_listops_view;

/* Groups n results into views; returns the number of views, or -1. The results must stay valid. */
int lra_listops_views(lra_listops *const *list, int n, lra_listops_view **views, lra_err *e);
/* Same as lra_listops_views(), for figures: fails unless all runs have the same data. The caller
 * frees the view with lra_listops_views_free(v, 1). */
int lra_listops_view_only(lra_listops *const *list, int n, lra_listops_view **view, lra_err *e);
void lra_listops_views_free(lra_listops_view *views, int n);
/* Accuracy by operator and label: row[0] covers all examples, row[1 + root * LABELS + label] those
 * with this root operator and label. */
void lra_listops_recall(const lra_listops_view *v, const lra_listops_cell *c,
                        lra_breakdown_row row[1 + LRA_LISTOPS_ROOTS * LRA_LISTOPS_LABELS]);
/* Accuracy of a heuristic on the rows of group g; g -1: on all rows. */
double lra_listops_share(const lra_listops *r, const int32_t *predicted, const int32_t *group,
                         int g);

#endif
