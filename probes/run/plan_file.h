/* The cells of a sweep or ladder, OUT/sweeps/HASH.json, so that 'lra-probe status' knows the runs
 * that have not started. Identical workers write the same file. It is removed when all cells have
 * results. */
#ifndef LRA_PROBES_RUN_PLAN_FILE_H
#define LRA_PROBES_RUN_PLAN_FILE_H

#include "probes/run/run_cell.h"

/* Writes the file; its path, which the caller frees, is also returned if writing fails, which is no
 * error. */
char *lra_plan_file_write(const char *out, int n, const lra_run_cell *cell);
/* Removes the file and the folder, if it is empty. */
void lra_plan_file_remove(const char *path);

typedef struct {
    char *name;     /* name of the cell in its sweep; printable */
    char *folder;   /* OUT/runs/NAME or OUT/trials/NAME. NULL: it depends on trials */
    double seconds; /* planned duration; 0: unknown */
} lra_planned_cell;

/* Reads the cells of all files in OUT/sweeps; files that are not valid are left out. Returns their
 * number. The caller frees them with lra_planned_cells_free(). */
int lra_plan_files_read(const char *out, lra_planned_cell **cells);
void lra_planned_cells_free(lra_planned_cell *cell, int n);

#endif
