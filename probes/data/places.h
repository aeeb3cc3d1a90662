/* Where official files may lie below a folder: it and the folders below it, the nearest first. */
#ifndef LRA_PROBES_DATA_PLACES_H
#define LRA_PROBES_DATA_PLACES_H

enum { LRA_PLACE_LEVELS = 3, LRA_MAX_PLACES = 256 };

typedef struct {
    char *path[LRA_MAX_PLACES];
    int n;
} lra_places;

/* Into an empty list; warns when there are more than it holds. */
void lra_places_below(lra_places *p, const char *folder);
void lra_places_free(lra_places *p);

#endif
