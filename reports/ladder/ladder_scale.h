/* Scale of the gains of a ladder: reference and chance. */
#ifndef LRA_REPORTS_LADDER_LADDER_SCALE_H
#define LRA_REPORTS_LADDER_LADDER_SCALE_H

#include "kernels/base/cli/options.h"
#include "reports/ladder/ladder_view.h"

/* Options of the scale, which both programs have. */
extern const lra_option lra_ladder_scale_options[]; /* --reference, --chance */
typedef struct {
    const char *
        /* "widest", "best" (on validation), "published", or a run; NULL: published for preset
         * `paper`, else widest */
        reference;
    lra_result *run; /* the result of the run, if the reference is a run */
    bool uniform;    /* true: chance is 1 / (number of classes) */
} lra_ladder_scale;
/* Reads the options. A run is named by a result file, a run folder, or a folder name below
 * OUT/runs. */
int lra_ladder_scale_open(lra_ladder_scale *s, const lra_options *o, const char *out, lra_err *e);
void lra_ladder_scale_close(lra_ladder_scale *s);

/* Sets reference and chance of a ladder. */
int lra_ladder_set_scale(lra_ladder_view *v, const lra_ladder_scale *scale, lra_err *e);

#endif
