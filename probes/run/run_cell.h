/* A requested run: its name, its result file, and the command that trains it. */
#ifndef LRA_PROBES_RUN_RUN_CELL_H
#define LRA_PROBES_RUN_RUN_CELL_H

#include "probes/run/cell_command.h"

enum { LRA_MOST_JOBS = 64 };

typedef struct {
    char *name;                /* name in messages, for example "K = 5 seed 0" */
    lra_command_words command; /* command that trains the run (cell_command.h) */
    char *result;              /* path of its result file; the run is finished if the file exists */
    char *needs;               /* result file that must exist first. NULL: none */
    double seconds;            /* planned duration in seconds */
} lra_run_cell;

typedef struct {
    /* part: index of this ladder from 0; n_parts: number of ladders, 1 if the runs are no ladder */
    int part, n_parts;
    int n;
    const lra_run_cell *cell; /* (n) requested runs */
} lra_run_cells;

#endif
