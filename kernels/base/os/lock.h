/* Locks on files. */
#ifndef LRA_BASE_OS_LOCK_H
#define LRA_BASE_OS_LOCK_H

#include <stdint.h>

#include "kernels/base/core/err.h"

/* Takes an exclusive lock on PATH (created if missing), so that two processes do not train the same
 * run. Returns a descriptor for lra_unlock(), or -1 with "'PATH' is in use by process N". */
int lra_lock(const char *path, lra_err *e);
/* Like lra_lock(), but prints a message and waits if another process holds the lock. Returns -1 if
 * a signal requests a stop meanwhile. */
int lra_lock_wait(const char *path, lra_err *e);
void lra_unlock(int lock);
/* Disables locks in this process and its children, for file systems without locks. The user must
 * then ensure that only one process uses a run. */
void lra_locks_off(void);
/* Id of the process that holds the lock on PATH; 0: no process does, or the file is missing. */
int64_t lra_lock_holder(const char *path);

#endif
