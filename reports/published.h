/* Numbers printed in the three papers (published.csv: paper,table,model,variant,task,metric,value,unit,
 * note); compiled into the programs, so that a table needs no other file. */
#ifndef LRA_REPORTS_PUBLISHED_H
#define LRA_REPORTS_PUBLISHED_H

extern const unsigned char lra_published_csv[]; /* ends with 0 */

/* The value in the unit of the paper (accuracies in %), or NAN.  Nullable: variant (any). */
double lra_published(const char *paper, const char *table, const char *model, const char *variant,
                     const char *task, const char *metric);

#endif
