/* A run that is wanted, as the command that trains it. */
#ifndef LRA_PROBES_RUN_RUN_CELL_H
#define LRA_PROBES_RUN_RUN_CELL_H

#include "probes/run/cell_command.h"

enum { LRA_MOST_JOBS = 64 };

typedef struct {
    char *name;                /* "K = 5 seed 0" */
    lra_command_words command; /* cell_command.h */
    char *result;              /* path of its result; there: it is trained */
    double seconds;            /* as planned */
} lra_run_cell;

typedef struct {
    int part, n_parts; /* which of how many ladders this is, from 0; another sort has one */
    int n;
    const lra_run_cell *cell; /* (n) */
} lra_run_cells;

#endif
