/* The cells of a ladder: one rung with one seed each. */
#ifndef LRA_PROBES_RUN_LADDER_CELL_H
#define LRA_PROBES_RUN_LADDER_CELL_H

#include "kernels/base/cli/options.h"
#include "probes/run/rungs.h"

typedef struct {
    int rung;
    int64_t seed;
    char *result;   /* path of its result; there: it is trained */
    bool done;      /* it was there, and could be opened, when the ladder was planned */
    double seconds; /* as planned */
} lra_ladder_cell;

typedef struct {
    lra_job *job; /* what all cells share; its data are loaded */
    const lra_rungs *rungs;
    const lra_options *options;
    const char *assignment; /* "key=value" of what varies between ladders.  NULL: nothing does */
    int ladder, n_ladders;  /* 0, 1, ...: of those that vary makes */
    int n;
    const lra_ladder_cell *cell; /* (n) */
} lra_ladder_cells;

#endif
