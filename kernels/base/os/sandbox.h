/* Limits for a process that parses untrusted data. */
#ifndef LRA_BASE_OS_SANDBOX_H
#define LRA_BASE_OS_SANDBOX_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct {
    /* limit of the address space in bytes, in addition to the part that is mapped now */
    double memory;
    double seconds;  /* limit of the processor time in seconds */
    const int *keep; /* descriptors that stay open, in any order; all others are closed */
    int n_keep;
} lra_sandbox;

/* Limits a new child for the rest of its life: no core files, no new or growing files, no
 * descriptors except for `keep`, no children, and termination with `parent`. On Linux for x86-64
 * and AArch64 a seccomp filter allows only reading, writing, memory management and exit; every
 * other call fails with EPERM. Returns false if a limit could not be set. */
bool lra_sandbox_enter(const lra_sandbox *limits, pid_t parent);

#endif
