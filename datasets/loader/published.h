/* Share of the published data that is used. */
#ifndef LRA_DATASETS_LOADER_PUBLISHED_H
#define LRA_DATASETS_LOADER_PUBLISHED_H

#include "datasets/loader/dataset.h"

/* Rows used of the published ones: "2,400 of 96,000 training, 1,000 of 2,000 validation and 1,000
 * of 2,000 test rows"; NULL: all rows are used, or the files' rows are unknown. The caller frees
 * it. */
char *lra_published_text(const lra_dataset *d);
/* Warns of it. */
void lra_published_report(const lra_dataset *d);

#endif
