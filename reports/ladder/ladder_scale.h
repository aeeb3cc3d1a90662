/* What the gains of a ladder are measured against. */
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
    lra_result *run; /* of a reference that is a run */
    bool uniform;    /* chance is one over the number of classes */
} lra_ladder_scale;
/* A run is a result file, a run folder, or the name of one below OUT/runs. */
int lra_ladder_scale_open(lra_ladder_scale *s, const lra_options *o, const char *out, lra_err *e);
void lra_ladder_scale_close(lra_ladder_scale *s);

/* Sets reference and chance of a ladder. */
int lra_ladder_set_scale(lra_ladder_view *v, const lra_ladder_scale *scale, lra_err *e);

#endif
