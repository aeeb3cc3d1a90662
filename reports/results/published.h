/* Numbers printed in the three papers (published.csv:
 * paper,table,model,variant,task,metric,value,unit, note); compiled into the programs, so that a
 * table needs no other file. */
#ifndef LRA_REPORTS_RESULTS_PUBLISHED_H
#define LRA_REPORTS_RESULTS_PUBLISHED_H

#include "kernels/base/core/metric.h"

extern const unsigned char lra_published_csv[]; /* ends with 0 */

/* The value in the unit of the paper (accuracies in %), or NAN: none, or not reported.  Tasks have
 * our names.  Nullable: variant (any). */
double lra_published(const char *paper, const char *table, const char *model, const char *variant,
                     const char *task, const char *metric);

typedef struct {
    double value;   /* in the unit of the paper; NAN: no paper reports the metric */
    char model[32]; /* model with this value */
} lra_published_best;

/* The best value of a task in all tables.  causal: of causal models, if the tables distinguish
 * them. */
lra_published_best lra_published_find_best(const char *task, bool causal, const lra_metric *m);

#endif
