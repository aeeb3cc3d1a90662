/* Loads the input of tables, figures and pages from the results that the user names. */
#ifndef LRA_REPORTS_LOAD_INPUT_H
#define LRA_REPORTS_LOAD_INPUT_H

#include "reports/report_input.h"

/* The results named as arguments, or `out`: paths, names of runs in `out`, or prefixes of their
 * hashes. NULL: a prefix is ambiguous. The caller frees them with lra_names_free(). */
char **lra_report_places(const lra_options *o, const char *out, int *n, lra_err *e);
/* Fails: none of n paths or runs has such files. what: their name; command: the command that makes
 * them. */
int lra_report_no_files(const char *what, const char *command, int n, const char *const *place,
                        lra_err *e);

/* Loads the files of a source from the results named as arguments and keeps those that --task,
 * --model and --label select. out: folder of the results. The caller frees the input with
 * lra_report_unload(). */
int lra_report_load(const lra_options *o, const char *out, lra_report_source source,
                    lra_report_input *in, lra_err *e);
/* Loads training results, like lra_report_load(), for the table of a layout; there may be none. */
int lra_report_load_layout(const lra_options *o, const char *out, const lra_layout *l,
                           lra_report_input *in, lra_err *e);
/* Loads the files of all sources; a source without files has none. Files that cannot be read are
 * left out, unless there are no others. */
int lra_report_load_everything(const lra_options *o, const char *out, lra_report_input *in,
                               lra_err *e);
void lra_report_unload(lra_report_input *in);

#endif
