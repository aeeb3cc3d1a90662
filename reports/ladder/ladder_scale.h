/* Scale of the gains of a ladder: reference and chance. */
#ifndef LRA_REPORTS_LADDER_LADDER_SCALE_H
#define LRA_REPORTS_LADDER_LADDER_SCALE_H

#include "kernels/base/cli/options.h"
#include "reports/ladder/ladder_view.h"

/* Options that both programs share. */
extern const lra_option lra_ladder_scale_options[]; /* --reference --chance */
typedef struct {
    const char *
        reference; /* "widest", "best" (on validation), "published", a run; NULL: published for `paper`, else
                              widest */
    lra_result *run; /* the result, if the reference is a run */
    bool uniform;    /* chance is 1 / (number of classes) */
} lra_ladder_scale;
/* Reads the options.  A run is a result file, a run folder, or the name of a folder below
 * OUT/runs. */
int lra_ladder_scale_open(lra_ladder_scale *s, const lra_options *o, const char *out, lra_err *e);
void lra_ladder_scale_close(lra_ladder_scale *s);

/* Sets reference and chance of a ladder. */
int lra_ladder_set_scale(lra_ladder_view *v, const lra_ladder_scale *scale, lra_err *e);

#endif
