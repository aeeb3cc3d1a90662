/* Says so when the program cannot start for want of address space, instead of waiting for ever. */
#ifndef LRA_CPU_START_GUARD_H
#define LRA_CPU_START_GUARD_H

/* First thing in main(): it has started.  Who calls it has the guard. */
void lra_start_guard_end(void);

#endif
