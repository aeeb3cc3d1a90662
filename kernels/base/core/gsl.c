/* Use of the GNU Scientific Library. */
#include "kernels/base/core/gsl.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_version.h>
#include <stdio.h>
#include <stdlib.h>

void lra_gsl_start(void)
{
    gsl_set_error_handler_off();
}

const char *lra_gsl_library(void)
{
    return "GSL " GSL_VERSION;
}

int lra_gsl_check(int status, const char *what, lra_err *e)
{
    return status == GSL_SUCCESS ? 0 : lra_fail(e, "%s: %s", what, gsl_strerror(status));
}

void *lra_gsl_workspace(void *w, const char *what)
{
    if (w) return w;
    fprintf(stderr, "error: not enough memory for %s\n", what);
    exit(1);
}
