/* Folders that tests make. */
#ifndef LRA_TESTS_FOLDER_H
#define LRA_TESTS_FOLDER_H

#include <stdio.h>
#include <unistd.h>

#include "kernels/base/file.h"
#include "kernels/base/mem.h"

/* Removes a folder and all below it. */
static inline int remove_below(const char *path)
{
    char **names = NULL;
    lra_err e;
    int n = lra_folder_list(path, &names, &e);
    for (int i = 0; i < n; i++) {
        char *below = lra_format("%s/%s", path, names[i]);
        if (lra_is_folder(below))
            remove_below(below);
        else
            remove(below);
        lra_free(below);
    }
    if (n >= 0) lra_names_free(names, n);
    return rmdir(path);
}

static char *folder; /* of the test program: group set-up makes it, group tear-down removes it */

static inline int make_folder(void **state)
{
    (void)state;
    lra_err e;
    folder = lra_format("test_folder.%ld", (long)getpid());
    return lra_folder_make(folder, &e);
}

static inline int remove_folder(void **state)
{
    (void)state;
    int rc = remove_below(folder);
    lra_free(folder);
    return rc;
}

#endif
