/* Results of `lra-probe listops` on one run: the rows of the test split with their grouping
 * variables, the predictions of the model and of the heuristics.  One HDF5 file, RUN/listops.h5;
 * FORMAT.md describes it. */
#ifndef LRA_REPORTS_RESULTS_LISTOPS_RESULT_H
#define LRA_REPORTS_RESULTS_LISTOPS_RESULT_H

#include <stdint.h>

#include "kernels/base/core/err.h"
#include "kernels/base/core/origin.h"

enum { LRA_LISTOPS_ROOTS = 5, LRA_LISTOPS_LABELS = 10, LRA_LISTOPS_HEURISTICS = 16 };
/* "MIN", "MAX", "MED", "SM", "digit" */
extern const char *const lra_listops_root_names[LRA_LISTOPS_ROOTS];

typedef struct {
    /* Identity of the run, as in result.h; texts are owned. */
    char *task, *model, *preset, *precision, *fingerprint, *run;
    char *config;
    char *user_label;  /* value of --label; NULL or "": none */
    lra_origin origin; /* origin of this file: program and machine that evaluated the run */
    bool unsealed;
    int64_t seed, kernel, reach, max_length;
    int64_t differs; /* number of rows whose prediction differs from the one in result.h5 */
    /* number of rows of the test split; arrays below are (n) unless noted otherwise */
    int64_t n;
    int32_t *label, *predicted;
    int32_t *root, *arity, *depth, *length; /* root: 0..4; length: tokens without <eos> */
    int n_heuristics;
    /* names of the heuristics, for example "shallow-a-2" */
    char *heuristic_name[LRA_LISTOPS_HEURISTICS];
    int32_t *heuristic[LRA_LISTOPS_HEURISTICS]; /* predicted labels of each heuristic */
    /* Number of rows by root operator and label: in the training split, and in new rows of the
     * generator. */
    int64_t train_count[LRA_LISTOPS_ROOTS][LRA_LISTOPS_LABELS];
    int64_t expected_count[LRA_LISTOPS_ROOTS][LRA_LISTOPS_LABELS];
} lra_listops;

int lra_listops_result_write(const char *path, const lra_listops *r, lra_err *e);
lra_listops *lra_listops_result_read(const char *path, lra_err *e);
void lra_listops_result_free(lra_listops *r); /* Nullable: r */
/* Predictions of the heuristic with this name; NULL: none has it. */
const int32_t *lra_listops_heuristic(const lra_listops *r, const char *name);

/* Identity of a cell, without the seed: the model, its data and its configuration, as text. The
 * caller frees it. */
char *lra_listops_identity(const lra_listops *r);

/* Loads every listops.h5 of n places (result_files.h); each configuration with each seed is loaded
 * once (load_files.h). Returns their number (0 if there are none), or -1. The caller frees the list
 * with lra_listops_results_free(). */
int lra_listops_results_load(int n, const char *const *place, lra_listops ***list, lra_err *e);
void lra_listops_results_free(lra_listops **list, int n);

#endif
