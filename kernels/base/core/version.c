/* Output of --version. */
#include "kernels/base/core/version.h"

void lra_version_print(FILE *out, const char *program, const char *libraries, const char *level)
{
    fprintf(
        out,
        "%s %s\nrevision   %s\ncompiler   %s, %s\nlibraries  %s\nlevel      %s\n"
        "licence    GPL-3.0-or-later, because this program links GSL; its sources: Apache-2.0\n",
        program, LRA_VERSION, lra_revision(), LRA_COMPILER, LRA_BUILD_TYPE, libraries, level);
}
