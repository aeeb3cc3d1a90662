/* Limits for a process that parses untrusted data. */
#define _GNU_SOURCE /* declares syscall() */
#include "kernels/base/os/sandbox.h"

#include <math.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef __linux__
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#if defined(__SANITIZE_ADDRESS__)
#define LRA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LRA_ASAN 1
#endif
#endif

enum { OPEN_MOST = 4096 };

/* ---- descriptors ----------------------------------------------------------------------------- */

static void close_range_of(unsigned first, unsigned last)
{
    if (first > last) return;
#ifdef SYS_close_range
    if (syscall(SYS_close_range, first, last, 0) == 0) return;
#endif
    long most = sysconf(_SC_OPEN_MAX);
    if (most < 0 || most > OPEN_MOST) most = OPEN_MOST;
    for (unsigned i = first; i <= last && i < (unsigned)most; i++) close((int)i);
}

/* Closes all descriptors except for those to keep. */
static void close_others(const lra_sandbox *s)
{
    unsigned from = 0;
    for (int k = 0; k < s->n_keep; k++) {
        unsigned next = ~0u;
        for (int i = 0; i < s->n_keep; i++) {
            unsigned fd = (unsigned)s->keep[i];
            if (fd >= from && fd < next) next = fd;
        }
        /* all listed descriptors were found: the list contains one of them twice */
        if (next == ~0u) break;
        if (next > 0) close_range_of(from, next - 1);
        from = next + 1;
    }
    close_range_of(from, ~0u);
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* glibc has an enumeration for the resources of limits; other C libraries use int. */
#ifdef __GLIBC__
typedef __rlimit_resource_t resource_kind;
#else
typedef int resource_kind;
#endif

static bool limit(resource_kind resource, double most)
{
    rlim_t n = (rlim_t)most;
    struct rlimit r;
    if (getrlimit(resource, &r) == 0 && r.rlim_max != RLIM_INFINITY && r.rlim_max < n)
        n = r.rlim_max;
    return setrlimit(resource, &(struct rlimit){n, n}) == 0;
}

/* Number of bytes of the address space that are mapped; 0: unknown. */
static double mapped(void)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%lu", &pages) != 1) pages = 0;
    if (f) fclose(f);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static bool set_limits(const lra_sandbox *s)
{
    bool ok = limit(RLIMIT_CORE, 0) && limit(RLIMIT_FSIZE, 0) && limit(RLIMIT_NOFILE, 0);
#ifdef RLIMIT_NPROC
    ok = ok && limit(RLIMIT_NPROC, 0);
#endif
    double seconds = s->seconds < 1 ? 1 : ceil(s->seconds);
    /* SIGXCPU at the limit, SIGKILL one second later */
    struct rlimit time = {(rlim_t)seconds, (rlim_t)seconds + 1};
    return ok && (setrlimit(RLIMIT_CPU, &time) == 0 || limit(RLIMIT_CPU, seconds));
}

/* Limits the address space. Not with the address sanitizer, which maps terabytes. */
static bool limit_memory(const lra_sandbox *s, double now)
{
#ifdef LRA_ASAN
    (void)s, (void)now;
    return true;
#else
    return now == 0 || limit(RLIMIT_AS, now + s->memory);
#endif
}

/* ---- calls of the kernel --------------------------------------------------------------------- */

#if defined(__linux__) && defined(__x86_64__)
#define LRA_ARCH AUDIT_ARCH_X86_64
#elif defined(__linux__) && defined(__aarch64__)
#define LRA_ARCH AUDIT_ARCH_AARCH64
#endif

#ifdef LRA_ARCH
#define LRA_ALLOW(call)                                                                            \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* Installs a filter of system calls. Returns false if the kernel has no seccomp filters; the other
 * limits still apply. */
static bool filter_calls(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, LRA_ARCH, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        LRA_ALLOW(SYS_read),
        LRA_ALLOW(SYS_write),
        LRA_ALLOW(SYS_pread64),
        LRA_ALLOW(SYS_mmap),
        LRA_ALLOW(SYS_munmap),
        LRA_ALLOW(SYS_mremap),
        LRA_ALLOW(SYS_mprotect),
        LRA_ALLOW(SYS_madvise),
        LRA_ALLOW(SYS_brk),
        LRA_ALLOW(SYS_futex),
        LRA_ALLOW(SYS_sched_yield),
        LRA_ALLOW(SYS_clock_gettime),
        LRA_ALLOW(SYS_gettimeofday),
        LRA_ALLOW(SYS_rt_sigreturn),
        LRA_ALLOW(SYS_rt_sigprocmask),
        LRA_ALLOW(SYS_rt_sigaction),
        LRA_ALLOW(SYS_sigaltstack),
        LRA_ALLOW(SYS_exit),
        LRA_ALLOW(SYS_exit_group),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)};
    struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}
#else
static bool filter_calls(void)
{
    return false;
}
#endif

bool lra_sandbox_enter(const lra_sandbox *limits, pid_t parent)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGXCPU};
    static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    if (getppid() != parent) return false;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) signal(signals[i], SIG_DFL);
    /* ignores signals that all processes of a job receive: the parent decides */
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++) signal(ignored[i], SIG_IGN);
    double now = mapped();
    close_others(limits);
    if (!set_limits(limits) || !limit_memory(limits, now)) return false;
    filter_calls();
    return true;
}
