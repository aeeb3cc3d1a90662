/* --tune KEY=FACTOR,FACTOR,...: a training setting whose value is chosen for each combination of a
 * sweep. A trial trains one factor of the value that the combination has without --tune (its base)
 * with one tuning seed. The factor with the best mean validation metric is chosen (tuning.h), and
 * the result is trained with it and with other seeds. Trials have the setting `tuning` =
 * KEY:BASE:VALUE, and are in OUT/trials, so that no result contains them. */
#ifndef LRA_PROBES_RUN_TUNE_H
#define LRA_PROBES_RUN_TUNE_H

#include "analysis/tuning.h"
#include "kernels/base/cli/options.h"
#include "probes/run/job.h"
#include "reports/results/tuning_result.h"

/* Without a list, tuning seeds are LRA_TUNE_SEED, LRA_TUNE_SEED + 1, ...; seeds of results count
 * from 0. */
enum { LRA_TUNE_SEED = 1000, LRA_TUNE_MOST_SEEDS = 64 };

extern const lra_option lra_tune_options[]; /* --tune, --tune-seeds */

typedef struct {
    char *key;                     /* NULL: nothing is tuned */
    int n;                         /* number of factors */
    double factor[LRA_MAX_TRIALS]; /* (n) ascending */
    int n_seeds;
    int64_t *seed; /* (n_seeds) tuning seeds */
} lra_tune;

int lra_tune_open(lra_tune *t, const lra_options *o, lra_err *e);
void lra_tune_close(lra_tune *t);
/* Fails if a seed of the results is a tuning seed. */
int lra_tune_check_seeds(const lra_tune *t, int n, const int64_t *seed, lra_err *e);

/* The values of the tuned setting in one job. */
typedef struct {
    int n;
    char *base;                    /* value without --tune, canonical text */
    char *text[LRA_MAX_TRIALS];    /* (n) canonical text of base * factor */
    double number[LRA_MAX_TRIALS]; /* (n) that value */
} lra_tune_values;

/* Computes the values; fails if the setting is no number of training, or a value is out of its
 * range. */
int lra_tune_values_of(const lra_tune *t, const lra_job *job, lra_tune_values *v, lra_err *e);
void lra_tune_values_free(lra_tune_values *v);
/* Sets value i in the job, and the setting `tuning` if the run is a trial. The job's folders
 * (lra_job_folder()) are then those of the trials or the results of this value. */
void lra_tune_use(const lra_tune *t, const lra_tune_values *v, int i, bool trial, lra_job *job);
/* Cost of a run with value i relative to one with the base: number of examples that training
 * processes. The job has the base value again afterwards. */
double lra_tune_cost(const lra_tune *t, const lra_tune_values *v, int i, lra_job *job);
/* Sets the setting `tuning` of a trial from the text of 'train --tuning', "KEY:BASE". */
int lra_tune_mark(lra_job *job, const char *text, lra_err *e);

/* Fills a record with the identity of the job and with the values, not with scores and names.
 * settings: those of the combination. lra_tuning_clear() frees it. */
void lra_tune_record(const lra_tune *t, const lra_tune_values *v, const lra_job *job,
                     const char *settings, lra_tuning_result *to);
/* Reads the scores of the trials and chooses the value. path: (n values, n seeds) their result
 * files; a trial without a result has diverged. */
int lra_tune_choose(lra_tuning_result *t, char *const *path, lra_err *e);
/* File of the choice, OUT/tuned/TASK-MODEL-HASH.json; the hash is of the key and the settings with
 * the base value. job: with the base value. The caller frees it. */
char *lra_tune_path(const lra_tune *t, const lra_job *job);
/* Writes the file of the choice; warns if it held another value. */
int lra_tune_store(const char *path, const lra_tuning_result *t, lra_err *e);

#endif
