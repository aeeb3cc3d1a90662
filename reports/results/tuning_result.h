/* The choice of a setting's value from trials, OUT/tuned/TASK-MODEL-HASH.json: written by
 * 'lra-probe sweep --tune', read by tables (FORMAT.md). Trials are in OUT/trials, the runs of the
 * result in OUT/runs. */
#ifndef LRA_REPORTS_RESULTS_TUNING_RESULT_H
#define LRA_REPORTS_RESULTS_TUNING_RESULT_H

#include "analysis/tuning.h"
#include "reports/results/result.h"

enum { LRA_TUNING_SEEDS = 64 };

/* One value of the setting, trained with every tuning seed. */
typedef struct {
    double factor, value;           /* value = base * factor */
    double score[LRA_TUNING_SEEDS]; /* validation metric of each seed; NAN: training diverged */
    char *run[LRA_TUNING_SEEDS];    /* names of the folders in OUT/trials */
    lra_result *result[LRA_TUNING_SEEDS]; /* results, not owned; NULL: not loaded */
} lra_trial;

typedef struct {
    char *task, *model, *preset, *precision;
    char *label;    /* value of --label; "": none */
    char *settings; /* settings of the combination in its sweep: "model=s4d layers=2" */
    char *key;      /* the tuned setting */
    double base;    /* its value without --tune */
    int n_seeds;
    int64_t seed[LRA_TUNING_SEEDS]; /* (n_seeds) tuning seeds */
    int n;
    lra_trial trial[LRA_MAX_TRIALS]; /* (n) by ascending value */
    int best;                        /* index of the chosen value; -1: all trials diverged */
    int n_runs;
    char *run[LRA_TUNING_SEEDS];          /* (n_runs) names of the folders in OUT/runs */
    lra_result *result[LRA_TUNING_SEEDS]; /* (n_runs) results, not owned; NULL: not loaded */
} lra_tuning_result;

/* Mean score of trial i over the seeds; NAN: a seed diverged. */
double lra_tuning_score(const lra_tuning_result *t, int i);

/* Writes the file unless it has these contents. *replaced: it held another chosen value. */
int lra_tuning_write(const char *path, const lra_tuning_result *t, bool *replaced, lra_err *e);
lra_tuning_result *lra_tuning_read(const char *path, lra_err *e);
/* Frees the texts; the results are not owned. */
void lra_tuning_clear(lra_tuning_result *t);
void lra_tuning_free(lra_tuning_result *t); /* lra_tuning_clear() and the struct; nullable: t */

/* Reads the choices of n places (OUT, OUT/tuned, or a file) and the results of their trials and
 * runs that exist. *list, *results: owned by the caller. Returns the number of choices, 0 if there
 * are none, or -1. */
int lra_tunings_load(int n, const char *const *place, lra_tuning_result ***list,
                     lra_result ***results, int *n_results, lra_err *e);
void lra_tunings_free(lra_tuning_result **list, int n);

#endif
