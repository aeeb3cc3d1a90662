/* The rungs of a ladder: values of the key that bounds the reach (--axis, --kernels), and the size
 * of each (--match). */
#ifndef LRA_PROBES_RUN_RUNGS_H
#define LRA_PROBES_RUN_RUNGS_H

#include "analysis/ladder.h"
#include "kernels/base/cli/options.h"
#include "probes/run/job.h"
#include "probes/run/vary.h"

extern const lra_option lra_rungs_options[]; /* --kernels --axis --match --match-rung */

typedef struct {
    int64_t value; /* value of the axis key */
    int64_t size;  /* value of the size key of the model; 0: no such key */
    char *ladder;  /* of lra_job.  NULL: a plain ladder of kernels */
} lra_planned_rung;

typedef struct {
    char *axis; /* a key of the model */
    int n;
    lra_planned_rung rung[LRA_LADDER_MAX_RUNGS];
    const char *match; /* "none", "params", "flops" */
    int reference;     /* rung of fixed size, which the other rungs match */
    /* parameters, or FLOPs of a training step, equal in all rungs; 0: not matched */
    double count;
    const lra_vary *vary; /* key that differs between ladders. Nullable: none */
} lra_rungs;

/* Reads the options; the job must be configured. Fails if the model lacks the key, or refuses a
 * value. */
int lra_rungs_open(lra_rungs *l, const lra_options *o, const lra_job *r, const lra_vary *vary,
                   lra_err *e);
void lra_rungs_close(lra_rungs *l);
/* The job of rung i: it owns its model's settings, and borrows everything else from the job of the
 * ladder. Free it with lra_rung_job_free(). */
lra_job lra_rung_job(const lra_rungs *l, int i, const lra_job *ladder);
void lra_rung_job_free(lra_job *r);
/* "K = 5", "dilation = 4". */
const char *lra_rungs_name(const lra_rungs *l, int i, char text[48]);

#endif
