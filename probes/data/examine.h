/* Inspection of official files: their contents, byte counts, rows, and irregularities. */
#ifndef LRA_PROBES_DATA_EXAMINE_H
#define LRA_PROBES_DATA_EXAMINE_H

#include "datasets/loader/dataset.h"

typedef struct {
    lra_digest files;
    char name[80], summary[96]; /* name and summary of the task */
    char fingerprint[17];       /* hash of all rows */
    int64_t n[LRA_N_SPLITS];    /* number of rows of each split; for a stream: tokens */
    int vocab;
    /* Number of rows in the files and as published, rows that occur in several splits, statistics;
     * then the facts of the task's inspect(). */
    lra_facts facts;
    int64_t defects; /* number of defects in the files that did not prevent the import */
} lra_examination;

/* Imports the files at a path and discards the rows; warns once about irregularities. Returns
 * LRA_ABSENT if there are no files. If only inspect() fails, all other fields are set (files.n >
 * 0). */
int lra_data_examine(const lra_task *t, const lra_config *c, const char *path, lra_examination *x,
                     lra_err *e);
void lra_examination_free(lra_examination *x);

#endif
