/* Texts of result files, checked when they are read: they go to terminals, scripts and tables of other programs. */
#ifndef LRA_REPORTS_CHECK_NAMES_H
#define LRA_REPORTS_CHECK_NAMES_H

#include "reports/listops_result.h"
#include "reports/result.h"

/* Names (task, model, preset, precision, hashes, baselines) are lower-case letters, digits and -_.:+, at most 64;
 * settings are lines of key=value; everything else is printable lines. */
int lra_result_names_check(const lra_result *r, lra_err *e);
int lra_listops_names_check(const lra_listops *r, lra_err *e);

#endif
