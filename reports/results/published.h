/* Numbers of the three papers (published.csv:
 * paper,table,model,variant,task,metric,value,unit,note). They are compiled into the programs, so
 * that a table needs no other file. */
#ifndef LRA_REPORTS_RESULTS_PUBLISHED_H
#define LRA_REPORTS_RESULTS_PUBLISHED_H

#include "kernels/base/core/metric.h"

extern const unsigned char lra_published_csv[]; /* text of published.csv, with a terminating 0 */

/* The published value in the unit of the paper (accuracies in %); NAN if there is none or it is not
 * reported. Tasks have the names of this program. Nullable: variant (any). */
double lra_published(const char *paper, const char *table, const char *model, const char *variant,
                     const char *task, const char *metric);

typedef struct {
    double value;   /* in the unit of the paper; NAN: no paper reports the metric */
    char model[32]; /* name of the model with this value */
} lra_published_best;

/* The best value of a task in all tables. causal: among causal models, if the tables distinguish
 * them. */
lra_published_best lra_published_find_best(const char *task, bool causal, const lra_metric *m);

#endif
