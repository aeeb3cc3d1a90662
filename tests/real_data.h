/* Real data for tests: in the folder LRA_SHARED_DATA, or beside the source tree. */
#ifndef LRA_TESTS_REAL_DATA_H
#define LRA_TESTS_REAL_DATA_H

#include <stdlib.h>

#include "kernels/base/file.h"
#include "kernels/base/mem.h"

/* Path of a file or folder; caller frees.  NULL: not there, the test is to be skipped. */
static inline char *real_file(const char *name)
{
    const char *data = getenv("LRA_SHARED_DATA"), *source = getenv("LRA_SOURCE");
    char *path = data ? lra_format("%s/%s", data, name)
                      : lra_format("%s/../shared/data/%s", source ? source : ".", name);
    if (lra_file_exists(path)) return path;
    lra_free(path);
    return NULL;
}

#endif
