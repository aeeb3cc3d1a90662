/* The cells of a ladder: one rung with one seed each. */
#ifndef LRA_PROBES_RUN_LADDER_CELL_H
#define LRA_PROBES_RUN_LADDER_CELL_H

#include "kernels/base/cli/options.h"
#include "probes/run/rungs.h"

typedef struct {
    int rung;
    int64_t seed;
    lra_job job;    /* of its rung (lra_rung_job) */
    char *result;   /* path of its result; if it exists, the cell is trained */
    bool done;      /* the result existed and could be opened when the ladder was planned */
    double seconds; /* as planned */
} lra_ladder_cell;

typedef struct {
    const lra_rungs *rungs;
    const lra_options *options;
    const char *assignment; /* "key=value" that varies between ladders. NULL: none */
    int ladder, n_ladders;  /* 0, 1, ...: number of the ladder among those of `vary` */
    int n;
    const lra_ladder_cell *cell; /* (n) */
} lra_ladder_cells;

#endif
