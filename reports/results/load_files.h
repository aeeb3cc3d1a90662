/* Loads the files of one kind (result.h5, kernels.h5, listops.h5, ...) from several places. Every
 * cell (a configuration with one seed) is loaded once:
 *   * a file that cannot be read is skipped with a warning;
 *   * copies of a file (equal measurements of one cell) are merged, with a note;
 *   * if files of one cell have different measurements, the first is kept, and a warning names
 *   both. */
#ifndef LRA_REPORTS_RESULTS_LOAD_FILES_H
#define LRA_REPORTS_RESULTS_LOAD_FILES_H

#include <stdint.h>

#include "kernels/base/core/err.h"

typedef struct {
    const char *file; /* name of the file in the folder of a run: "result.h5" */
    void *(*read)(const char *path, const char *file, lra_err *e); /* reads a file; NULL: failure */
    void (*free)(void *item);
    char *(*cell)(const void *item);      /* configuration and seed as text; the caller frees it */
    uint64_t (*digest)(const void *item); /* hash of the measurements */
} lra_file_kind;

/* Reads every file of n places (result_files.h), in their order. The time is linear in the number
 * of files, except for a sort. Returns the number of items (0 if there are no files), or -1 if a
 * place does not exist or none of the files can be read. The caller frees the items and the
 * list. */
int lra_files_load(const lra_file_kind *kind, int n, const char *const *place, void ***list,
                   lra_err *e);

/* Message on file i that this process has left out because it cannot be read, for reports that list
 * them (at most the first 100); NULL after the last. */
const char *lra_files_left_out(int i);

/* Identity of a cell: task, preset, precision, data, and the lines of its configuration, except for
 * lines that begin with one of the words, and except for the names of related runs ("train.from":
 * the run that initialised it; "train.matched": the run whose control it is). These names differ
 * between seeds; "train.related" records how the related run was trained. The caller frees the
 * text. */
char *lra_identity_text(const char *task, const char *preset, const char *precision,
                        const char *fingerprint, const char *config, int n_words,
                        const char *const *word);

#endif
