/* What tables and figures are made of. */
#ifndef LRA_REPORTS_REPORT_INPUT_H
#define LRA_REPORTS_REPORT_INPUT_H

#include "reports/ladder_view.h"
#include "reports/listops_result.h"

/* What a table or figure is made of: results with what ladders are scaled by, or ListOps breakdowns. */
typedef enum { LRA_FROM_RESULTS, LRA_FROM_LISTOPS } lra_report_source;
typedef struct {
    lra_result *const *list;
    int n;
    lra_ladder_scale scale;
    lra_listops *const *listops;
    int n_listops;
} lra_report_input;

#endif
