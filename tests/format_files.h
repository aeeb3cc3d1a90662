/* The files that a run leaves, tiny, and all that can be read from them: for tests that damage
 * them. */
#ifndef LRA_TESTS_FORMAT_FILES_H
#define LRA_TESTS_FORMAT_FILES_H

#include <stdint.h>
#include <stdio.h>

#include "kernels/base/err.h"

enum {
    FORMAT_DATA,
    FORMAT_CHECKPOINT,
    FORMAT_BEST,
    FORMAT_RESULT,
    FORMAT_LISTOPS,
    FORMAT_PROBE,
    FORMAT_KINDS
};
extern const char
    *const own_names[FORMAT_KINDS]; /* "data" "checkpoint" "best" "result" "listops" "kernels" */

/* Writes one file of each kind below a folder of this process, in memory where the system has such
 * a place; once. */
void format_files_make(void);
const char *format_files_path(int kind);
/* Reads everything as the programs do: 0 and a hash of all of it, or -1. */
int format_files_read(int kind, uint64_t *hash, lra_err *e);
/* Removes the folder. */
void format_files_remove(void);

/* Writes bytes, whatever they are, and the seal that fits them; 0 or -1. */
int format_files_seal(FILE *to, const void *bytes, size_t n);

#endif
