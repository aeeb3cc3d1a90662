/* The papers' tables and figures as grids, by name: `lra-probe sweep NAME`. */
#ifndef LRA_PROBES_RUN_EXPERIMENTS_H
#define LRA_PROBES_RUN_EXPERIMENTS_H

typedef struct {
    const char *name, *paper, *summary;
    const char *grid; /* lines KEY = VALUE, VALUE, ... (grid.h) */
} lra_experiment;

const lra_experiment *lra_experiment_at(int i); /* NULL after the last */
/* NULL: there is none of this name. */
const lra_experiment *lra_experiment_find(const char *name);

#endif
