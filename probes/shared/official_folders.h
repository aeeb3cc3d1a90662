/* Possible folders of official files: the given one and the folders below it, the nearest first. */
#ifndef LRA_PROBES_SHARED_OFFICIAL_FOLDERS_H
#define LRA_PROBES_SHARED_OFFICIAL_FOLDERS_H

enum { LRA_OFFICIAL_LEVELS = 3, LRA_MAX_OFFICIAL_FOLDERS = 256 };

typedef struct {
    char *path[LRA_MAX_OFFICIAL_FOLDERS];
    int n;
} lra_official_folders;

/* Fills an empty list; warns if there are more folders than it holds. */
void lra_official_folders_find(lra_official_folders *p, const char *folder);
void lra_official_folders_free(lra_official_folders *p);

#endif
