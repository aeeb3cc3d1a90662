/* cp.async of the host shim. A copy overwrites its destination with NaN when it starts, and writes
 * the data when its thread waits for it. These are the first and the last moment at which hardware
 * may write, so tests detect both memory that is reused too early and data that are read too
 * early. */
#include "tests/shim/shim.h"

#include "kernels/base/core/err.h"

enum { QUEUE = 256 };

typedef struct {
    void *to;
    const void *from;
    int n;
    bool valid;
} copy;

/* For each thread: its copies in order, those of closed groups first. */
static struct {
    copy copy[QUEUE];
    int group[QUEUE]; /* number of copies of each closed group, oldest first */
    int n, n_groups, closed;
} queue[SHIM_THREADS];

void shim_copies_start(int n_threads)
{
    for (int i = 0; i < n_threads; i++) queue[i].n = queue[i].n_groups = queue[i].closed = 0;
}

void shim_copy(void *shared, const void *global, int n, bool valid)
{
    int i = shim_id();
    if ((uintptr_t)shared % (uintptr_t)n || (uintptr_t)global % (uintptr_t)n)
        LRA_BUG("a copy of %d bytes that are not aligned", n);
    if (!shim_is_shared(shared, (size_t)n)) LRA_BUG("a copy to outside shared memory");
    if (queue[i].n == QUEUE) LRA_BUG("more than %d copies of a thread under way", QUEUE);
    shim_access(shared, (size_t)n, SHIM_WRITE);
    if (valid) shim_access(global, (size_t)n, SHIM_READ);
    memset(shared, 0xFF, (size_t)n);
    queue[i].copy[queue[i].n++] = (copy){shared, global, n, valid};
}

void shim_check_row(const void *row)
{
    if ((uintptr_t)row % 16 || !shim_is_shared(row, 16))
        LRA_BUG("a row of ldmatrix that is not aligned or not in shared memory");
    shim_access(row, 16, SHIM_READ);
}

void shim_copies_close(void)
{
    int i = shim_id();
    if (queue[i].n_groups == QUEUE) LRA_BUG("more than %d groups of copies under way", QUEUE);
    queue[i].group[queue[i].n_groups++] = queue[i].n - queue[i].closed;
    queue[i].closed = queue[i].n;
}

void shim_copies_wait(int pending)
{
    int i = shim_id(), done = 0, groups = queue[i].n_groups - pending;
    if (groups <= 0) return;
    for (int g = 0; g < groups; g++) done += queue[i].group[g];
    for (int k = 0; k < done; k++) {
        copy c = queue[i].copy[k];
        shim_access(c.to, (size_t)c.n, SHIM_WRITE);
        if (c.valid)
            memcpy(c.to, c.from, (size_t)c.n);
        else
            memset(c.to, 0, (size_t)c.n);
    }
    queue[i].n -= done, queue[i].closed -= done, queue[i].n_groups -= groups;
    memmove(queue[i].copy, queue[i].copy + done, (size_t)queue[i].n * sizeof(copy));
    memmove(queue[i].group, queue[i].group + groups, (size_t)queue[i].n_groups * sizeof(int));
}
