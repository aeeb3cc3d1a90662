/* The verdict of a ListOps breakdown. */
#ifndef LRA_REPORTS_VERDICT_VERDICT_LISTOPS_H
#define LRA_REPORTS_VERDICT_VERDICT_LISTOPS_H

#include "reports/views/listops_view.h"
#include "reports/verdict/verdict.h"

/* Adds sentences: the accuracy of the most accurate model compared with the majority label of the
 * root operator (greedy); the operators with the largest and the smallest difference; the most
 * important caveat. */
void lra_verdict_of_listops(const lra_listops_view *v, lra_verdict *to);

#endif
