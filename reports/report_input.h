/* Input of tables and figures. */
#ifndef LRA_REPORTS_REPORT_INPUT_H
#define LRA_REPORTS_REPORT_INPUT_H

#include "reports/ladder/ladder_scale.h"
#include "reports/papers/layout.h"
#include "reports/results/listops_result.h"
#include "reports/results/probe_result.h"
#include "reports/results/tuning_result.h"

/* What a table or figure is made from: training results (of ladders also the definition of gain);
 * training results and, where available, those of the probes kernels, attention and influence;
 * choices of settings and the results of their trials and runs; ListOps breakdowns; or the results
 * of one probe. */
typedef enum {
    LRA_FROM_RESULTS,
    LRA_FROM_RESULTS_AND_PROBES,
    LRA_FROM_TUNING,
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
    lra_tuning_result *const *tunings;
    int n_tunings;
    lra_result *const *tuned; /* results of the trials and runs of the choices in `tunings` */
    int n_tuned;
    /* File of reference results, which table and figure locality add (locality_reference.h).
     * Nullable: none */
    const char *reference;
    /* Layout of a paper's table (layout_table.h), and the value of --out for its command, NULL: not
     * given. NULL: another table */
    const lra_layout *layout;
    const char *out;
} lra_report_input;

#endif
