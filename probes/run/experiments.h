/* Tables and figures of papers as grids of runs, by name: `lra-probe sweep NAME`. */
#ifndef LRA_PROBES_RUN_EXPERIMENTS_H
#define LRA_PROBES_RUN_EXPERIMENTS_H

typedef struct {
    const char *name, *paper, *summary;
    const char *grid; /* lines KEY = VALUE, VALUE, ... (grid.h) */
} lra_experiment;

const lra_experiment *lra_experiment_at(int i); /* Experiment number i; NULL after the last. */
/* The experiment with this name, or NULL. */
const lra_experiment *lra_experiment_find(const char *name);

#endif
