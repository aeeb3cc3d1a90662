/* Official files, looked at closely: what is there, from which bytes, in which rows, and what is
 * odd about it. */
#ifndef LRA_PROBES_DATA_EXAMINE_H
#define LRA_PROBES_DATA_EXAMINE_H

#include "datasets/loader/dataset.h"

typedef struct {
    lra_digest files;
    char fingerprint[17];    /* of the rows */
    int64_t n[LRA_N_SPLITS]; /* rows; of a stream: tokens */
    int vocab;
    /* Rows of the files and as published, rows in several splits, statistics; then what the task's
     * inspect() says. */
    lra_facts facts;
    int64_t defects; /* of files, survived */
} lra_examination;

/* Imports the files at a path, and keeps nothing of the rows; warns of what is odd once.
 * LRA_ABSENT: there are none.  After a failure of inspect() all the rest is there: files.n > 0. */
int lra_data_examine(const lra_task *t, const lra_config *c, const char *path, lra_examination *x,
                     lra_err *e);
void lra_examination_free(lra_examination *x);

#endif
