/* Locks on files. */
#ifndef LRA_BASE_OS_LOCK_H
#define LRA_BASE_OS_LOCK_H

#include <stdint.h>

#include "kernels/base/core/err.h"

/* An exclusive lock on PATH (made when missing), so that two processes do not train the same run.
 * Returns a descriptor to lra_unlock(), or -1 with "'PATH' is in use by process N". */
int lra_lock(const char *path, lra_err *e);
/* The same, but waits for the other process with a note; -1 when a signal asks to stop
 * meanwhile. */
int lra_lock_wait(const char *path, lra_err *e);
void lra_unlock(int lock);
/* From now on locks are not taken, in this process and in its children: for file systems without
 * locks.  The user makes sure that there is one process. */
void lra_locks_off(void);
/* The process that holds the lock on PATH; 0: nobody, or there is no such file. */
int64_t lra_lock_holder(const char *path);

#endif
