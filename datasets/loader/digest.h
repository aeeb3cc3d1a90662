/* Digest of the official files below a path: one hash for the program, and a SHA-256 sum of each
 * file for users who compare files. */
#ifndef LRA_DATASETS_LOADER_DIGEST_H
#define LRA_DATASETS_LOADER_DIGEST_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    char *name; /* path below the root; if the root is a file, its name */
    uint64_t n; /* size in bytes */
    char sha256[65];
} lra_digest_file;

typedef struct {
    uint64_t hash; /* xxh3-64 hash of the names and bytes of all files */
    bool listed;   /* true: compute the sums of single files, and fill the members below */
    int64_t n, capacity;
    lra_digest_file *file;
} lra_digest;

void lra_digest_free(lra_digest *d);
/* Returns the SHA-256 of the lines "SHA256  NAME" of all files, which is the output of `sha256sum
 * FILES | sha256sum` below the path. */
void lra_digest_sum(const lra_digest *d, char hex[65]);

#endif
