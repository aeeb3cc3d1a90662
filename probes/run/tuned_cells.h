/* The cells of one combination of a sweep with --tune: its trials, and the runs of the result,
 * whose command is known when the trials have ended. */
#ifndef LRA_PROBES_RUN_TUNED_CELLS_H
#define LRA_PROBES_RUN_TUNED_CELLS_H

#include "probes/run/run_cell.h"
#include "probes/run/tune.h"

typedef struct {
    const lra_tune *tune;
    char *name;                /* settings of the combination */
    char *label;               /* settings that differ, for --differs. Nullable */
    lra_command_words command; /* command of a run without the tuned setting and the seed */
    double memory;             /* memory of a run in bytes; 0: all free memory */
    lra_tune_values values;
    char *choice_path;  /* file of the choice */
    char **trial;       /* (n values, n tuning seeds) result files of the trials */
    int n_seeds;        /* seeds of the result */
    int64_t *seed;      /* (n_seeds) */
    char **result;      /* (n values, n_seeds) result files of the runs with each value */
    double *cost;       /* (n values) planned seconds of a run */
    int first_trial;    /* index of the first trial among the cells of the sweep */
    lra_run_cell *cell; /* (n_seeds) cells of the result; the sweep owns them */
    lra_tuning_result record;
    bool chosen; /* record.best is the choice */
} lra_tuned_cells;

/* Fills the other members of *c; tune, name, label, command and memory are set. job: with loaded
 * data; has the base value afterwards. */
int lra_tuned_cells_open(lra_tuned_cells *c, lra_job *job, int n_seeds, const int64_t *seed,
                         lra_err *e);
void lra_tuned_cells_close(lra_tuned_cells *c);
/* Fills the cell of trial k of value i, or of run k of the result, whose command and result file
 * are still unknown. */
void lra_tuned_trial(const lra_tuned_cells *c, int i, int k, lra_run_cell *cell);
void lra_tuned_run(const lra_tuned_cells *c, int k, lra_run_cell *cell);
/* Number of trials that have neither a result nor diverged. */
int lra_tuned_missing(const lra_tuned_cells *c);
/* If all trials have ended, chooses the value and completes the cells of the result. store: also
 * stores the choice. Returns 1 if the cells are complete, 0 if trials are missing, or a negative
 * code if all trials have diverged or a file cannot be read. */
int lra_tuned_settle(lra_tuned_cells *c, bool store, lra_err *e);

#endif
