/* Importing files that tests made, with parameters of the task changed. */
#ifndef LRA_TESTS_TASK_DATA_H
#define LRA_TESTS_TASK_DATA_H

#include <string.h>

#include "datasets/loader/dataset.h"
#include "datasets/prepare.h"
#include "kernels/base/mem.h"
#include "tests/folder.h"
#include "tests/real_data.h"
#include "tests/refused.h"

/* The task's parameters with "key=value ..." changed. */
static inline lra_config *task_config(const lra_task *t, const char *changes)
{
    lra_err e = {{0}};
    lra_config *c = lra_keys_config(t->keys);
    lra_config *change = lra_config_parse(changes, &e);
    for (int i = 0; lra_config_key(change, i); i++)
        lra_config_set(c, lra_config_key(change, i), lra_config_value(change, i));
    lra_config_free(change);
    return c;
}

/* Writes FOLDER/name, whose folder is made when it is missing. */
static inline void task_write(const char *name, const void *bytes, size_t n)
{
    lra_err e = {{0}};
    char *path = lra_format("%s/%s", folder, name), *slash = strrchr(path, '/');
    *slash = 0;
    assert_int_equal(lra_folder_make(path, &e), 0);
    *slash = '/';
    if (lra_file_write(path, bytes, n, &e) != 0) fail_msg("%s", e.msg);
    lra_free(path);
}

static inline void task_write_text(const char *name, const char *text)
{
    task_write(name, text, strlen(text));
}

/* Opens what is at a path; prepared data are kept in FOLDER/out.  NULL: refused, with a message. */
static inline lra_dataset *task_open(const lra_task *t, const char *path, const char *changes,
                                     lra_err *e)
{
    lra_config *c = task_config(t, changes);
    char *out = lra_format("%s/out", folder);
    lra_dataset *d = lra_dataset_open(t, c, out, path, e);
    lra_free(out);
    lra_config_free(c);
    return d;
}

/* The same for FOLDER/name. */
static inline lra_dataset *task_import(const lra_task *t, const char *name, const char *changes,
                                       lra_err *e)
{
    char *path = lra_format("%s/%s", folder, name);
    lra_dataset *d = task_open(t, path, changes, e);
    lra_free(path);
    return d;
}

/* Refused, and the message says so. */
static inline void task_refuses(const lra_task *t, const char *name, const char *changes,
                                const char *message)
{
    lra_err e = {{0}};
    lra_dataset *d = task_import(t, name, changes, &e);
    if (d) fail_msg("'%s' was accepted, expected '%s'", name, message);
    if (!strstr(e.msg, message)) fail_msg("'%s' lacks '%s'", e.msg, message);
}

#endif
