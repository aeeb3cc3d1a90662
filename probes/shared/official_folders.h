/* Folders that can contain official files: the given one and the folders below it, in order of
 * depth. */
#ifndef LRA_PROBES_SHARED_OFFICIAL_FOLDERS_H
#define LRA_PROBES_SHARED_OFFICIAL_FOLDERS_H

enum { LRA_OFFICIAL_LEVELS = 3, LRA_MAX_OFFICIAL_FOLDERS = 256 };

typedef struct {
    char *path[LRA_MAX_OFFICIAL_FOLDERS];
    int n;
} lra_official_folders;

/* Fills an empty list. Warns if the number of folders exceeds the capacity of the list. */
void lra_official_folders_find(lra_official_folders *p, const char *folder);
void lra_official_folders_free(lra_official_folders *p);

#endif
