/* Claim files: locks for file systems that have none, or whose locks do not reach other machines.
 *
 * The claim of PATH is the file PATH.claim, which exists while a process holds the lock. It is
 * created exclusively and contains the machine, the process and the start time of the process. The
 * holder sets its modification time every LRA_CLAIM_BEAT seconds. A claim is stale, and is removed
 * by the next process that wants it, if its process has ended (same machine), or if it has not been
 * touched for LRA_CLAIM_STALE seconds (other machines). Ages are differences of times that the file
 * server sets, so that clocks of machines need not agree. */
#ifndef LRA_BASE_OS_CLAIM_H
#define LRA_BASE_OS_CLAIM_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/base/core/err.h"

/* The process that holds a lock. */
typedef struct {
    int64_t pid;   /* process id; 0: unknown */
    char host[72]; /* name of its machine; empty: unknown */
} lra_lock_owner;

enum { LRA_CLAIM_BEAT = 20, LRA_CLAIM_STALE = 300 };

/* Claims PATH. Returns a descriptor for lra_claim_release(), or -1; *held is true if another
 * process holds the claim, and owner is that process. take_over: claims of other machines are
 * removed at once. */
int lra_claim(const char *path, bool take_over, bool *held, lra_lock_owner *owner, lra_err *e);
/* Removes the claim of a descriptor. Returns false if the descriptor is no claim. */
bool lra_claim_release(int claim);
/* True if another process holds a claim of PATH that is not stale. Nullable: owner. */
bool lra_claim_held(const char *path, lra_lock_owner *owner);

/* Returns the id and the machine of this process. */
lra_lock_owner lra_lock_owner_self(void);

#endif
