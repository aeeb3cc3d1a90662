/* The files below a path, whatever the path is: a folder, a .tar, .tar.gz, .tar.xz or .zip archive, one compressed
 * file (.gz, .xz, .bz2), or a plain file.  Recognised by content, not by name; nothing is written.
 * Names are those below the path, with '/' between folders: members of an archive as the archive says
 * ("aclImdb/train/neg/0_3.txt"), a compressed file without its last suffix; members of an archive that lies in a
 * folder start with the name of the archive.  A compressed file of a folder is left out, and said to be, where the same
 * name without its last suffix is there, too. */
#ifndef LRA_DATASETS_FORMATS_ARCHIVE_H
#define LRA_DATASETS_FORMATS_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "datasets/formats/digest.h"
#include "kernels/base/err.h"

typedef struct {
    /* Is this file to be read?  Nullable: all are. */
    bool (*wanted)(void *of, const char *name);
    /* Is this file of a folder an archive to be looked into?  Nullable: none is. */
    bool (*inside)(void *of, const char *name);
    /* Is this folder to be looked into?  Nullable: all are.  Archives are read from end to end anyhow. */
    bool (*enter)(void *of, const char *name);
    /* A file that is wanted; bytes[n] is 0.  A code other than 0 ends the walk. */
    int (*visit)(void *of, const char *name, const char *bytes, size_t n, lra_err *e);
    /* Instead, for files of any size: their bytes piece by piece, then once n = 0.  Not with `sorted`. */
    int (*piece)(void *of, const char *name, const char *bytes, size_t n, lra_err *e);
    void *of;
    bool sorted; /* archives: by name, all that is wanted in memory at once; folders always are */
    bool empty;  /* files of no bytes are visited too; not with `piece` */
    int levels;  /* folders: how deep files may lie below the path; 0: in it */
    /* Bytes that a file (in pieces: any number), and all of an archive together, may unpack to; 0: 1 GiB and
     * 64 GiB. */
    uint64_t max_file, max_total;

    /* What was found. */
    int64_t n_files;   /* visited */
    int64_t n_empty;   /* wanted, of no bytes, not visited */
    int64_t n_damaged; /* wanted, not readable while the rest of the archive is: not visited */
    char damaged[128]; /* the first of them */
} lra_walk;

/* An archive that ends early, or unpacks to more than is allowed, is a failure. */
int lra_walk_path(lra_walk *w, const char *path, lra_err *e);
/* The same for an archive or a compressed file in memory; `name` stands in messages. */
int lra_walk_bytes(lra_walk *w, const void *bytes, size_t n, const char *name, lra_err *e);
/* A name without the folders in front of it. */
const char *lra_walk_base(const char *name);
/* For messages that say that something is absent: " (files of no bytes are)", or "". */
const char *lra_walk_but_empty(const lra_walk *w);
/* Warns of what was left out, if anything. */
void lra_walk_report(const lra_walk *w, const char *path);

/* Hashes of what is below a path: an archive's own bytes, or names and bytes of the files of a folder, as far as
 * they are wanted. */
int lra_walk_hash(const lra_walk *w, const char *path, lra_digest *to, lra_err *e);

#endif
