/* Where official files may lie below a folder: it and the folders below it, the nearest first. */
#ifndef LRA_PROBES_SHARED_OFFICIAL_FOLDERS_H
#define LRA_PROBES_SHARED_OFFICIAL_FOLDERS_H

enum { LRA_OFFICIAL_LEVELS = 3, LRA_MAX_OFFICIAL_FOLDERS = 256 };

typedef struct {
    char *path[LRA_MAX_OFFICIAL_FOLDERS];
    int n;
} lra_official_folders;

/* Into an empty list; warns when there are more than it holds. */
void lra_official_folders_find(lra_official_folders *p, const char *folder);
void lra_official_folders_free(lra_official_folders *p);

#endif
