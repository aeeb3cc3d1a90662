/* The cells of a ladder: each is one rung with one seed. */
#ifndef LRA_PROBES_RUN_LADDER_CELL_H
#define LRA_PROBES_RUN_LADDER_CELL_H

#include "kernels/base/cli/options.h"
#include "probes/run/rungs.h"

typedef struct {
    int rung;
    int64_t seed;
    lra_job job;    /* job of its rung (lra_rung_job) */
    char *result;   /* path of its result file; the cell is finished if the file exists */
    bool done;      /* true if a readable result existed when the ladder was planned */
    double seconds; /* planned duration in seconds */
} lra_ladder_cell;

typedef struct {
    const lra_rungs *rungs;
    const lra_options *options;
    /* "key=value" of the setting that differs between ladders. NULL: none */
    const char *assignment;
    int ladder, n_ladders; /* index of this ladder from 0, and number of ladders (vary.h) */
    int n;
    const lra_ladder_cell *cell; /* (n) cells */
} lra_ladder_cells;

#endif
