/* Loads libraries of the CUDA toolkit by name when they are needed, so that one program runs with
 * and without them. */
#include "kernels/base/core/mem.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/library_files.h"
#include "kernels/cuda/messages.h"
#include "kernels/cuda/state.h"

#include <cublasLt.h>
#include <cufft.h>
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>

/* Opens a library that the loader finds, or the first file found that loads. Returns NULL on
 * failure. *bad: a file that was found but does not load (NULL if there is none); *reason: the
 * cause. The caller frees both. */
static void *find(const char *name, char **bad, char **reason)
{
    char *path;
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    *bad = *reason = NULL;
    for (int i = 0; !library && (path = lra_cuda_library_file(name, i)) != NULL; i++) {
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!library && !*bad) {
            *bad = lra_copy_text(path);
            *reason = lra_copy_text(dlerror());
        }
        lra_free(path);
    }
    return library;
}

void *lra_cuda_library(const char *stem, int major, lra_err *e)
{
    char name[64], *bad, *reason;
    snprintf(name, sizeof name, "lib%s.so.%d", stem, major);
    void *library = find(name, &bad, &reason);
    if (!library) {
        char *places = lra_cuda_library_paths();
        lra_cuda_fail_library(e, name, bad, reason, places);
        lra_free(places);
    }
    lra_free(bad);
    lra_free(reason);
    return library;
}

/* Description of a library: "cuFFT /usr/lib/libcufft.so.12", or "cuFFT not found". */
static char *described(const char *title, const char *stem, int major)
{
    lra_err ignored;
    struct link_map *map = NULL;
    void *library = lra_cuda_library(stem, major, &ignored);
    bool known = library && dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name[0];
    char *text = lra_format("%s %d %s", title, major,
                            !library ? "not found"
                            : known  ? map->l_name
                                     : "found");
    if (library) dlclose(library);
    return text;
}

extern "C" char *lra_cuda_libraries(void)
{
    char *blas = described("cuBLASLt", "cublasLt", CUBLAS_VER_MAJOR);
    char *fft = described("cuFFT", "cufft", CUFFT_VER_MAJOR);
    char *both = lra_format("%s, %s", blas, fft);
    lra_free(blas);
    lra_free(fft);
    return both;
}

void *lra_cuda_symbol(void *library, const char *name, lra_err *e)
{
    void *f = dlsym(library, name);
    if (!f) lra_fail(e, "a CUDA library has no function '%s'", name);
    return f;
}
