/* A walk over the files of a folder or an archive: filters, a visitor, and counters. File names are
 * relative to the path, with '/' between folders. A member of an archive has its name in the
 * archive ("aclImdb/train/neg/0_3.txt"), a compressed file its name without the last suffix. Names
 * of members of an archive in a folder begin with the name of the archive. */
#ifndef LRA_DATASETS_FORMATS_VISIT_H
#define LRA_DATASETS_FORMATS_VISIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/core/err.h"

typedef struct {
    /* Filter of files by name. Nullable: all files are visited. */
    bool (*wanted)(void *of, const char *name);
    /* Filter of archives in a folder, by name. Nullable: no archive is read. */
    bool (*inside)(void *of, const char *name);
    /* Filter of folders by name. Nullable: all folders are read. Archives are always read
     * completely. */
    bool (*enter)(void *of, const char *name);
    /* Visits an accepted file. bytes: (n) its content, followed by a byte 0. A return value other
     * than 0 ends the walk. */
    int (*visit)(void *of, const char *name, const char *bytes, size_t n, lra_err *e);
    /* Replaces `visit` for files of any size: visits their bytes piece by piece, then once with n =
     * 0 at the end of the file. Cannot be combined with `sorted`. */
    int (*piece)(void *of, const char *name, const char *bytes, size_t n, lra_err *e);
    void *of;
    /* Archives: files are visited in order of name, with all accepted files in memory at once.
     * Folders are always visited in order of name. */
    bool sorted;
    bool empty; /* empty files are visited, too; cannot be combined with `piece` */
    int levels; /* folders: maximum depth of files below the path; 0: only files directly in it */
    /* Maximum unpacked size in bytes of a file (unlimited with `piece`) and of all files of an
     * archive together; 0: 1 GiB and 64 GiB. */
    uint64_t max_file, max_total;

    /* Counters of files, which the walk sets. */
    int64_t n_files; /* visited files */
    int64_t n_empty; /* accepted files that are empty, which are not visited */
    /* Accepted files that are unreadable, although the rest of the archive is readable; not
     * visited. */
    int64_t n_damaged;
    char damaged[128]; /* name of the first damaged file */
} lra_walk;

/* Returns the name without its leading folders. */
const char *lra_walk_base(const char *name);
/* Returns an addition to messages about missing files, if empty files were found, else "". */
const char *lra_walk_but_empty(const lra_walk *w);
/* Warns about skipped files, if any. */
void lra_walk_report(const lra_walk *w, const char *path);

/* ---- for functions that find files ---- */

#define LRA_WALK_MAX_FILE ((uint64_t)1 << 30)
bool lra_walk_wants(const lra_walk *w, const char *name);
/* lra_walk_visit(): visits a complete file. lra_walk_end(): ends a file that was visited in
 * pieces. */
int lra_walk_visit(lra_walk *w, const char *name, const char *bytes, size_t n, lra_err *e);
int lra_walk_end(lra_walk *w, const char *name, lra_err *e);

#endif
