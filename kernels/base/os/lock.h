/* Locks on files. */
#ifndef LRA_BASE_OS_LOCK_H
#define LRA_BASE_OS_LOCK_H

#include "kernels/base/os/claim.h"

/* Kinds of locks. LRA_LOCKS_AUTO uses locks of the kernel, and claim files (claim.h) in folders
 * whose file system has no locks. LRA_LOCKS_CLAIMS always uses claim files, for file systems whose
 * locks do not reach other machines. LRA_LOCKS_NONE locks nothing: the user must then ensure that
 * only one process uses a run. */
typedef enum { LRA_LOCKS_AUTO, LRA_LOCKS_CLAIMS, LRA_LOCKS_NONE } lra_lock_kind;
/* Sets the kind of locks of this process and of its children. take_over: claims of other machines
 * are removed, without waiting until they are stale. */
void lra_locks_use(lra_lock_kind kind, bool take_over);

/* Takes an exclusive lock on PATH (created if missing), so that two processes do not train the same
 * run. Returns a descriptor for lra_unlock(), or -1: if another process holds the lock, *held is
 * true and the message is "'PATH' is in use by process N". Nullable: held. The process must not
 * open PATH again while it holds the lock, because closing the file would release the lock. */
int lra_lock(const char *path, bool *held, lra_err *e);
/* Like lra_lock(), but prints a message and waits if another process holds the lock. Returns -1 if
 * a signal requests a stop meanwhile. */
int lra_lock_wait(const char *path, lra_err *e);
void lra_unlock(int lock);
/* True if another process holds the lock on PATH. Nullable: owner. */
bool lra_lock_held(const char *path, lra_lock_owner *owner);
/* "process 12", or "process 12 on HOST" if the process runs on another machine. Returns `text`. */
const char *lra_lock_owner_text(const lra_lock_owner *owner, char text[128]);

#endif
