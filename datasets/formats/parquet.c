/* Recognises Parquet files. */
#include "datasets/formats/parquet.h"

#include <stdio.h>
#include <string.h>

#include "datasets/formats/walk.h"
#include "kernels/base/os/file.h"
#include "kernels/base/core/log.h"

enum { LEVELS = 4 };

bool lra_parquet_is(const char *path)
{
    char head[4] = {0};
    FILE *f = lra_file_open(path, NULL);
    if (!f) return false;
    size_t n = fread(head, 1, sizeof head, f);
    fclose(f);
    return n == sizeof head && memcmp(head, "PAR1", sizeof head) == 0;
}

/* Filter of files that stores the first Parquet name and accepts no file. */
static bool note(void *of, const char *name)
{
    char *first = of;
    size_t n = strlen(name);
    if (*first == 0 && n > 8 && strcmp(name + n - 8, ".parquet") == 0)
        snprintf(first, 256, "%s", name);
    return false;
}

int lra_parquet_explain(const lra_task *t, const char *path, int code, lra_err *e)
{
    char first[256] = {0};
    lra_walk w = {.wanted = note, .of = first, .levels = LEVELS};
    lra_err ignored;
    if (lra_parquet_is(path))
        snprintf(first, sizeof first, "%s", lra_walk_base(path));
    else if (!lra_is_folder(path) || lra_walk_path(&w, path, &ignored) != 0 || *first == 0)
        return code;
    if (t->files.from_parquet)
        lra_warn(
            "this command converts the Parquet files below the current folder: python3 -c \"%s\"",
            t->files.from_parquet);
    lra_fail(e, "'%s' is Parquet, which is not supported; expected %s", first, t->files.source);
    return code;
}
