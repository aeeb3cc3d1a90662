/* The result of a model that was not trained by this program: its outputs for all test rows, as an
 * lra_result (reports/results/result.h), so that probes, tables and figures can read it like the
 * result of a run. */
#ifndef LRA_PROBES_SHARED_SUBJECT_RESULT_H
#define LRA_PROBES_SHARED_SUBJECT_RESULT_H

#include "probes/shared/subject.h"
#include "reports/results/result.h"

/* Evaluates the model on every test row; a language model on the last token with a target of every
 * row. name: name of the model in files and tables. For models with an output at each position
 * nothing is evaluated: the result has rows, but no metric. For rows without labels the metric is
 * `none`, and the outputs are numbers without targets. The caller frees it with
 * lra_result_free(). NULL: the model failed. */
lra_result *lra_subject_result(const lra_subject *s, const char *name, lra_err *e);

#endif
