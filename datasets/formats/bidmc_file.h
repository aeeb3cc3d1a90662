/* BIDMC32HR, BIDMC32RR and BIDMC32SpO2: series of two signals of a patient (32 s), each with a
 * vital sign as target. */
#ifndef LRA_DATASETS_FORMATS_BIDMC_FILE_H
#define LRA_DATASETS_FORMATS_BIDMC_FILE_H

#include "datasets/formats/ts.h"
#include "datasets/loader/dataset.h"

enum { LRA_BIDMC_STEPS = 4000 }; /* tokens of a row: 32 s at 125 Hz */

#define LRA_BIDMC_MADE_UP "# made up by lra-probe data --make, from no patient"

/* The series of the published training file and test file. */
typedef struct {
    const char *target; /* vital sign that is the target: "HR", "RR" or "SpO2" */
    lra_ts part[2];
    uint64_t hash[2];
    bool made_up; /* a file starts with LRA_BIDMC_MADE_UP: its series are synthetic */
    bool signals; /* the path contains recordings of PhysioNet, which have no targets */
} lra_bidmc;

/* Reads the training file and the test file from a folder or an archive. */
int lra_bidmc_read(lra_bidmc *b, const char *path, lra_err *e);
int lra_bidmc_hash(const char *target, const char *path, lra_digest *to, lra_err *e);
void lra_bidmc_free(lra_bidmc *b);

#endif
