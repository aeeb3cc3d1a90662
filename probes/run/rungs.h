/* The rungs of a ladder: values of the key that bounds the reach (--axis, --kernels), and the size
 * of each rung (--match). */
#ifndef LRA_PROBES_RUN_RUNGS_H
#define LRA_PROBES_RUN_RUNGS_H

#include "analysis/ladder.h"
#include "kernels/base/cli/options.h"
#include "probes/run/job.h"
#include "probes/run/vary.h"

extern const lra_option lra_rungs_options[]; /* --kernels, --axis, --match, --match-rung */

typedef struct {
    int64_t value; /* value of the axis key */
    int64_t size;  /* value of the model's size key; 0: the model has no such key */
    /* ladder attributes (lra_job.ladder). NULL: the rungs differ in the kernel only (neither
     * --match nor --vary is set) */
    char *ladder;
} lra_planned_rung;

typedef struct {
    char *axis; /* key of the model in which the rungs differ */
    int n;
    lra_planned_rung rung[LRA_LADDER_MAX_RUNGS];
    const char *match; /* quantity that --match makes equal: "none", "params", "flops" */
    int reference;     /* index of the rung whose size the other rungs match */
    /* number of parameters, or FLOPs of a training step, that all rungs have; 0: not matched */
    double count;
    const lra_vary *vary; /* key that differs between ladders. Nullable: none */
} lra_rungs;

/* Reads the options; the job must be configured. Fails if the model does not have the axis key, or
 * does not accept a value. */
int lra_rungs_open(lra_rungs *l, const lra_options *o, const lra_job *r, const lra_vary *vary,
                   lra_err *e);
void lra_rungs_close(lra_rungs *l);
/* The job of rung i. It owns its model settings and borrows everything else from the job of the
 * ladder. lra_rung_job_free() frees it. */
lra_job lra_rung_job(const lra_rungs *l, int i, const lra_job *ladder);
void lra_rung_job_free(lra_job *r);
/* Writes the name of rung i: "K = 5", "dilation = 4". */
const char *lra_rungs_name(const lra_rungs *l, int i, char text[48]);

#endif
