/* The CPU device: memory, copies, and the loop that runs a plan's calls in order. */
#define _GNU_SOURCE /* declares madvise() */
#include "kernels/cpu/device.h"

#include <omp.h>
#include <string.h>
#include <sys/mman.h>

#include "kernels/base/os/machine.h"
#include "kernels/base/core/mem.h"
#include "kernels/cpu/peak.h"
#include "kernels/cpu/features.h"
#include "kernels/cpu/gemm.h"

enum { ALIGNMENT = 256, HUGE_PAGE = 2 << 20 };

/* Requests huge pages for large memory, if the system has them, because a page fault for every 4
 * KiB of a workspace costs more than some of its kernels. */
static void ask_for_huge_pages(void *p, size_t n_bytes)
{
#if defined(MADV_HUGEPAGE)
    madvise(p, n_bytes, MADV_HUGEPAGE); /* a hint: if it is refused, only the speed changes */
#else
    (void)p, (void)n_bytes;
#endif
}

/* Allocates memory with the alignment that devices need. lra_try_alloc() aligns to 64 bytes only;
 * the pointer that it returned is stored before the aligned address. */
static void *cpu_alloc(lra_device *d, size_t n_bytes, const char *what, lra_err *e)
{
    (void)d;
    if (n_bytes > SIZE_MAX / 2) {
        lra_fail(e, "'%s' needs %zu bytes, more than can be addressed", what, n_bytes);
        return NULL;
    }
    size_t alignment = n_bytes >= 2 * HUGE_PAGE ? HUGE_PAGE : ALIGNMENT;
    char *raw = lra_try_alloc(n_bytes + alignment + sizeof raw, what, e);
    if (!raw) return NULL;
    uintptr_t at = (uintptr_t)raw + sizeof raw;
    char *aligned = raw + sizeof raw + (alignment - at % alignment) % alignment;
    memcpy(aligned - sizeof raw, &raw, sizeof raw);
    if (alignment == HUGE_PAGE) ask_for_huge_pages(aligned, n_bytes);
    return aligned;
}

static void cpu_free(lra_device *d, void *p)
{
    (void)d;
    if (!p) return;
    char *raw;
    memcpy(&raw, (char *)p - sizeof raw, sizeof raw);
    lra_free_large(raw);
}

static int cpu_copy(lra_device *d, lra_copy_kind kind, void *to, const void *from, size_t n_bytes,
                    lra_err *e)
{
    (void)d, (void)kind, (void)e;
    if (n_bytes) memcpy(to, from, n_bytes);
    return 0;
}

static int cpu_clear(lra_device *d, void *p, int byte, size_t n_bytes, lra_err *e)
{
    (void)d, (void)e;
    if (n_bytes) memset(p, byte, n_bytes);
    return 0;
}

/* The body of an op for the highest instruction level that the machine supports. NULL: the op has
 * none for this type. */
static lra_body body_of(const lra_op *op, lra_type type)
{
    for (int level = lra_cpu_level(); level >= LRA_LEVEL_PORTABLE; level--)
        if (op->cpu[type][level]) return op->cpu[type][level];
    return NULL;
}

static int cpu_run(lra_device *d, const lra_call *calls, int n, lra_err *e)
{
    static const char *const types[] = {"F32", "F64", "BF16"};
    (void)d;
    for (int i = 0; i < n; i++) {
        const lra_tensor *y = calls[i].y;
        lra_type type = lra_graph_type(y->graph);
        lra_body body = body_of(y->op, type);
        if (!body)
            return lra_fail(e, "op '%s' has no %s implementation on the CPU", y->op->name,
                            types[type]);
        body(&calls[i]);
    }
    return 0;
}

/* The only setting of a CPU device, the number of threads, is stored as the value of its pointer
 * `own`. */
static int cpu_threads(const lra_device *d)
{
    return (int)(intptr_t)d->own;
}

static double cpu_peak(const lra_device *d, lra_type type, int n_threads)
{
    (void)d;
    return lra_cpu_peak(type == LRA_BF16, n_threads);
}

static double cpu_memory_free(const lra_device *d)
{
    (void)d;
    return lra_memory_free();
}

static const lra_backend backend = {.name = "cpu",
                                    .alloc = cpu_alloc,
                                    .free = cpu_free,
                                    .memory_free = cpu_memory_free,
                                    .copy = cpu_copy,
                                    .clear = cpu_clear,
                                    .run = cpu_run,
                                    .threads = cpu_threads,
                                    .peak = cpu_peak};

int lra_cpu_device(lra_device *out, int n_threads, lra_err *e)
{
    if (lra_cpu_init(e) != 0) return LRA_FAILED;
    int available = omp_get_num_procs();
    int n = n_threads > 0 && n_threads < available ? n_threads : available;
    *out = (lra_device){.backend = &backend, .name = "cpu", .own = (void *)(intptr_t)n};
    return 0;
}
