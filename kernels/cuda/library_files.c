/* Files by pattern. */
#include "kernels/cuda/library_files.h"

#include <glob.h>
#include <stdlib.h>

#include "kernels/base/mem.h"

/* Below a folder of the environment, or from the top. */
static const struct {
    const char *variable, *pattern;
} places[] = {
    {"CUDA_HOME", "/lib64/"},
    {"VIRTUAL_ENV", "/lib/python3*/site-packages/nvidia/*/lib/"},
    {"CONDA_PREFIX", "/lib/"},
    {"CONDA_PREFIX", "/lib/python3*/site-packages/nvidia/*/lib/"},
    {"HOME", "/.local/lib/python3*/site-packages/nvidia/*/lib/"},
    {NULL, "/usr/local/cuda*/lib64/"},
    {NULL, "/usr/local/cuda*/targets/*/lib/"},
    {NULL, "/usr/local/lib/python3*/*-packages/nvidia/*/lib/"},
    {NULL, "/usr/lib/python3*/*-packages/nvidia/*/lib/"},
    {NULL, "/opt/*/lib/python3*/site-packages/nvidia/*/lib/"},
    {NULL, "/opt/*/lib/"},
};

/* The i-th file of a pattern; NULL: there are fewer, *n is how many. */
static char *one_of(const char *pattern, int i, int *n)
{
    glob_t found;
    char *path = NULL;
    *n = 0;
    if (glob(pattern, 0, NULL, &found) != 0) return NULL;
    *n = (int)found.gl_pathc;
    if (i < *n) path = lra_copy_text(found.gl_pathv[i]);
    globfree(&found);
    return path;
}

char *lra_cuda_library_file(const char *name, int i)
{
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        const char *folder = places[k].variable ? getenv(places[k].variable) : "";
        int n = 0;
        if (!folder || (places[k].variable && !*folder)) continue;
        char *pattern = lra_format("%s%s%s", folder, places[k].pattern, name);
        char *path = one_of(pattern, i, &n);
        lra_free(pattern);
        if (path) return path;
        i -= n;
    }
    return NULL;
}
