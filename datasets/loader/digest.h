/* Digest of the official files below a path: one number for the program, and a sum for each file
 * for users who compare. */
#ifndef LRA_DATASETS_LOADER_DIGEST_H
#define LRA_DATASETS_LOADER_DIGEST_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    char *name; /* below the path; a path that is a file: its last part */
    uint64_t n; /* bytes */
    char sha256[65];
} lra_digest_file;

typedef struct {
    uint64_t hash; /* xxh3-64 of names and bytes */
    bool listed;   /* request the sums of single files; the fields below are theirs */
    int64_t n, capacity;
    lra_digest_file *file;
} lra_digest;

void lra_digest_free(lra_digest *d);
/* SHA-256 of the lines "SHA256  NAME" of all files: the output of `sha256sum FILES | sha256sum`
 * below the path. */
void lra_digest_sum(const lra_digest *d, char hex[65]);

#endif
