/* Where the libraries of CUDA lie when the loader does not know: a toolkit's folder, a Python
 * package. */
#ifndef LRA_CUDA_LIBRARY_FILES_H
#define LRA_CUDA_LIBRARY_FILES_H

#ifdef __cplusplus
extern "C" {
#endif

/* The i-th file called `name` ("libcublasLt.so.13"), to be freed with lra_free(); NULL after the
 * last.  Looked for in CUDA_HOME, the Python of VIRTUAL_ENV, CONDA_PREFIX and HOME, then in the
 * usual folders of both. */
char *lra_cuda_library_file(const char *name, int i);

#ifdef __cplusplus
}
#endif
#endif
