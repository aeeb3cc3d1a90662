/* Finds the files of results in places: "lra-report ... PLACE..." */
#ifndef LRA_REPORTS_RESULTS_RESULT_FILES_H
#define LRA_REPORTS_RESULTS_RESULT_FILES_H

#include "kernels/base/core/err.h"

/* Paths of the files called NAME ("result.h5") of n places, sorted within each.  A place is OUT, a
 * folder of runs, of data or of probes, a run's folder, or the file, with any name.  Returns their
 * number (0: there are none) or -1; the caller frees paths with lra_names_free(). */
int lra_result_files_find(int n, const char *const *place, const char *name, char ***paths,
                          lra_err *e);

#endif
