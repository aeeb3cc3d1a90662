/* The only way the engine reaches a device. */
#ifndef LRA_GRAPH_BACKEND_H
#define LRA_GRAPH_BACKEND_H

#include "kernels/graph/op.h"

typedef enum { LRA_COPY_IN, LRA_COPY_OUT, LRA_COPY_WITHIN } lra_copy_kind;

/* n_bytes of a result, which go to byte `at` of a place on the host. */
typedef struct {
    const void *from;
    size_t at, n_bytes;
} lra_readback_part;

/* LRA_FUSE_OVER: if what it reads of the group is read by nobody else, which is then not
 * written. */
typedef enum { LRA_FUSE_NOT, LRA_FUSE_BESIDE, LRA_FUSE_OVER } lra_fuse;
extern const char lra_fused;
#define LRA_FUSED ((const void *)&lra_fused)
/* Calls from this one on that run as one; at most n. */
static inline int lra_fused_calls(const lra_call *c, int n)
{
    int k = 1;
    while (k < n && c[k].gate == LRA_FUSED) k++;
    return k;
}

/* On which of two streams a call is queued. */
typedef struct {
    bool side; /* the second: behind what stands there, and behind all calls in front of it that
                    are on the first */
    int wait;  /* the first stream goes on with this call when so many on the second are done;
                    what runs as one counts as one; 0: all that it has waited for */
} lra_lane;

typedef struct {
    const char *name; /* "cpu", "cuda" */
    void *(*alloc)(lra_device *d, size_t n_bytes, const char *what,
                   lra_err *e); /* 256-byte aligned */
    void (*free)(lra_device *d, void *p);
    double (*memory_free)(const lra_device *d); /* bytes; 0: unknown */
    int (*copy)(lra_device *d, lra_copy_kind kind, void *to, const void *from, size_t n_bytes,
                lra_err *e);
    int (*clear)(lra_device *d, void *p, int byte, size_t n_bytes, lra_err *e);
    /* Runs the calls in order. */
    int (*run)(lra_device *d, const lra_call *calls, int n, lra_err *e);
    /* The same; seconds of each call by the device's own clock.  NULL: the host's, around run() of
     * each. */
    int (*run_timed)(lra_device *d, const lra_call *calls, int n, double *seconds, lra_err *e);
    /* Records a list once, with its lanes, and replays it; NULL: run() every time. */
    void *(*capture)(lra_device *d, const lra_call *calls, const lra_lane *lanes, int n,
                     lra_err *e);
    int (*replay)(lra_device *d, void *captured, lra_err *e);
    void (*forget)(lra_device *d, void *captured);
    /* Nodes that run as one: may `next` be run together with these, the first of which decides on
     * its kernel?  NULL: none are.  Calls of fused nodes follow each other, those behind the first
     * have LRA_FUSED for a gate; `out` is NULL where a result is read by a fused node alone, and
     * the scratch of all is the first one's. */
    lra_fuse (*fuses)(const lra_tensor *const *group, int n, const lra_tensor *next);
    int64_t (*fused_scratch)(const lra_tensor *const *group, int n);
    /* The most calls on the second stream that the first has not waited for; NULL or 0: there is
     * none. */
    int (*side)(const lra_device *d);
    /* Bytes of scratch of a node; NULL: op->scratch(y, threads()). */
    int64_t (*scratch)(const lra_tensor *y);
    /* A place on the host for n_bytes of results; NULL and e: there is no memory.  All four NULL:
     * copy() instead. */
    void *(*readback_new)(lra_device *d, size_t n_bytes, lra_err *e);
    void (*readback_free)(lra_device *d, void *place);
    /* Queues copies of them. */
    int (*readback_copy)(lra_device *d, void *place, int n, const lra_readback_part *part,
                         lra_err *e);
    /* Waits for what was copied there, and for nothing behind it; returns its memory, NULL and e:
     * the device failed. */
    const void *(*readback_wait)(lra_device *d, void *place, lra_err *e);
    /* Waits until all that was queued is done; NULL: nothing ever is. */
    int (*wait)(lra_device *d, lra_err *e);
    /* The most threads a plan may use. */
    int (*threads)(const lra_device *d);
    /* FLOP/s of matrix work at best, measured in some ten milliseconds. */
    double (*peak)(const lra_device *d, lra_type type, int n_threads);
} lra_backend;

struct lra_device {
    const lra_backend *backend;
    int index;
    const char *name;   /* "cpu", "cuda:0" */
    const char *detail; /* "NVIDIA H200"; NULL: the processor */
    void *own;          /* the backend's own */
};

#endif
