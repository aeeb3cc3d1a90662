/* Libraries of the toolkit, loaded by name when they are wanted, so that one program runs with and
 * without them. */
#include "kernels/base/mem.h"
#include "kernels/cuda/library_files.h"
#include "kernels/cuda/state.h"

#include <dlfcn.h>
#include <stdio.h>

/* As the loader knows it, else from where such libraries lie. */
static void *find(const char *name)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    char *path;
    for (int i = 0; !library && (path = lra_cuda_library_file(name, i)) != NULL; i++) {
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        lra_free(path);
    }
    return library;
}

void *lra_cuda_library(const char *stem, int major, lra_err *e)
{
    char name[64];
    snprintf(name, sizeof name, "lib%s.so.%d", stem, major);
    void *library = find(name);
    if (!library)
        lra_fail(e,
                 "'%s' cannot be loaded: %s; LD_LIBRARY_PATH should name the folder of the "
                 "libraries of CUDA " LRA_CUDA_RELEASE,
                 name, dlerror());
    return library;
}

void *lra_cuda_symbol(void *library, const char *name, lra_err *e)
{
    void *f = dlsym(library, name);
    if (!f) lra_fail(e, "a CUDA library has no function '%s'", name);
    return f;
}
