/* Lists a folder and the folders below it (official_folders.h). */
#include "probes/shared/official_folders.h"

#include "kernels/base/os/file.h"
#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"

static void add_below(lra_official_folders *p, const char *folder)
{
    char **names;
    int n = lra_folder_list(folder, &names, NULL);
    for (int i = 0; i < n && p->n < LRA_MAX_OFFICIAL_FOLDERS; i++) {
        char *path = lra_format("%s/%s", folder, names[i]);
        if (lra_is_folder(path))
            p->path[p->n++] = path;
        else
            lra_free(path);
    }
    if (n >= 0) lra_names_free(names, n);
}

void lra_official_folders_find(lra_official_folders *p, const char *folder)
{
    p->path[p->n++] = lra_copy_text(folder);
    for (int level = 0, from = 0; level < LRA_OFFICIAL_LEVELS; level++) {
        int to = p->n;
        for (int i = from; i < to; i++) add_below(p, p->path[i]);
        from = to;
    }
    if (p->n == LRA_MAX_OFFICIAL_FOLDERS)
        lra_warn("'%s' contains many folders; only the nearest %d are searched", folder,
                 (int)LRA_MAX_OFFICIAL_FOLDERS);
}

void lra_official_folders_free(lra_official_folders *p)
{
    for (int i = 0; i < p->n; i++) lra_free(p->path[i]);
    p->n = 0;
}
