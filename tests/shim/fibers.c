/* Threads of a block as fibers in lock step: each runs until it waits for its warp or its block; when all
 * that are alive wait at the same kind of barrier they go on.  Anything else is a deadlock on a GPU, and a
 * bug here. */
#include "tests/shim/shim.h"

#include <ucontext.h>

#include "kernels/base/err.h"
#include "kernels/base/mem.h"

enum { MAX_THREADS = 1024, STACK = 128 << 10, MAX_SHARED = 227 << 10 };
enum { READY, AT_WARP, AT_BLOCK, DONE };

shim_dim shim_thread, shim_block, shim_block_size, shim_grid_size;
void *shim_shared;
int shim_backwards;

typedef struct {
    ucontext_t context;
    shim_dim id;
    int state;
    unsigned char slot[64];
    char *stack;
} fiber;

static fiber fibers[MAX_THREADS];
static ucontext_t scheduler;
static int now, n_fibers;
static void (*kernel)(void *arg);
static void *kernel_arg;

static void start(void)
{
    kernel(kernel_arg);
    fibers[now].state = DONE;
    swapcontext(&fibers[now].context, &scheduler);
}

static void wait_for(int what)
{
    fibers[now].state = what;
    swapcontext(&fibers[now].context, &scheduler);
}

void shim_wait_block(void)
{
    wait_for(AT_BLOCK);
}
void shim_wait_warp(void)
{
    wait_for(AT_WARP);
}

int shim_lane(void)
{
    return now % 32;
}
void *shim_slot(int lane)
{
    return fibers[now / 32 * 32 + lane].slot;
}

/* Threads [first,end) go on when all that are alive wait at `what`; false: some do not. */
static int release(int first, int end, int what)
{
    int waiting = 0, alive = 0;
    for (int i = first; i < end; i++) {
        alive += fibers[i].state != DONE;
        waiting += fibers[i].state == what;
    }
    if (!waiting || waiting < alive) return 0;
    for (int i = first; i < end; i++)
        if (fibers[i].state == what) fibers[i].state = READY;
    return 1;
}

static void prepare(int i)
{
    fiber *f = &fibers[i];
    unsigned x = shim_block_size.x, y = shim_block_size.y;
    if (!f->stack) f->stack = lra_alloc(STACK);
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = f->stack;
    f->context.uc_stack.ss_size = STACK;
    makecontext(&f->context, start, 0);
    f->id = (shim_dim){(unsigned)i % x, (unsigned)i / x % y, (unsigned)i / x / y};
    f->state = READY;
}

static void run_block(void)
{
    for (int i = 0; i < n_fibers; i++) prepare(i);
    for (int going = 1; going;) {
        for (int k = 0; k < n_fibers; k++) {
            now = shim_backwards ? n_fibers - 1 - k : k;
            if (fibers[now].state != READY) continue;
            shim_thread = fibers[now].id;
            swapcontext(&scheduler, &fibers[now].context);
        }
        going = 0;
        for (int i = 0; i < n_fibers; i += 32)
            going |= release(i, i + 32 < n_fibers ? i + 32 : n_fibers, AT_WARP);
        going |= release(0, n_fibers, AT_BLOCK);
    }
    for (int i = 0; i < n_fibers; i++)
        if (fibers[i].state != DONE) LRA_BUG("threads of a block wait at different barriers");
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
    lra_err e;
    shim_shared = lra_try_alloc(shared ? shared : 1, "shared memory", &e);
    if (!shim_shared) LRA_BUG("%s", e.msg);
    uint64_t n_blocks = (uint64_t)grid.x * grid.y * grid.z;
    for (uint64_t i = 0; i < n_blocks; i++) {
        shim_block = (shim_dim){(unsigned)(i % grid.x), (unsigned)(i / grid.x % grid.y),
                                (unsigned)(i / grid.x / grid.y)};
        memset(shim_shared, 0xFF, shared);
        run_block();
    }
    lra_free_large(shim_shared);
}
