/* Shadow memory of the host shim: records the last write and the last reads of every two bytes that
 * kernels use.
 * An interval is the time of a block between two barriers. Two accesses to the same bytes, at least
 * one of them a write, are a race if they belong to different blocks of a launch, or to different
 * warps within one interval, or to different lanes of a warp within one interval without a shuffle
 * or warp barrier between them; two atomic accesses are not a race. This does not depend on the
 * order in which the shim runs threads.
 * Not detected: races with writes of TMA and reads of wgmma, which are ordered by barriers in
 * shared memory. */
#include "tests/shim/shim.h"

#include <stdio.h>

#include "kernels/base/core/mem.h"

enum { CELL = 2, PAGE = 4096, CELLS = PAGE / CELL, PAGES = 1 << 16, MAIN_STACK = 16 << 20 };

/* An access to a cell; interval 0: there was none. */
typedef struct {
    uint32_t interval, meeting;
    uint16_t thread;
    bool atomic;
} access;
typedef struct {
    access write;
    /* the latest read, the latest by another warp, the latest by another lane of the first one's
     * warp */
    access read[3];
} cell;
typedef struct {
    uintptr_t number; /* number of the page: its address divided by PAGE */
    cell *cells;
} page;

int shim_races;
char shim_race[256];

static page table[PAGES];
static uint32_t interval, first_of_block, first_of_launch, meeting[SHIM_THREADS / 32], meetings;
static bool running;
static uintptr_t host_stack;

void shim_shadow_next(int what)
{
    interval++;
    if (what != SHIM_NEW_INTERVAL) first_of_block = interval;
    if (what == SHIM_NEW_LAUNCH) first_of_launch = interval, host_stack = (uintptr_t)&what;
    /* races do not depend on the order of threads: checking one order is sufficient */
    running = !shim_backwards;
}
void shim_shadow_warp(int first)
{
    meeting[first / 32] = ++meetings;
}
void shim_shadow_stop(void)
{
    running = false;
}

static cell *cells_of(uintptr_t number)
{
    size_t at = (size_t)(number * 0x9E3779B97F4A7C15u >> 48) % PAGES;
    while (table[at].cells && table[at].number != number) at = (at + 1) % PAGES;
    if (!table[at].cells) {
        table[at].number = number;
        table[at].cells = lra_alloc_array(CELLS, sizeof(cell));
        memset(table[at].cells, 0, CELLS * sizeof(cell));
    }
    return table[at].cells;
}

/* Returns true if no barrier orders an earlier access before the current access of this thread. */
static bool is_race(const access *a, int thread, bool shared, bool atomic)
{
    if (a->interval < first_of_launch || (a->atomic && atomic)) return false;
    if (a->interval < first_of_block) return !shared;
    if (a->interval < interval || a->thread == thread) return false;
    return a->thread / 32 != thread / 32 || a->meeting == meeting[thread / 32];
}

static void report(const access *a, int thread, int kind, bool shared)
{
    static const char *const did[] = {"reads", "writes", "adds to"};
    if (shim_races++ > 0) return;
    snprintf(shim_race, sizeof shim_race,
             "%s: thread %d of block (%u,%u,%u) %s %s memory that thread %d of %s block has used, "
             "and no barrier orders the two",
             shim_kernel, thread, shim_block.x, shim_block.y, shim_block.z, did[kind],
             shared ? "shared" : "global", a->thread,
             a->interval < first_of_block ? "another" : "this");
}

static void visit(cell *c, int thread, int kind, bool shared)
{
    access own = {interval, meeting[thread / 32], (uint16_t)thread, kind == SHIM_ATOMIC};
    if (is_race(&c->write, thread, shared, own.atomic)) report(&c->write, thread, kind, shared);
    if (kind == SHIM_READ) {
        const access *last = &c->read[0];
        bool same_warp = last->thread / 32 == thread / 32;
        if (last->thread != thread) c->read[same_warp ? 2 : 1] = *last;
        if (!same_warp) c->read[2].interval = 0;
        c->read[0] = own;
        return;
    }
    for (int k = 0; k < 3; k++)
        if (is_race(&c->read[k], thread, shared, own.atomic))
            report(&c->read[k], thread, kind, shared);
    c->write = own;
}

void shim_access(const void *at, size_t n, int kind)
{
    extern char __executable_start, _end;
    uintptr_t from = (uintptr_t)at;
    const char *p = at;
    uintptr_t below = host_stack - MAIN_STACK;
    if (!running || shim_is_stack(at)) return;
    if (p >= &__executable_start && p < &_end) return;
    /* these addresses hold the arguments of the kernel */
    if (from - below < 2 * (uintptr_t)MAIN_STACK) return;
    bool shared = shim_is_shared(at, 1);
    for (uintptr_t a = from / CELL; a <= (from + n - 1) / CELL; a++)
        visit(&cells_of(a * CELL / PAGE)[a % CELLS], shim_id(), kind, shared);
}

/* ---- what -fsanitize=thread calls ------------------------------------------------------------- */

#define ACCESSES(n)                                                                                \
    void __tsan_read##n(void *at);                                                                 \
    void __tsan_write##n(void *at);                                                                \
    void __tsan_unaligned_read##n(void *at);                                                       \
    void __tsan_unaligned_write##n(void *at);                                                      \
    void __tsan_read##n(void *at)                                                                  \
    {                                                                                              \
        shim_access(at, n, SHIM_READ);                                                             \
    }                                                                                              \
    void __tsan_write##n(void *at)                                                                 \
    {                                                                                              \
        shim_access(at, n, SHIM_WRITE);                                                            \
    }                                                                                              \
    void __tsan_unaligned_read##n(void *at)                                                        \
    {                                                                                              \
        shim_access(at, n, SHIM_READ);                                                             \
    }                                                                                              \
    void __tsan_unaligned_write##n(void *at)                                                       \
    {                                                                                              \
        shim_access(at, n, SHIM_WRITE);                                                            \
    }
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

void __tsan_init(void);
void __tsan_func_entry(void *from);
void __tsan_func_exit(void);
void __tsan_read_range(void *at, size_t n);
void __tsan_write_range(void *at, size_t n);
void *__tsan_memcpy(void *to, const void *from, size_t n);
void *__tsan_memmove(void *to, const void *from, size_t n);
void *__tsan_memset(void *to, int value, size_t n);

void __tsan_init(void) {}
void __tsan_func_entry(void *from)
{
    (void)from;
}
void __tsan_func_exit(void) {}
void __tsan_read_range(void *at, size_t n)
{
    if (n) shim_access(at, n, SHIM_READ);
}
void __tsan_write_range(void *at, size_t n)
{
    if (n) shim_access(at, n, SHIM_WRITE);
}
void *__tsan_memcpy(void *to, const void *from, size_t n)
{
    if (n) shim_access(from, n, SHIM_READ);
    if (n) shim_access(to, n, SHIM_WRITE);
    return memcpy(to, from, n);
}
void *__tsan_memmove(void *to, const void *from, size_t n)
{
    if (n) shim_access(from, n, SHIM_READ);
    if (n) shim_access(to, n, SHIM_WRITE);
    return memmove(to, from, n);
}
void *__tsan_memset(void *to, int value, size_t n)
{
    if (n) shim_access(to, n, SHIM_WRITE);
    return memset(to, value, n);
}
