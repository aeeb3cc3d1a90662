/* BIDMC32HR, BIDMC32RR, BIDMC32SpO2: 32 s of two signals of a patient, and a vital sign. */
#ifndef LRA_DATASETS_FORMATS_BIDMC_FILE_H
#define LRA_DATASETS_FORMATS_BIDMC_FILE_H

#include "datasets/formats/ts.h"
#include "datasets/loader/dataset.h"

enum { LRA_BIDMC_STEPS = 4000 }; /* of a row */

#define LRA_BIDMC_MADE_UP "# made up by lra-probe data --make, from no patient"

/* Training file and test file, as they are published. */
typedef struct {
    const char *target; /* "HR" "RR" "SpO2" */
    lra_ts part[2];
    uint64_t hash[2];
    bool made_up; /* a file starts with LRA_BIDMC_MADE_UP */
    bool signals; /* there are recordings of PhysioNet, which have no targets */
} lra_bidmc;

/* Numbers of the series (those of the test file behind those of the training file) of each split: a part of 30 % is
 * held out by scikit-learn's train_test_split with seed 0, and halved with seed 1 into validation and test.
 * order: (n) train, val, test one behind the other; size: of each. */
void lra_bidmc_divide(int64_t n, int64_t *order, int64_t size[LRA_N_SPLITS]);
/* Both files from a folder or an archive. */
int lra_bidmc_read(lra_bidmc *b, const char *path, lra_err *e);
int lra_bidmc_hash(const char *target, const char *path, lra_digest *to, lra_err *e);
/* Writes both files with n made-up series in all, 30 % of them in the test file; the same bytes each time.
 * again: replaces files that are there. */
int lra_bidmc_make(const char *target, int64_t n, const char *folder, bool again, lra_err *e);
void lra_bidmc_free(lra_bidmc *b);

#endif
