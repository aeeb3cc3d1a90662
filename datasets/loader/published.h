/* Share of the published data that a data set contains. */
#ifndef LRA_DATASETS_LOADER_PUBLISHED_H
#define LRA_DATASETS_LOADER_PUBLISHED_H

#include "datasets/loader/dataset.h"

/* Describes the used share of the published rows: "2,400 of 96,000 training, 1,000 of 2,000
 * validation and 1,000 of 2,000 test rows". NULL: all rows are used, or the number of rows in the
 * files is unknown. The caller frees the text. */
char *lra_published_text(const lra_dataset *d);
/* Warns if only a share of the published rows is used. */
void lra_published_report(const lra_dataset *d);

#endif
