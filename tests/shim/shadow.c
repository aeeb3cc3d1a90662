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

/* An access to a cell. stamp: the time since which the thread has had no barrier, shuffle or warp
 * barrier; 0: there was no access. */
typedef struct {
    uint32_t stamp;
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
/* The time grows by one at each launch, block, barrier, shuffle and warp barrier. `since`: per
 * warp, the time of its last one. */
static uint32_t now, interval, first_of_block, first_of_launch, since[SHIM_THREADS / 32];
static bool running;
static uintptr_t host_stack;

void shim_shadow_next(int what)
{
    interval = ++now;
    for (int w = 0; w < SHIM_THREADS / 32; w++) since[w] = now;
    if (what != SHIM_NEW_INTERVAL) first_of_block = interval;
    if (what == SHIM_NEW_LAUNCH) first_of_launch = interval, host_stack = (uintptr_t)&what;
    /* races do not depend on the order of threads: checking one order is sufficient */
    running = !shim_backwards;
}
void shim_shadow_warp(int first)
{
    since[first / 32] = ++now;
}
void shim_shadow_stop(void)
{
    running = false;
}

static cell *cells_of(uintptr_t number)
{
    static page last[2]; /* of even and odd pages */
    page *latest = &last[number % 2];
    if (latest->cells && latest->number == number) return latest->cells;
    size_t at = (size_t)(number * 0x9E3779B97F4A7C15u >> 48) % PAGES;
    while (table[at].cells && table[at].number != number) at = (at + 1) % PAGES;
    if (!table[at].cells) {
        table[at].number = number;
        table[at].cells = lra_alloc_array(CELLS, sizeof(cell));
        memset(table[at].cells, 0, CELLS * sizeof(cell));
    }
    *latest = table[at];
    return table[at].cells;
}

/* Returns true if no barrier orders an earlier access before the current access of this thread. */
static inline bool is_race(const access *a, const access *own, bool shared)
{
    if (a->stamp < first_of_launch || (a->atomic && own->atomic)) return false;
    if (a->stamp < first_of_block) return !shared;
    if (a->stamp < interval || a->thread == own->thread) return false;
    return a->thread / 32 != own->thread / 32 || a->stamp == own->stamp;
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
             a->stamp < first_of_block ? "another" : "this");
}

/* Returns true if the two are the same access of a thread, repeated without a barrier between them:
 * whatever races with the second races with the first, and was reported. */
static inline bool is_repeated(const access *a, const access *own)
{
    return a->stamp == own->stamp && a->thread == own->thread && a->atomic == own->atomic;
}

static inline void visit(cell *c, const access *own, int kind, bool shared)
{
    access *last = &c->read[0];
    if (is_repeated(kind == SHIM_READ ? last : &c->write, own)) return;
    if (is_race(&c->write, own, shared)) report(&c->write, own->thread, kind, shared);
    if (kind == SHIM_READ) {
        bool same_warp = last->thread / 32 == own->thread / 32;
        if (last->thread != own->thread) c->read[same_warp ? 2 : 1] = *last;
        if (!same_warp) c->read[2].stamp = 0;
        *last = *own;
        return;
    }
    for (int k = 0; k < 3; k++)
        if (is_race(&c->read[k], own, shared)) report(&c->read[k], own->thread, kind, shared);
    c->write = *own;
}

static void record(uintptr_t from, size_t n, int kind)
{
    access own = {since[shim_now / 32], (uint16_t)shim_now, kind == SHIM_ATOMIC};
    bool shared = from - (uintptr_t)shim_shared < shim_shared_bytes;
    for (uintptr_t a = from / CELL, last = (from + n - 1) / CELL; a <= last;) {
        cell *c = cells_of(a / CELLS) + a % CELLS;
        uintptr_t end = (a / CELLS + 1) * CELLS; /* of the page */
        for (; a <= last && a < end; a++) visit(c++, &own, kind, shared);
    }
}

void shim_access(const void *at, size_t n, int kind)
{
    extern char __executable_start, _end;
    uintptr_t from = (uintptr_t)at, program = (uintptr_t)&__executable_start;
    if (!running || from - (uintptr_t)shim_stack < SHIM_STACK) return;
    if (from - program < (uintptr_t)&_end - program) return;
    /* these addresses hold the arguments of the kernel */
    if (from - (host_stack - MAIN_STACK) < 2 * (uintptr_t)MAIN_STACK) return;
    record(from, n, kind);
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
