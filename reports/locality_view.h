/* How far away what models use is, from results and the files of probes beside them: a row for each
 * model, over its seeds.  The whole model is asked by its Jacobians and by limits of distance
 * (influence); its layers by their kernels and heads (kernels, attention). */
#ifndef LRA_REPORTS_LOCALITY_VIEW_H
#define LRA_REPORTS_LOCALITY_VIEW_H

#include "reports/probe_view.h"
#include "reports/report_input.h"
#include "reports/result_metric.h"

typedef enum {
    LRA_LOCALITY_MEAN, /* of Jacobians: mean distance, tokens; over that of equal weights */
    LRA_LOCALITY_REL,
    LRA_LOCALITY_Q95,
    LRA_LOCALITY_TAU,
    LRA_LOCALITY_BETA,
    LRA_LOCALITY_CUT, /* smallest limit that keeps 99 % of the gain; of attention */
    LRA_LOCALITY_WINDOW,
    LRA_LOCALITY_ENTROPY, /* nats, and over that of equal weights */
    LRA_LOCALITY_ENTROPY_REL,
    LRA_LOCALITY_KERNEL_REL, /* mean over layers of medians over channels */
    LRA_LOCALITY_KERNEL_Q95,
    LRA_LOCALITY_HEADS_REL, /* mean over heads */
    LRA_LOCALITY_HEADS_Q95,
    LRA_LOCALITY_HEADS_ENTROPY,
    LRA_LOCALITIES
} lra_locality;

typedef struct {
    const lra_result_group *group;
    char *name;
    lra_estimate value;                  /* of the task's metric */
    lra_finding at[LRA_LOCALITIES];      /* NAN where it is missing */
    lra_finding initial[LRA_LOCALITIES]; /* before training, over the same seeds; NAN: none */
    const char *missing[LRA_LOCALITIES]; /* why; NULL: it is there */
    int decay[3];                        /* seeds by kind of decay: none, exp, power */
    bool ahead;                          /* lra_probe_equal_ahead() of a seed */
} lra_locality_row;

typedef struct {
    int n, n_groups;
    lra_locality_row *row; /* by task and preset, the most local first */
    lra_result_group *groups;
    void *index; /* files of probes by their runs */
    int n_indexed;
} lra_locality_view;

/* Of in->list and in->probes of any kind.  Fails where there are no results. */
int lra_locality_open(lra_locality_view *v, const lra_report_input *in, lra_err *e);
void lra_locality_close(lra_locality_view *v);
/* The file of a probe on that run; NULL: there is none. */
const lra_probe_result *lra_locality_probe(const lra_locality_view *v, const lra_result *r,
                                           const char *probe);
/* "listops, quick, f32"; the caller frees it. */
char *lra_locality_data_name(const lra_locality_row *r);

#endif
