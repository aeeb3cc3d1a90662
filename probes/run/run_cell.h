/* A requested run: its name, its result file, and the command that trains it. */
#ifndef LRA_PROBES_RUN_RUN_CELL_H
#define LRA_PROBES_RUN_RUN_CELL_H

#include "probes/run/cell_command.h"

enum { LRA_MOST_JOBS = 64 };

typedef struct {
    char *name;                /* name in messages, for example "K = 5 seed 0" */
    lra_command_words command; /* command that trains the run (cell_command.h) */
    /* Path of its result file; the run is finished if the file exists. NULL: command and result
     * depend on other cells, which have not ended (lra_run_cells.settle). */
    char *result;
    char *needs;    /* result file that must exist first. NULL: none */
    double seconds; /* planned duration in seconds */
    bool diverges;  /* divergence is an outcome of the run, not a failure */
} lra_run_cell;

typedef struct {
    /* part: index of this ladder from 0; n_parts: number of ladders, 1 if the runs are no ladder */
    int part, n_parts;
    int n;
    const lra_run_cell *cell; /* (n) requested runs */
    /* Completes cell i, which depends on others. Returns 1 if it is complete, 0 if the others have
     * not ended, or a negative code if it cannot be trained. NULL: every cell is complete. */
    int (*settle)(void *of, int i, lra_err *e);
    void *of;
    bool retry; /* trains cells that failed before; otherwise they are skipped */
} lra_run_cells;

#endif
