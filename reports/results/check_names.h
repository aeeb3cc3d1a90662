/* Checks of the texts in result files, when a file is read: these texts are printed to terminals,
 * scripts and tables of other programs. */
#ifndef LRA_REPORTS_RESULTS_CHECK_NAMES_H
#define LRA_REPORTS_RESULTS_CHECK_NAMES_H

#include "kernels/base/core/origin.h"

/* A text and its name in error messages. */
typedef struct {
    const char *what, *text;
} lra_named_text;

/* Checks names (task, model, preset, precision, hashes, baselines): at most 64 lower-case letters,
 * digits and the characters -_.:+ */
int lra_check_names(int n, const lra_named_text *name, lra_err *e);
/* Checks the names that identify the run of a file. */
int lra_check_run(const char *task, const char *model, const char *preset, const char *precision,
                  const char *fingerprint, const char *run, lra_err *e);
int lra_check_each(const char *what, int n, char *const *list, lra_err *e);
/* Checks the user's label of a run: one line of printable UTF-8, at most LRA_LABEL bytes. */
enum { LRA_LABEL = 64 };
int lra_check_label(const char *label, lra_err *e);
/* Checks that the texts are lines of printable UTF-8. */
int lra_check_lines(int n, const lra_named_text *name, lra_err *e);
/* Checks "key=value" lines: a key must be a name, a value printable and without blanks. */
int lra_check_settings(const char *what, const char *text, lra_err *e);
/* Checks the texts of an origin: host, program and time. */
int lra_check_origin(const lra_origin *o, lra_err *e);

#endif
