/* The verdict of table locality. */
#ifndef LRA_REPORTS_VERDICT_VERDICT_LOCALITY_H
#define LRA_REPORTS_VERDICT_VERDICT_LOCALITY_H

#include "reports/verdict/verdict.h"
#include "reports/views/locality_view.h"

/* Adds sentences: the number of rows whose mean distance increased or decreased during training;
 * the number that use nearer or farther tokens than uniform weights under the same mask; the most
 * important caveat. */
void lra_verdict_of_locality(const lra_locality_view *v, lra_verdict *to);

#endif
