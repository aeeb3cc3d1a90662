/* The interface of a device. The engine uses devices only through it. */
#ifndef LRA_GRAPH_BACKEND_H
#define LRA_GRAPH_BACKEND_H

#include "kernels/graph/op.h"

typedef enum { LRA_COPY_IN, LRA_COPY_OUT, LRA_COPY_WITHIN } lra_copy_kind;

/* Part of a readback: copies n_bytes from the device address `from` to byte `at` of a host
 * buffer. */
typedef struct {
    const void *from;
    size_t at, n_bytes;
} lra_readback_part;

/* Result of fuses():
 *   LRA_FUSE_STORED   fused, and all results are written
 *   LRA_FUSE_ELIDED   fused, and the result of the group that `next` reads is elided (not written)
 *                     if no other node reads it */
typedef enum { LRA_FUSE_NOT, LRA_FUSE_STORED, LRA_FUSE_ELIDED } lra_fuse;
extern const char lra_fused;
#define LRA_FUSED ((const void *)&lra_fused)
/* Number of calls, from this one on, that run as one fused call; at most n. */
static inline int lra_fused_calls(const lra_call *c, int n)
{
    int k = 1;
    while (k < n && c[k].gate == LRA_FUSED) k++;
    return k;
}

/* The stream (main or side) on which a call is queued, and the synchronisation before it. */
typedef struct {
    /* true: the call runs on the side stream, after earlier side-stream calls and after all
     * preceding main-stream calls */
    bool side;
    /* before this call the main stream waits until the first `wait` side-stream calls are done (a
     * fused group counts as one); 0: no wait */
    int wait;
} lra_stream_use;

typedef struct {
    const char *name; /* name of the backend: "cpu", "cuda" */
    void *(*alloc)(lra_device *d, size_t n_bytes, const char *what,
                   lra_err *e); /* allocates memory aligned to 256 bytes; NULL: out of memory */
    void (*free)(lra_device *d, void *p);
    double (*memory_free)(const lra_device *d); /* free memory of the device in bytes; 0: unknown */
    int (*copy)(lra_device *d, lra_copy_kind kind, void *to, const void *from, size_t n_bytes,
                lra_err *e);
    int (*clear)(lra_device *d, void *p, int byte, size_t n_bytes, lra_err *e);
    /* Runs n calls in order. */
    int (*run)(lra_device *d, const lra_call *calls, int n, lra_err *e);
    /* Like run(), and measures the seconds of each call with the device's clock. NULL: the engine
     * times run() of each call with the host's clock. */
    int (*run_timed)(lra_device *d, const lra_call *calls, int n, double *seconds, lra_err *e);
    /* Records a list of calls with their streams once, for replay. NULL: the engine calls run()
     * every time. */
    void *(*capture)(lra_device *d, const lra_call *calls, const lra_stream_use *streams, int n,
                     lra_err *e);
    int (*replay)(lra_device *d, void *captured, lra_err *e);
    void (*forget)(lra_device *d, void *captured);
    /* Decides whether `next` can be fused with this group of n nodes. The first node of the group
     * selects the kernel. NULL: the device fuses no nodes. Calls of fused nodes are consecutive;
     * all but the first have the gate LRA_FUSED. `out` is NULL for an elided result, and all share
     * the scratch of the first. */
    lra_fuse (*fuses)(const lra_tensor *const *group, int n, const lra_tensor *next);
    int64_t (*fused_scratch)(const lra_tensor *const *group, int n);
    /* Maximum number of side-stream calls that may be unfinished while the main stream continues.
     * NULL or 0: the device has no side stream. */
    int (*side)(const lra_device *d);
    /* Bytes of scratch of a node. NULL: the engine uses op->scratch(y, threads()). */
    int64_t (*scratch)(const lra_tensor *y);
    /* Allocates a host buffer for n_bytes of results. Fails with NULL if memory is short. If all
     * four readback functions are NULL, the engine uses copy(). */
    void *(*readback_new)(lra_device *d, size_t n_bytes, lra_err *e);
    void (*readback_free)(lra_device *d, void *place);
    /* Queues copies of results to a readback buffer, after the work that is already queued. */
    int (*readback_copy)(lra_device *d, void *place, int n, const lra_readback_part *part,
                         lra_err *e);
    /* Waits for the copies to this buffer, but not for work queued after them. Returns the address
     * of the buffer, or NULL with an error if the device failed. */
    const void *(*readback_wait)(lra_device *d, void *place, lra_err *e);
    /* Waits until all queued work is done. NULL: the device has no queue. */
    int (*wait)(lra_device *d, lra_err *e);
    /* Maximum number of threads of a plan. */
    int (*threads)(const lra_device *d);
    /* Peak FLOP/s of matrix products, measured in about ten milliseconds. */
    double (*peak)(const lra_device *d, lra_type type, int n_threads);
} lra_backend;

struct lra_device {
    const lra_backend *backend;
    int index;
    const char *name;   /* name of the device: "cpu", "cuda:0" */
    const char *detail; /* model of the device: "NVIDIA H200"; NULL: it is the processor */
    void *own;          /* private data of the backend */
};

#endif
