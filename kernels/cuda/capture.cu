/* Runs a plan on a GPU. The first run queues node by node: libraries are initialised, and it is a
 * complete training step. The second run records the same work into a CUDA graph, which this and
 * all later runs launch. Side-stream calls are queued on a second stream, which forks from the main
 * stream and joins it again. Runs of single nodes, and checked or timed runs, use one stream. */
#include "kernels/cuda/fused.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/state.h"

#include "kernels/base/core/mem.h"

typedef struct {
    const lra_call *calls;
    const lra_stream_use *streams;
    int n, runs;
    cudaGraphExec_t graph;
} recording;

bool lra_cuda_grid_fits(const char *kernel, unsigned x, unsigned y, unsigned z)
{
    if (lra_grid_allowed(x, y, z)) return true;
    if (lra_cuda && !lra_cuda->fault.msg[0])
        lra_fail(&lra_cuda->fault,
                 "%s needs a grid of %u x %u x %u blocks, CUDA allows 1 to "
                 "2147483647 x 65535 x 65535",
                 kernel, x, y, z);
    return false;
}

/* Queues n calls as one fused kernel (n = 1: the kernel of the op). */
static int queue_one(const lra_call *calls, int n, cudaStream_t stream, lra_err *e)
{
    static const char *const types[] = {"F32", "F64", "BF16"};
    const lra_tensor *y = calls[0].y;
    lra_type type = lra_graph_type(y->graph);
    lra_cuda_body body = y->op->cuda[type];
    if (!body)
        return lra_fail(e, "op '%s' has no %s implementation on a GPU", y->op->name, types[type]);
    if (n > 1)
        (type == LRA_BF16 ? lra_cuda_fused_bf16 : lra_cuda_fused_f32)(calls, n, stream);
    else
        body(calls, stream);
    if (lra_cuda->fault.msg[0]) {
        lra_fail(e, "'%s': %s", lra_tensor_path(y), lra_cuda->fault.msg);
        lra_cuda->fault.msg[0] = 0;
        return LRA_FAILED;
    }
    if (lra_cuda_check(cudaGetLastError(), "a kernel", e) != 0)
        return lra_fail_in(e, "'%s'", lra_tensor_path(y));
    return 0;
}

/* Queues all calls on the main stream. The error names the first call that cannot be queued. */
static int queue(const lra_call *calls, int n, lra_err *e)
{
    for (int i = 0, k; i < n; i += k) {
        k = lra_fused_calls(calls + i, n - i);
        if (queue_one(calls + i, k, lra_cuda->work, e) != 0) return LRA_FAILED;
    }
    return 0;
}

/* Makes the main stream wait for side-stream call number `wait`. Events are reused cyclically: the
 * number of unfinished side-stream calls never exceeds the number of events, and at the end the
 * main stream waits for all. */
static cudaError_t meet(int wait)
{
    return cudaStreamWaitEvent(lra_cuda->work,
                               lra_cuda->done[(wait - 1) % LRA_CUDA_SIDE_STREAM_MOST], 0);
}

/* Queues all calls on the main and the side stream. */
static int queue_calls(const lra_call *calls, const lra_stream_use *streams, int n, lra_err *e)
{
    lra_cuda_state *s = lra_cuda;
    for (int i = 0, k, n_side = 0; i < n; i += k) {
        bool here = !streams[i].side;
        cudaError_t rc = streams[i].wait > 0 ? meet(streams[i].wait) : cudaSuccess;
        k = lra_fused_calls(calls + i, n - i);
        if (rc == cudaSuccess && !here) rc = cudaEventRecord(s->forked, s->work);
        if (rc == cudaSuccess && !here) rc = cudaStreamWaitEvent(s->side, s->forked, 0);
        if (lra_cuda_check(rc, "a step", e) != 0) return LRA_FAILED;
        if (queue_one(calls + i, k, here ? s->work : s->side, e) != 0) return LRA_FAILED;
        if (!here) rc = cudaEventRecord(s->done[n_side++ % LRA_CUDA_SIDE_STREAM_MOST], s->side);
        if (lra_cuda_check(rc, "a step", e) != 0) return LRA_FAILED;
    }
    return 0;
}

int lra_cuda_wait(lra_device *d, lra_err *e)
{
    (void)d;
    if (lra_cuda_send(e) != 0) return LRA_FAILED;
    return lra_cuda_check(cudaStreamSynchronize(lra_cuda->work), "a step", e);
}

/* Runs node by node and waits for the result: for timed or checked runs, and the first run of a
 * plan. */
int lra_cuda_run(lra_device *d, const lra_call *calls, int n, lra_err *e)
{
    if (lra_cuda_send(e) != 0 || queue(calls, n, e) != 0) return LRA_FAILED;
    if (lra_cuda_wait(d, e) == 0) return 0;
    return n == 1 ? lra_fail_in(e, "'%s'", lra_tensor_path(calls[0].y)) : LRA_FAILED;
}

/* ---- times ----------------------------------------------------------------------------------- */

enum { HOLD_CLOCKS = 40000, HOLD_MOST = 1 << 27 };

/* Keeps the GPU busy while the host queues the timed calls, so that no call waits for its
 * launch. */
static __global__ void hold_kernel(long long clocks)
{
    long long start = clock64();
    while (clock64() - start < clocks) {}
}

/* Queues calls with an event before each of them and after the last: call i runs between events i
 * and i + 1. */
static int queue_timed(const lra_call *calls, int n, const cudaEvent_t *event, lra_err *e)
{
    long long clocks = (long long)n * HOLD_CLOCKS;
    hold_kernel<<<1, 1, 0, lra_cuda->work>>>(clocks < HOLD_MOST ? clocks : (long long)HOLD_MOST);
    for (int i = 0; i <= n; i++) {
        if (lra_cuda_check(cudaEventRecord(event[i], lra_cuda->work), "timing", e) != 0)
            return LRA_FAILED;
        /* a call with gate LRA_FUSED was queued with an earlier call */
        bool alone = i < n && calls[i].gate != LRA_FUSED;
        if (alone && queue(calls + i, lra_fused_calls(calls + i, n - i), e) != 0) return LRA_FAILED;
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

void *lra_cuda_capture(lra_device *d, const lra_call *calls, const lra_stream_use *streams, int n,
                       lra_err *e)
{
    (void)d, (void)e;
    recording *r = (recording *)lra_alloc(sizeof *r);
    r->calls = calls, r->streams = streams, r->n = n;
    return r;
}

static int record(recording *r, lra_err *e)
{
    cudaGraph_t graph = NULL;
    if (lra_cuda_check(cudaStreamBeginCapture(lra_cuda->work, cudaStreamCaptureModeThreadLocal),
                       "recording a step", e) != 0)
        return LRA_FAILED;
    int queued = queue_calls(r->calls, r->streams, r->n, e);
    cudaError_t rc = cudaStreamEndCapture(lra_cuda->work, &graph);
    if (queued == 0 && rc == cudaSuccess) rc = cudaGraphInstantiate(&r->graph, graph, 0);
    if (graph) cudaGraphDestroy(graph);
    return queued != 0 ? LRA_FAILED : lra_cuda_check(rc, "recording a step", e);
}

int lra_cuda_replay(lra_device *d, void *captured, lra_err *e)
{
    recording *r = (recording *)captured;
    if (r->runs == 0) {
        if (lra_cuda_send(e) != 0 || queue_calls(r->calls, r->streams, r->n, e) != 0)
            return LRA_FAILED;
        r->runs = 1;
        return lra_cuda_wait(d, e);
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
