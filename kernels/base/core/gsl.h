/* Use of the GNU Scientific Library: its errors are return codes, which callers check, and never
 * end the program. */
#ifndef LRA_BASE_CORE_GSL_H
#define LRA_BASE_CORE_GSL_H

#include "kernels/base/core/err.h"

/* Turns off GSL's error handler, which would abort; called once by main(). */
void lra_gsl_start(void);
/* Name and version, "GSL 2.7.1". */
const char *lra_gsl_library(void);
/* Returns 0 for GSL_SUCCESS; otherwise fills e with "WHAT: GSL's description". */
int lra_gsl_check(int status, const char *what, lra_err *e);
/* Returns a workspace that GSL has allocated; ends the program with one line if it is NULL. */
void *lra_gsl_workspace(void *w, const char *what);

#endif
