/* Finds the result files in places: "lra-report ... PLACE..." */
#ifndef LRA_REPORTS_RESULTS_RESULT_FILES_H
#define LRA_REPORTS_RESULTS_RESULT_FILES_H

#include "kernels/base/core/err.h"

/* Paths of the files with this name ("result.h5") in n places, sorted within each place. A place is
 * OUT, a folder of runs, of data or of probes, the folder of a run, or a file with any name.
 * Returns their number (0 if there are none) or -1. The caller frees paths with
 * lra_names_free(). */
int lra_result_files_find(int n, const char *const *place, const char *name, char ***paths,
                          lra_err *e);

#endif
