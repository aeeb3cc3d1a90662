/* The result of a model that was not trained by this program: its answers for all test rows, as an
 * lra_result (reports/results/result.h), so that probes, tables and figures take it like a run. */
#ifndef LRA_PROBES_SHARED_SUBJECT_RESULT_H
#define LRA_PROBES_SHARED_SUBJECT_RESULT_H

#include "probes/shared/subject.h"
#include "reports/results/result.h"

/* Asks the model about every test row; of a language model, about the last token of every row that
 * has a target. name: of the model, in files and tables. Models with an output at each position
 * have no result of their own: rows, but no metric. The caller frees it with lra_result_free();
 * NULL: the model failed. */
lra_result *lra_subject_result(const lra_subject *s, const char *name, lra_err *e);

#endif
