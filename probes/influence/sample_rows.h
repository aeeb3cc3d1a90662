/* The rows of the test split that a run of an opened model takes. */
#ifndef LRA_PROBES_INFLUENCE_SAMPLE_ROWS_H
#define LRA_PROBES_INFLUENCE_SAMPLE_ROWS_H

#include "models/training/open.h"

/* How many; index: (n) which; place: by row of the split, where it stands among them.  The caller frees both. */
int64_t lra_sample_rows(const lra_opened *m, int64_t **index, int64_t **place);

#endif
