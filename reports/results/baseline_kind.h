/* Kinds of the baselines that a result records; the name of a baseline determines its kind. */
#ifndef LRA_REPORTS_RESULTS_BASELINE_KIND_H
#define LRA_REPORTS_RESULTS_BASELINE_KIND_H

#include <stdbool.h>

typedef enum {
    LRA_BASELINE_TASK,      /* baseline of the task: "majority-by-operator", "marker-distance" */
    LRA_BASELINE_CONSTANT,  /* "constant": the most frequent label */
    LRA_BASELINE_ORACLE,    /* "oracle": the rule that generated the labels */
    LRA_BASELINE_NGRAM,     /* "ngram-N": naive Bayes on bags of N adjacent tokens */
    LRA_BASELINE_SHALLOW_A, /* "shallow-a-D", "shallow-b-D": ListOps evaluators that are exact to
                               depth D */
    LRA_BASELINE_SHALLOW_B
} lra_baseline_kind;

typedef struct {
    lra_baseline_kind kind;
    int number; /* N or D in the name; 0: no number */
} lra_baseline;
lra_baseline lra_baseline_of(const char *name);
bool lra_baseline_is_shallow(const char *name);

#endif
