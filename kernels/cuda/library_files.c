/* Search for library files by pattern. */
#define _XOPEN_SOURCE 700 /* declares realpath() */
#include "kernels/cuda/library_files.h"

#include <dirent.h>
#include <glob.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/base/core/mem.h"

#define PACKAGES "/python3*/site-packages/nvidia/*/lib/"

enum { MOST_FOLDERS = 20000, MOST_DEPTH = 8 };

/* ---- programs on PATH ------------------------------------------------------------------------ */

/* Path of the first program with this name on PATH. Relative entries of PATH are skipped. */
static char *on_path(const char *name)
{
    const char *at = getenv("PATH");
    while (at && *at) {
        size_t n = strcspn(at, ":");
        char *path = lra_format("%.*s/%s", (int)n, at, name);
        if (path[0] == '/' && access(path, X_OK) == 0) return path;
        lra_free(path);
        at += n + (at[n] == ':');
    }
    return NULL;
}

/* The path without its last `levels` components. */
static char *above(const char *path, int levels)
{
    char *top = lra_copy_text(path);
    for (; levels > 0; levels--) {
        char *slash = strrchr(top, '/');
        if (slash) *slash = 0;
    }
    return top;
}

static char *resolved(const char *path)
{
    char *real = realpath(path, NULL);
    char *copy = lra_copy_text(real ? real : path);
    free(real);
    return copy;
}

char *lra_cuda_python_prefix(void)
{
    char *python = on_path("python3");
    if (!python) python = on_path("python");
    if (!python) return NULL;
    char *prefix = above(python, 2);
    char *mark = lra_format("%s/pyvenv.cfg", prefix);
    if (access(mark, F_OK) != 0) {
        char *real = resolved(python);
        lra_free(prefix);
        prefix = above(real, 2);
        lra_free(real);
    }
    lra_free(mark);
    lra_free(python);
    return prefix;
}

static char *toolkit_of_nvcc(void)
{
    char *nvcc = on_path("nvcc");
    if (!nvcc) return NULL;
    char *real = resolved(nvcc), *top = above(real, 2);
    lra_free(real);
    lra_free(nvcc);
    return top;
}

/* ---- patterns -------------------------------------------------------------------------------- */

/* A place to search: patterns below the value of an environment variable, or below the result of a
 * function; if neither is set, absolute patterns. */
typedef struct {
    const char *name; /* name in messages */
    const char *variable;
    char *(*find)(void);
    const char *pattern[3];
} place;

static const place places[] = {
    {"CUDA_HOME", "CUDA_HOME", NULL, {"/lib64/", "/targets/*/lib/"}},
    {"CUDA_PATH", "CUDA_PATH", NULL, {"/lib64/", "/targets/*/lib/"}},
    {"nvcc on PATH", NULL, toolkit_of_nvcc, {"/lib64/", "/targets/*/lib/"}},
    {"VIRTUAL_ENV", "VIRTUAL_ENV", NULL, {"/lib" PACKAGES, "/lib64" PACKAGES}},
    {"CONDA_PREFIX", "CONDA_PREFIX", NULL, {"/lib/", "/lib" PACKAGES}},
    {"python on PATH",
     NULL,
     lra_cuda_python_prefix,
     {"/lib" PACKAGES, "/lib64" PACKAGES, "/versions/*/lib" PACKAGES}},
    {"~/.local", "HOME", NULL, {"/.local/lib" PACKAGES}},
    {"/usr/local/cuda*",
     NULL,
     NULL,
     {"/usr/local/cuda*/lib64/", "/usr/local/cuda*/targets/*/lib/"}},
    {"/usr/lib and /usr/local/lib/python3*",
     NULL,
     NULL,
     {"/usr/local/lib/python3*/*-packages/nvidia/*/lib/",
      "/usr/lib/python3*/*-packages/nvidia/*/lib/"}},
    {"/opt/*/lib", NULL, NULL, {"/opt/*/lib/"}},
};
enum { N_PLACES = sizeof places / sizeof *places, N_PATTERNS = 3 };

/* The folder below which the patterns of a place are searched. "": patterns are absolute; NULL: the
 * place does not exist. */
static char *folder_of(const place *p)
{
    if (p->find) return p->find();
    const char *value = p->variable ? getenv(p->variable) : "";
    return value && (!p->variable || *value) ? lra_copy_text(value) : NULL;
}

/* The i-th file that matches a pattern; NULL if there are fewer. *n: number of matches. */
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

/* ---- all folders below one ------------------------------------------------------------------- */

typedef struct {
    const char *name;
    int i, folders; /* i: matches that are still to be skipped; folders: folders visited so far */
    char *found;
} walk;

static bool is_folder(const char *path)
{
    struct stat s;
    return lstat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void visit(walk *w, const char *folder, int depth)
{
    struct dirent **entry = NULL;
    int n = depth <= MOST_DEPTH ? scandir(folder, &entry, NULL, by_name) : 0;
    for (int k = 0; k < n; k++) {
        const char *name = entry[k]->d_name;
        char *path = lra_format("%s/%s", folder, name);
        if (!w->found && w->folders < MOST_FOLDERS && strcmp(name, ".") != 0 &&
            strcmp(name, "..") != 0 && is_folder(path)) {
            w->folders++;
            if (strcmp(name, "nvidia") == 0) {
                int files = 0;
                char *pattern = lra_format("%s/*/lib/%s", path, w->name);
                w->found = one_of(pattern, w->i, &files);
                w->i -= files;
                lra_free(pattern);
            } else {
                visit(w, path, depth + 1);
            }
        }
        lra_free(path);
        free(entry[k]);
    }
    free(entry);
}

char *lra_cuda_library_below(const char *top, const char *name, int i)
{
    walk w = {.name = name, .i = i};
    visit(&w, top, 1);
    return w.found;
}

/* ---- the search ------------------------------------------------------------------------------ */

char *lra_cuda_library_file(const char *name, int i)
{
    char *path = NULL;
    for (int k = 0; k < N_PLACES && !path; k++) {
        char *folder = folder_of(&places[k]);
        for (int j = 0; folder && j < N_PATTERNS && places[k].pattern[j] && !path; j++) {
            int n = 0;
            char *pattern = lra_format("%s%s%s", folder, places[k].pattern[j], name);
            path = one_of(pattern, i, &n);
            if (!path) i -= n;
            lra_free(pattern);
        }
        lra_free(folder);
    }
    return path ? path : lra_cuda_library_below("/opt", name, i);
}

char *lra_cuda_library_paths(void)
{
    char *text = lra_copy_text("the loader's path (LD_LIBRARY_PATH)");
    for (int k = 0; k < N_PLACES; k++) {
        char *folder = folder_of(&places[k]), *longer;
        if (!folder)
            longer = lra_format("%s, %s (%s)", text, places[k].name,
                                places[k].find ? "none" : "not set");
        else
            longer = *folder && strcmp(places[k].name, "~/.local") != 0
                         ? lra_format("%s, %s (%s)", text, places[k].name, folder)
                         : lra_format("%s, %s", text, places[k].name);
        lra_free(folder);
        lra_free(text);
        text = longer;
    }
    char *all = lra_format("%s, /opt/**/nvidia/*/lib", text);
    lra_free(text);
    return all;
}
