/* Rows of table locality from a file: reference results, which are shown together with the results
 * in run folders. The file is such a table as JSON ("lra-report tables --table locality --format
 * json"); its text member "made", if any, states the origin of the rows. */
#ifndef LRA_REPORTS_VIEWS_LOCALITY_REFERENCE_H
#define LRA_REPORTS_VIEWS_LOCALITY_REFERENCE_H

#include "reports/views/locality_row.h"

/* Reads the rows. Each has a group of its own with one result, which has the identity, the metric
 * and the chance of the row, but no test rows. *made: origin of the rows, or NULL. The caller frees
 * all with lra_locality_reference_free(). */
int lra_locality_reference_read(const char *path, lra_locality_row **rows, int *n, char **made,
                                lra_err *e);
/* Frees the group of a row that was read; its name is freed with the other rows of a view. */
void lra_locality_reference_free(lra_locality_row *row);

#endif
