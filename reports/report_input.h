/* Input of tables and figures. */
#ifndef LRA_REPORTS_REPORT_INPUT_H
#define LRA_REPORTS_REPORT_INPUT_H

#include "reports/ladder/ladder_scale.h"
#include "reports/results/listops_result.h"
#include "reports/results/probe_result.h"

/* Sources of tables and figures: results and the scale of ladders; ListOps breakdowns; results of
 * one probe; or results and the available results of the probes kernels, attention and
 * influence. */
typedef enum {
    LRA_FROM_RESULTS,
    LRA_FROM_RESULTS_AND_PROBES,
    LRA_FROM_LISTOPS,
    LRA_FROM_KERNELS,
    LRA_FROM_ATTENTION,
    LRA_FROM_INFLUENCE,
    LRA_FROM_INFORMATION
} lra_report_source;
typedef struct {
    lra_result *const *list;
    int n;
    lra_ladder_scale scale;
    lra_listops *const *listops;
    int n_listops;
    lra_probe_result *const *probes;
    int n_probes;
    /* File of reference results, which table and figure locality add (locality_reference.h).
     * Nullable: none */
    const char *reference;
} lra_report_input;

#endif
