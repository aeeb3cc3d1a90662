/* A walk over files, whatever holds them: which of them are wanted, who gets them, what was found.
 * Names are those below the path, with '/' between folders: members of an archive as the archive
 * says ("aclImdb/train/neg/0_3.txt"), a compressed file without its last suffix; members of an
 * archive that lies in a folder start with the name of the archive. */
#ifndef LRA_DATASETS_FORMATS_VISIT_H
#define LRA_DATASETS_FORMATS_VISIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/core/err.h"

typedef struct {
    /* Is this file to be read?  Nullable: all are. */
    bool (*wanted)(void *of, const char *name);
    /* Is this file of a folder an archive to be looked into?  Nullable: none is. */
    bool (*inside)(void *of, const char *name);
    /* Is this folder to be looked into?  Nullable: all are.  Archives are read from end to end
     * anyhow. */
    bool (*enter)(void *of, const char *name);
    /* A file that is wanted; bytes[n] is 0.  A code other than 0 ends the walk. */
    int (*visit)(void *of, const char *name, const char *bytes, size_t n, lra_err *e);
    /* Instead, for files of any size: their bytes piece by piece, then once n = 0.  Not with
     * `sorted`. */
    int (*piece)(void *of, const char *name, const char *bytes, size_t n, lra_err *e);
    void *of;
    bool sorted; /* archives: by name, all that is wanted in memory at once; folders always are */
    bool empty;  /* files of no bytes are visited too; not with `piece` */
    int levels;  /* folders: how deep files may lie below the path; 0: in it */
    /* Bytes that a file (in pieces: any number), and all of an archive together, may unpack to; 0:
     * 1 GiB and 64 GiB. */
    uint64_t max_file, max_total;

    /* What was found. */
    int64_t n_files;   /* visited */
    int64_t n_empty;   /* wanted, of no bytes, not visited */
    int64_t n_damaged; /* wanted, not readable while the rest of the archive is: not visited */
    char damaged[128]; /* the first of them */
} lra_walk;

/* A name without the folders in front of it. */
const char *lra_walk_base(const char *name);
/* For messages that say that something is absent: " (files of no bytes are)", or "". */
const char *lra_walk_but_empty(const lra_walk *w);
/* Warns of what was left out, if anything. */
void lra_walk_report(const lra_walk *w, const char *path);

/* ---- for who finds files ---- */

#define LRA_WALK_MAX_FILE ((uint64_t)1 << 30)
bool lra_walk_wants(const lra_walk *w, const char *name);
/* Gives out a file; its end, when it was given out in pieces. */
int lra_walk_visit(lra_walk *w, const char *name, const char *bytes, size_t n, lra_err *e);
int lra_walk_end(lra_walk *w, const char *name, lra_err *e);

#endif
