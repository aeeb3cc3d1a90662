/* Finds result files (result_files.h). */
#include "reports/results/result_files.h"

#include <stdbool.h>

#include "kernels/base/os/file.h"
#include "kernels/base/formats/h5.h"
#include "kernels/base/core/mem.h"

/* Subfolders of OUT with results: of runs, of data (without a model), of probes of read-only
 * runs. */
static const char *const of_out[] = {"runs", "information", "probes"};
enum { N_BELOW = sizeof of_out / sizeof *of_out };

typedef struct {
    char **path;
    int n;
} list;

/* Adds a path to the list, which takes ownership of it. */
static void add(list *l, char *path)
{
    l->path = lra_resize(l->path, (size_t)(l->n + 1) * sizeof *l->path);
    l->path[l->n++] = path;
}

/* Adds the files of all subfolders of a folder. */
static int add_inner(list *l, const char *runs, const char *name, lra_err *e)
{
    char **entry;
    int n = lra_folder_list(runs, &entry, e);
    if (n < 0) return LRA_FAILED;
    for (int i = 0; i < n; i++) {
        char *path = lra_format("%s/%s/%s", runs, entry[i], name);
        if (lra_file_exists(path))
            add(l, path);
        else
            lra_free(path);
    }
    lra_names_free(entry, n);
    return 0;
}

static int add_place(list *l, const char *place, const char *name, lra_err *e)
{
    if (!lra_file_exists(place)) return lra_fail(e, "there is no file or folder '%s'", place);
    if (!lra_is_folder(place)) {
        /* read it in a child process, because it may come from an untrusted source */
        lra_h5_distrust(place);
        add(l, lra_copy_text(place));
        return 0;
    }
    char *single = lra_format("%s/%s", place, name);
    bool here = lra_file_exists(single), below = false;
    int rc = 0;
    if (here) add(l, lra_copy_text(single));
    for (int i = 0; i < N_BELOW && rc == 0 && !here; i++) {
        char *folder = lra_format("%s/%s", place, of_out[i]);
        if (lra_is_folder(folder)) {
            below = true;
            rc = add_inner(l, folder, name, e);
        }
        lra_free(folder);
    }
    if (rc == 0 && !here && !below) rc = add_inner(l, place, name, e);
    lra_free(single);
    return rc;
}

int lra_result_files_find(int n, const char *const *place, const char *name, char ***paths,
                          lra_err *e)
{
    list l = {0};
    int rc = 0;
    for (int i = 0; i < n && rc == 0; i++) rc = add_place(&l, place[i], name, e);
    *paths = l.path;
    if (rc == 0) return l.n;
    lra_names_free(l.path, l.n);
    *paths = NULL;
    return LRA_FAILED;
}
