/* Paths of program files, and the restart of this program. */
#include "kernels/base/os/executable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/base/core/mem.h"

/* Returns an absolute path: a relative one is completed by the working directory. Frees `path`. */
static char *absolute(char *path)
{
    char here[4096];
    if (*path == '/' || !getcwd(here, sizeof here)) return path;
    char *full = lra_format("%s/%s", here, path);
    lra_free(path);
    return full;
}

static bool is_program(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode) && access(path, X_OK) == 0;
}

char *lra_process_find(const char *program)
{
    if (strchr(program, '/')) return is_program(program) ? absolute(lra_copy_text(program)) : NULL;
    const char *at = getenv("PATH");
    for (; at && *at; at += strcspn(at, ":"), at += *at == ':') {
        /* skips empty elements of PATH, which would mean the working directory */
        if (*at == ':') continue;
        char *full = lra_format("%.*s/%s", (int)strcspn(at, ":"), at, program);
        if (is_program(full)) return absolute(full);
        lra_free(full);
    }
    return NULL;
}

/* Absolute path of the running program, for systems without /proc. Determined once, in main(). */
static char *own_file;

static void find_own_file(const char *name)
{
    own_file = name ? lra_process_find(name) : NULL;
}

/* Restarts this program. The link in /proc refers to the running program even if its file was
 * renamed or replaced. */
void lra_self_exec(char *const *argv)
{
    execv("/proc/self/exe", argv);
    if (own_file) execv(own_file, argv);
}

/* Makes threads spin for tens of microseconds; libgomp's default is a count of 300,000 or more. */
#define SPINS "10000"
const char lra_threads_variable[] = "GOMP_SPINCOUNT=" SPINS;

void lra_threads_sleep_soon(char **argv)
{
    find_own_file(argv[0]);
    if (getenv("GOMP_SPINCOUNT") || getenv("OMP_WAIT_POLICY")) return;
    /* if the restart fails, the program is only slower on a busy machine */
    if (setenv("GOMP_SPINCOUNT", SPINS, 1) == 0) lra_self_exec(argv);
}

int lra_self_command(char ***words)
{
    int n = 0;
    char *word = NULL;
    size_t capacity = 0;
    FILE *f = fopen("/proc/self/cmdline", "r");
    *words = NULL;
    while (f && getdelim(&word, &capacity, 0, f) > 0) {
        *words = lra_resize(*words, (size_t)(n + 1) * sizeof **words);
        (*words)[n++] = lra_copy_text(word);
    }
    if (f) fclose(f);
    free(word); /* allocated by getdelim() */
    return n;
}
