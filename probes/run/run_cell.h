/* A requested run, as the command that trains it. */
#ifndef LRA_PROBES_RUN_RUN_CELL_H
#define LRA_PROBES_RUN_RUN_CELL_H

#include "probes/run/cell_command.h"

enum { LRA_MOST_JOBS = 64 };

typedef struct {
    char *name;                /* "K = 5 seed 0" */
    lra_command_words command; /* cell_command.h */
    char *result;              /* path of its result; if it exists, the run is trained */
    double seconds;            /* as planned */
} lra_run_cell;

typedef struct {
    /* index of its ladder, from 0, and number of ladders; 1 for other kinds of runs */
    int part, n_parts;
    int n;
    const lra_run_cell *cell; /* (n) */
} lra_run_cells;

#endif
