/* The start under a limit of the address space (ulimit -v).
 * OpenBLAS maps 128 MiB for each of its threads before main(), and tries for ever when it cannot.  What stands in
 * .preinit_array runs before the start of every library: where there is a limit it sets a timer of processor time,
 * which main() stops, and whose signal says what is wrong. */
#include "kernels/cpu/start_guard.h"

#if defined(__linux__) && !defined(LRA_DEBUG) /* sanitizers start there themselves */
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

enum { MILLISECONDS = 500 }; /* a start takes a hundredth of that */

static void set_timer(int milliseconds)
{
    const struct itimerval t = {.it_value = {.tv_usec = 1000 * milliseconds}};
    setitimer(ITIMER_PROF, &t, NULL);
}

static void give_up(int number)
{
    static const char said[] =
        "lra-probe: too little address space for OpenBLAS, which takes 128 MiB for each of its threads before the "
        "program starts; raise the limit (ulimit -v) or set OMP_NUM_THREADS=1\n";
    (void)number;
    ssize_t n = write(2, said, sizeof said - 1);
    (void)n; /* whoever listens */
    _exit(1);
}

static void watch_start(int argc, char **argv, char **environment)
{
    (void)argc, (void)argv, (void)environment;
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = give_up;
    sigaction(SIGPROF, &action, NULL);
    set_timer(MILLISECONDS);
}

__attribute__((section(".preinit_array"), used)) static void (*const first)(int, char **,
                                                                            char **) = watch_start;

void lra_start_guard_end(void)
{
    set_timer(0);
    signal(SIGPROF, SIG_DFL);
}
#else
void lra_start_guard_end(void) {}
#endif
