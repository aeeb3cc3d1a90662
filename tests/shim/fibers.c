/* Runs the threads of a block as fibers. Each warp runs until all of its threads wait for threads
 * of other warps or have ended. Warps, the lanes of a warp and the blocks of a grid run from first
 * to last, or from last to first (shim_backwards), so that a missing barrier is a read of stale or
 * poisoned memory in at least one of the two orders. Copies by TMA arrive when no thread can
 * continue without them (map.cpp). If no thread can continue and no copy remains, the block is
 * deadlocked, as it would be on a GPU. A fiber is started by setcontext() and left by longjmp(),
 * which makes no system call. */
#include "tests/shim/shim.h"

#include <setjmp.h>
#include <ucontext.h>

#include "kernels/base/core/err.h"
#include "kernels/base/core/mem.h"
#include "kernels/cuda/grid.h"

enum { MAX_SHARED = 227 << 10, ALIGNED = 1024 };

shim_dim shim_thread, shim_block, shim_block_size, shim_grid_size;
void *shim_shared;
int shim_backwards, shim_launches;
bool shim_dry;
const char *shim_kernel;

static struct {
    jmp_buf at;
    int state;
    const void *bar; /* object for whose phase the thread waits if its state is SHIM_BAR */
    int parity;
    unsigned char slot[64];
    char *stack; /* stack of the fiber; NULL: it was never started */
} fiber[SHIM_THREADS];
static jmp_buf scheduler;
static int n_fibers;
int shim_now;
const char *shim_stack;
size_t shim_shared_bytes;
static void (*kernel)(void *arg);
static void *kernel_arg;

static void leave(int state)
{
    fiber[shim_now].state = state;
    if (setjmp(fiber[shim_now].at) == 0) longjmp(scheduler, 1);
}
void shim_wait(int what)
{
    leave(what);
}
void shim_sync(const char *file, int line)
{
    if (!shim_visit(SHIM_SYNC, file, line)) leave(SHIM_BLOCK);
}
void shim_wait_bar(const void *bar, int parity)
{
    fiber[shim_now].bar = bar, fiber[shim_now].parity = parity;
    if (!shim_bar_ended(bar, parity)) leave(SHIM_BAR);
}
int shim_lane(void)
{
    return shim_now % 32;
}
int shim_id(void)
{
    return shim_now;
}
void *shim_slot(int lane)
{
    return fiber[shim_now / 32 * 32 + lane].slot;
}
bool shim_is_shared(const void *at, size_t n)
{
    const char *from = at, *shared = shim_shared;
    return from >= shared && from + n <= shared + shim_shared_bytes;
}

/* The loop of a fiber, which never ends: each iteration runs one thread of a block, and then
 * suspends the fiber until the next block starts. */
static void live(void)
{
    for (;;) {
        kernel(kernel_arg);
        leave(SHIM_DONE);
    }
}

static void advance(int i)
{
    static ucontext_t fresh;
    unsigned x = shim_block_size.x, y = shim_block_size.y, u = (unsigned)i;
    shim_now = i;
    shim_stack = fiber[i].stack;
    shim_thread = (shim_dim){u % x, u / x % y, u / x / y};
    if (setjmp(scheduler) != 0) return;
    if (fiber[i].stack) longjmp(fiber[i].at, 1);
    getcontext(&fresh);
    fresh.uc_stack.ss_sp = fiber[i].stack = lra_alloc(SHIM_STACK);
    shim_stack = fiber[i].stack;
    fresh.uc_stack.ss_size = SHIM_STACK;
    makecontext(&fresh, live, 0);
    setcontext(&fresh);
}

/* Lets the threads [first, first+n) continue if all of them that have not ended wait at `what`.
 * Returns 0 if some of them do not wait at `what`. */
static int release(int first, int n, int what)
{
    int waiting = 0, alive = 0, end = first + n < n_fibers ? first + n : n_fibers;
    for (int i = first; i < end; i++) {
        alive += fiber[i].state != SHIM_DONE;
        waiting += fiber[i].state == what;
    }
    if (!waiting || waiting < alive) return 0;
    for (int i = first; i < end; i++)
        if (fiber[i].state == what) fiber[i].state = SHIM_READY;
    return 1;
}

static int is_ready(int i)
{
    if (fiber[i].state == SHIM_BAR && shim_bar_ended(fiber[i].bar, fiber[i].parity))
        fiber[i].state = SHIM_READY;
    return fiber[i].state == SHIM_READY;
}

/* Runs a warp until none of its threads can continue. Returns 1 if some thread ran. */
static int run_warp(int first)
{
    int ran = 0, n = first + 32 < n_fibers ? 32 : n_fibers - first;
    for (int progress = 1; progress; ran |= progress) {
        progress = 0;
        for (int k = 0; k < n; k++) {
            int i = first + (shim_backwards ? n - 1 - k : k);
            if (!is_ready(i)) continue;
            advance(i);
            progress = 1;
        }
        if (!release(first, 32, SHIM_WARP)) continue;
        shim_shadow_warp(first);
        progress = 1;
    }
    return ran;
}

static void run_block(void)
{
    int warps = (n_fibers + 31) / 32;
    shim_copies_start(n_fibers);
    shim_shadow_next(SHIM_NEW_BLOCK);
    for (int i = 0; i < n_fibers; i++) fiber[i].state = SHIM_READY;
    for (int going = 1; going;) {
        going = 0;
        for (int w = 0; w < warps; w++)
            going |= run_warp(32 * (shim_backwards ? warps - 1 - w : w));
        for (int i = 0; i < n_fibers; i += 128) going |= release(i, 128, SHIM_GROUP);
        if (release(0, n_fibers, SHIM_BLOCK)) {
            shim_shadow_next(SHIM_NEW_INTERVAL);
            going = 1;
        }
        if (!going) going = shim_deliver();
    }
    for (int i = 0; i < n_fibers; i++)
        if (fiber[i].state != SHIM_DONE) LRA_BUG("threads of a block wait at different barriers");
}

void shim_launch(shim_dim grid, shim_dim block, size_t shared, void (*body)(void *arg), void *arg)
{
    n_fibers = (int)(block.x * block.y * block.z);
    if (n_fibers < 1 || n_fibers > SHIM_THREADS) LRA_BUG("a block of %d threads", n_fibers);
    if (!lra_grid_allowed(grid.x, grid.y, grid.z))
        LRA_BUG("a grid of %u x %u x %u blocks", grid.x, grid.y, grid.z);
    if (shared > MAX_SHARED) LRA_BUG("%zu bytes of shared memory", shared);
    shim_launches++;
    if (shim_dry) return;
    kernel = body, kernel_arg = arg, shim_shared_bytes = shared;
    shim_block_size = block, shim_grid_size = grid;
    void *memory = lra_try_alloc(shared + ALIGNED, "shared memory", NULL);
    if (!memory) LRA_BUG("no memory for a block");
    shim_shared = (char *)memory + (ALIGNED - (uintptr_t)memory % ALIGNED) % ALIGNED;
    shim_shadow_next(SHIM_NEW_LAUNCH);
    uint64_t n = (uint64_t)grid.x * grid.y * grid.z;
    for (uint64_t k = 0; k < n; k++) {
        uint64_t i = shim_backwards ? n - 1 - k : k;
        shim_block = (shim_dim){(unsigned)(i % grid.x), (unsigned)(i / grid.x % grid.y),
                                (unsigned)(i / grid.x / grid.y)};
        memset(shim_shared, 0xFF, shared);
        run_block();
    }
    shim_shadow_stop();
    lra_free_large(memory);
}
