/* Imports below the folder of the test program (tests/folder.h). */
#ifndef LRA_TESTS_IMPORT_TASK_H
#define LRA_TESTS_IMPORT_TASK_H

#include <string.h>

#include "datasets/dataset.h"
#include "kernels/base/mem.h"
#include "tests/folder.h"

/* The defaults of a task with changes. */
static inline lra_config *task_config(const lra_task *t, const char *changes)
{
    lra_err e = {{0}};
    lra_config *c = lra_config_parse(t->defaults, &e), *change = lra_config_parse(changes, &e);
    for (int i = 0; lra_config_key(change, i); i++)
        lra_config_set(c, lra_config_key(change, i), lra_config_value(change, i));
    lra_config_free(change);
    return c;
}

/* Imports what is at `name` in the folder; NULL with a message. */
static inline lra_dataset *task_import(const lra_task *t, const char *name, const char *changes,
                                       lra_err *e)
{
    lra_config *c = task_config(t, changes);
    char *path = lra_format("%s/%s", folder, name), *out = lra_format("%s/out", folder);
    lra_dataset *d = lra_dataset_open(t, c, out, path, e);
    lra_free(path);
    lra_free(out);
    lra_config_free(c);
    return d;
}

/* A file below the folder. */
static inline void write_text(const char *name, const char *text)
{
    lra_err e = {{0}};
    char *path = lra_format("%s/%s", folder, name);
    for (char *at = path + strlen(folder) + 1; *at; at++)
        if (*at == '/') {
            *at = 0;
            if (lra_folder_make(path, &e) != 0) LRA_BUG("%s", e.msg);
            *at = '/';
        }
    if (lra_file_write(path, text, strlen(text), &e) != 0) LRA_BUG("%s", e.msg);
    lra_free(path);
}

#endif
