/* Search for CUDA libraries that the loader does not find, in a toolkit or a Python package. */
#ifndef LRA_CUDA_LIBRARY_FILES_H
#define LRA_CUDA_LIBRARY_FILES_H

#ifdef __cplusplus
extern "C" {
#endif

/* The i-th file called `name` ("libcublasLt.so.13"), to be freed with lra_free(). NULL: there are
 * no more. Places in the order of the search: CUDA_HOME, CUDA_PATH, the toolkit of the first nvcc
 * on PATH, the Python packages of VIRTUAL_ENV, of CONDA_PREFIX, of the first python on PATH and of
 * HOME, /usr/local/cuda*, the Python packages of the system, and all nvidia/X/lib folders below
 * /opt. */
char *lra_cuda_library_file(const char *name, int i);
/* The i-th such file below one folder: TOP/.../nvidia/X/lib/NAME, at most 8 folders deep, without
 * following links. */
char *lra_cuda_library_below(const char *top, const char *name, int i);
/* One line that lists the places searched, with the values of the environment variables: "CUDA_HOME
 * (not set), ..."; to be freed with lra_free(). */
char *lra_cuda_library_paths(void);
/* sys.prefix of the first python3, or else python, on PATH, found without running it: the folder
 * that holds pyvenv.cfg, otherwise the parent of the program's folder with links resolved. NULL if
 * there is no python. To be freed with lra_free(). */
char *lra_cuda_python_prefix(void);

#ifdef __cplusplus
}
#endif
#endif
