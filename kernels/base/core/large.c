/* Large allocations: requests beyond the machine's memory fail with a message, before the kernel's
 * overcommit can accept them. */
#define _GNU_SOURCE /* declares MAP_ANONYMOUS */
#include <stdlib.h>
#include <sys/mman.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "kernels/base/os/machine.h"
#include "kernels/base/core/mem.h"

enum { SMALL = 1 << 20, MAPPED = 4 << 20 };

/* Makes glibc return freed blocks to the system, so that they are available to every allocator
 * (lra_memory_free() does not count memory that malloc keeps). By default glibc keeps blocks of up
 * to 32 MiB after one of them was freed. */
static void give_back_large(void)
{
#ifdef __GLIBC__
    static bool done;
    if (!done) mallopt(M_MMAP_THRESHOLD, MAPPED);
    done = true;
#endif
}

/* For tests in Debug builds: LRA_FAIL_ALLOC=n makes the n-th call after it was set fail. */
static bool fails_on_purpose(void)
{
#ifdef LRA_DEBUG
    static int calls;
    const char *n = getenv("LRA_FAIL_ALLOC");
    if (!n) calls = 0;
    return n && ++calls == (int)strtol(n, NULL, 10);
#else
    return false;
#endif
}

static void *refuse(double n_bytes, const char *what, lra_err *e)
{
    char need[32], have[32];
    lra_fail_as(e, LRA_CAUSE_MEMORY, "'%s' needs %s, %s free", what, lra_size_text(need, n_bytes),
                lra_size_text(have, lra_memory_free()));
    return NULL;
}

/* True if there may be enough memory.  Small requests skip the system query, which takes longer
 * than reading a small file. */
static bool fits(double n_bytes)
{
    /* lra_memory_free() returns 0 if it is unknown */
    double free_bytes = n_bytes < SMALL ? 0 : lra_memory_free();
    return (free_bytes == 0 || n_bytes <= free_bytes) && !fails_on_purpose();
}

void *lra_try_alloc(size_t n_bytes, const char *what, lra_err *e)
{
    void *p = NULL;
    give_back_large();
    if (fits((double)n_bytes) && posix_memalign(&p, 64, n_bytes ? n_bytes : 1) == 0) return p;
    return refuse((double)n_bytes, what, e);
}

void *lra_try_array(int64_t n, size_t size, const char *what, lra_err *e)
{
    double n_bytes = (double)n * (double)size;
    give_back_large();
    if (n < 0) LRA_BUG("'%s' has %lld elements", what, (long long)n);
    void *p = fits(n_bytes) ? calloc(n ? (size_t)n : 1, size) : NULL;
    return p ? p : refuse(n_bytes, what, e);
}

bool lra_memory_room(size_t n_bytes)
{
    /* malloc() of the address sanitizer would write n / 8 bytes of its shadow memory twice */
    void *p = mmap(NULL, n_bytes ? n_bytes : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                   -1, 0);
    if (p == MAP_FAILED) return false;
    munmap(p, n_bytes ? n_bytes : 1);
    return true;
}

void lra_free_large(void *p)
{
    free(p);
}
