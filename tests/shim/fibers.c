/* Threads of a block as fibers in lock step: each runs until it waits for its warp or its block;
 * when all that are alive wait at the same kind of barrier they go on.  Anything else is a deadlock
 * on a GPU, and a bug here.  A fiber starts by setcontext() and is left by longjmp(), which asks
 * the system for nothing. */
#include "tests/shim/shim.h"

#include <setjmp.h>
#include <ucontext.h>

#include "kernels/base/err.h"
#include "kernels/base/mem.h"

enum { MAX_THREADS = 1024, STACK = 128 << 10, MAX_SHARED = 227 << 10, MAX_POLLS = 1 << 26 };

shim_dim shim_thread, shim_block, shim_block_size, shim_grid_size;
void *shim_shared;
int shim_backwards;

static struct {
    jmp_buf at;
    int state;
    unsigned char slot[64];
    char *stack; /* NULL: never started */
} fiber[MAX_THREADS];
static jmp_buf scheduler;
static int now, n_fibers, polls;
static void (*kernel)(void *arg);
static void *kernel_arg;

void shim_wait(int what)
{
    if (what == SHIM_READY && ++polls > MAX_POLLS) LRA_BUG("waiting for what never comes");
    fiber[now].state = what;
    if (setjmp(fiber[now].at) == 0) longjmp(scheduler, 1);
}
int shim_lane(void)
{
    return now % 32;
}
void *shim_slot(int lane)
{
    return fiber[now / 32 * 32 + lane].slot;
}

/* A fiber lives for good: the next block finds it where the last one left it. */
static void live(void)
{
    for (;;) {
        kernel(kernel_arg);
        shim_wait(SHIM_DONE);
    }
}

static void go_on(int i)
{
    static ucontext_t fresh;
    unsigned x = shim_block_size.x, y = shim_block_size.y, u = (unsigned)i;
    now = i;
    shim_thread = (shim_dim){u % x, u / x % y, u / x / y};
    if (setjmp(scheduler) != 0) return;
    if (fiber[i].stack) longjmp(fiber[i].at, 1);
    getcontext(&fresh);
    fresh.uc_stack.ss_sp = fiber[i].stack = lra_alloc(STACK);
    fresh.uc_stack.ss_size = STACK;
    makecontext(&fresh, live, 0);
    setcontext(&fresh);
}

/* Threads [first,first+n) go on when all that are alive wait at `what`; 0: some do not. */
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

static void run_block(void)
{
    for (int i = 0; i < n_fibers; i++) fiber[i].state = SHIM_READY;
    for (int going = 1; going;) {
        going = 0;
        for (int k = 0; k < n_fibers; k++) {
            int i = shim_backwards ? n_fibers - 1 - k : k;
            if (fiber[i].state == SHIM_READY) go_on(i);
            going |= fiber[i].state == SHIM_READY; /* it polls */
        }
        for (int i = 0; i < n_fibers; i += 32) going |= release(i, 32, SHIM_WARP);
        for (int i = 0; i < n_fibers; i += 128) going |= release(i, 128, SHIM_GROUP);
        going |= release(0, n_fibers, SHIM_BLOCK);
    }
    for (int i = 0; i < n_fibers; i++)
        if (fiber[i].state != SHIM_DONE) LRA_BUG("threads of a block wait at different barriers");
}

void shim_launch(shim_dim grid, shim_dim block, size_t shared, void (*body)(void *arg), void *arg)
{
    n_fibers = (int)(block.x * block.y * block.z);
    if (n_fibers < 1 || n_fibers > MAX_THREADS) LRA_BUG("a block of %d threads", n_fibers);
    if (grid.x < 1 || grid.y < 1 || grid.y > 65535 || grid.z < 1 || grid.z > 65535)
        LRA_BUG("a grid of %u x %u x %u blocks", grid.x, grid.y, grid.z);
    if (shared > MAX_SHARED) LRA_BUG("%zu bytes of shared memory", shared);
    kernel = body, kernel_arg = arg;
    shim_block_size = block, shim_grid_size = grid;
    shim_shared = lra_try_alloc(shared + 1, "shared memory", NULL);
    if (!shim_shared) LRA_BUG("no memory for a block");
    for (uint64_t i = 0; i < (uint64_t)grid.x * grid.y * grid.z; i++) {
        shim_block = (shim_dim){(unsigned)(i % grid.x), (unsigned)(i / grid.x % grid.y),
                                (unsigned)(i / grid.x / grid.y)};
        memset(shim_shared, 0xFF, shared);
        polls = 0;
        run_block();
    }
    lra_free_large(shim_shared);
}
