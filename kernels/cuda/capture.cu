/* Running a plan on a GPU.  The first run queues node by node: libraries warm up, and it is a real
 * step.  The second records the same into a CUDA graph, which it and all others launch. */
#include "kernels/cuda/joined.h"
#include "kernels/cuda/state.h"

#include "kernels/base/mem.h"

typedef struct {
    const lra_call *calls;
    int n, runs;
    cudaGraphExec_t graph;
} recording;

/* Queues all calls; the first that cannot be queued is named. */
static int queue(const lra_call *calls, int n, lra_err *e)
{
    static const char *const types[] = {"F32", "F64", "BF16"};
    for (int i = 0; i < n; i++) {
        const lra_tensor *y = calls[i].y;
        lra_type type = lra_graph_type(y->graph);
        lra_cuda_body body = y->op->cuda[type];
        int joined = lra_joined_calls(calls + i, n - i);
        if (!body) return lra_fail(e, "op '%s' has no %s body on a GPU", y->op->name, types[type]);
        if (joined > 1)
            (type == LRA_BF16 ? lra_cuda_joined_16 : lra_cuda_joined_32)(&calls[i], joined,
                                                                         lra_cuda->work);
        else
            body(&calls[i], lra_cuda->work);
        i += joined - 1;
        if (lra_cuda->fault.msg[0]) {
            lra_fail(e, "'%s': %s", lra_tensor_path(y), lra_cuda->fault.msg);
            lra_cuda->fault.msg[0] = 0;
            return LRA_FAILED;
        }
        if (lra_cuda_check(cudaGetLastError(), "a kernel", e) != 0)
            return lra_fail_in(e, "'%s'", lra_tensor_path(y));
    }
    return 0;
}

int lra_cuda_wait(lra_device *d, lra_err *e)
{
    (void)d;
    if (lra_cuda_send(e) != 0) return LRA_FAILED;
    return lra_cuda_check(cudaStreamSynchronize(lra_cuda->work), "a step", e);
}

/* Waits: a run of single nodes is timed, checked, or the first of a plan. */
int lra_cuda_run(lra_device *d, const lra_call *calls, int n, lra_err *e)
{
    if (lra_cuda_send(e) != 0 || queue(calls, n, e) != 0) return LRA_FAILED;
    if (lra_cuda_wait(d, e) == 0) return 0;
    return n == 1 ? lra_fail_in(e, "'%s'", lra_tensor_path(calls[0].y)) : LRA_FAILED;
}

/* ---- times ----------------------------------------------------------------------------------- */

enum { HOLD_CLOCKS = 40000, HOLD_MOST = 1 << 27 };

/* Keeps the GPU busy while the host queues what is timed: a node does not wait for its launch. */
static __global__ void hold_kernel(long long clocks)
{
    long long start = clock64();
    while (clock64() - start < clocks) {}
}

/* Between event i and i + 1 stands call i. */
static int queue_timed(const lra_call *calls, int n, const cudaEvent_t *event, lra_err *e)
{
    long long clocks = (long long)n * HOLD_CLOCKS;
    hold_kernel<<<1, 1, 0, lra_cuda->work>>>(clocks < HOLD_MOST ? clocks : HOLD_MOST);
    for (int i = 0; i <= n; i++) {
        if (lra_cuda_check(cudaEventRecord(event[i], lra_cuda->work), "timing", e) != 0)
            return LRA_FAILED;
        bool alone = i < n && calls[i].gate != LRA_JOINED; /* else it has run */
        if (alone && queue(calls + i, lra_joined_calls(calls + i, n - i), e) != 0)
            return LRA_FAILED;
    }
    return lra_cuda_check(cudaEventSynchronize(event[n]), "a timed step", e);
}

int lra_cuda_run_timed(lra_device *d, const lra_call *calls, int n, double *seconds, lra_err *e)
{
    (void)d;
    cudaEvent_t *event = (cudaEvent_t *)lra_alloc_array((size_t)n + 1, sizeof *event);
    cudaError_t rc = cudaSuccess;
    for (int i = 0; i <= n && rc == cudaSuccess; i++) rc = cudaEventCreate(&event[i]);
    int failed = lra_cuda_check(rc, "timing", e);
    if (failed == 0) failed = lra_cuda_send(e);
    if (failed == 0) failed = queue_timed(calls, n, event, e);
    for (int i = 0; i < n && failed == 0; i++) {
        float ms = 0;
        failed = lra_cuda_check(cudaEventElapsedTime(&ms, event[i], event[i + 1]), "timing", e);
        seconds[i] = 1e-3 * (double)ms;
    }
    for (int i = 0; i <= n; i++)
        if (event[i]) cudaEventDestroy(event[i]);
    lra_free(event);
    return failed;
}

/* ---- recording ------------------------------------------------------------------------------- */

void *lra_cuda_capture(lra_device *d, const lra_call *calls, int n, lra_err *e)
{
    (void)d, (void)e;
    recording *r = (recording *)lra_alloc(sizeof *r);
    r->calls = calls, r->n = n;
    return r;
}

static int record(recording *r, lra_err *e)
{
    cudaGraph_t graph = NULL;
    if (lra_cuda_check(cudaStreamBeginCapture(lra_cuda->work, cudaStreamCaptureModeThreadLocal),
                       "recording a step", e) != 0)
        return LRA_FAILED;
    int queued = queue(r->calls, r->n, e);
    cudaError_t rc = cudaStreamEndCapture(lra_cuda->work, &graph);
    if (queued == 0 && rc == cudaSuccess) rc = cudaGraphInstantiate(&r->graph, graph, 0);
    if (graph) cudaGraphDestroy(graph);
    return queued != 0 ? LRA_FAILED : lra_cuda_check(rc, "recording a step", e);
}

int lra_cuda_replay(lra_device *d, void *captured, lra_err *e)
{
    recording *r = (recording *)captured;
    if (r->runs == 0) {
        if (lra_cuda_run(d, r->calls, r->n, e) != 0) return LRA_FAILED;
        r->runs = 1;
        return 0;
    }
    if (!r->graph && record(r, e) != 0) return LRA_FAILED;
    if (lra_cuda_send(e) != 0) return LRA_FAILED;
    return lra_cuda_check(cudaGraphLaunch(r->graph, lra_cuda->work), "a step", e);
}

void lra_cuda_forget(lra_device *d, void *captured)
{
    recording *r = (recording *)captured;
    (void)d;
    if (r->graph) cudaGraphExecDestroy(r->graph);
    lra_free(r);
}
