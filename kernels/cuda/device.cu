/* A GPU as a device: opening it, memory, error messages. */
#include "kernels/cuda/launch.h"
#include "kernels/cuda/messages.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/fused.h"
#include "kernels/cuda/state.h"
#include "kernels/cuda/self_test.h"
#include "kernels/cuda/verified.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"

lra_cuda_state *lra_cuda;

enum { RESERVE = 512 << 20 };

/* ---- errors ---------------------------------------------------------------------------------- */

/* True for errors after which nothing on this GPU works until the process ends. */
static bool is_lost(cudaError_t rc)
{
    switch (rc) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorDevicesUnavailable:
    case cudaErrorAssert: return true;
    default: return false;
    }
}

int lra_cuda_check(cudaError_t rc, const char *what, lra_err *e)
{
    if (rc == cudaSuccess) return 0;
    return lra_cuda_fail_call(e, what, lra_cuda ? lra_cuda->name : "cuda", cudaGetErrorString(rc),
                              is_lost(rc));
}

/* ---- which GPUs there are -------------------------------------------------------------------- */

extern "C" const char *lra_cuda_built(void)
{
    return "CUDA " LRA_CUDA_RELEASE " (" LRA_CUDA_BUILT ")";
}

extern "C" bool lra_cuda_is_built(void)
{
    return true;
}

extern "C" int lra_cuda_count(lra_err *e)
{
    int n = 0, driver = 0;
    cudaError_t rc = cudaGetDeviceCount(&n);
    if (rc == cudaSuccess && n > 0) return n;
    cudaGetLastError(); /* clears the error, which the runtime would report again */
    if (cudaDriverGetVersion(&driver) != cudaSuccess) driver = 0;
    lra_cuda_trouble why = LRA_BAD_DRIVER;
    if (rc == cudaErrorInsufficientDriver) why = driver > 0 ? LRA_OLD_DRIVER : LRA_NO_DRIVER;
    if (rc == cudaErrorNoDevice || rc == cudaSuccess) why = LRA_NO_GPU;
    lra_cuda_fail_none(e, why, driver, CUDART_VERSION, cudaGetErrorString(rc));
    return 0;
}

extern "C" int lra_cuda_describe(int index, char *buf, size_t size, lra_err *e)
{
    cudaDeviceProp p;
    char name[16], a[32], b[32];
    size_t free_bytes = 0, total = 0;
    snprintf(name, sizeof name, "cuda:%d", index);
    cudaError_t rc = cudaGetDeviceProperties(&p, index);
    if (rc == cudaSuccess) rc = cudaSetDevice(index);
    if (rc == cudaSuccess) rc = cudaMemGetInfo(&free_bytes, &total);
    if (rc != cudaSuccess)
        return lra_fail(e, "'%s' cannot be used: %s", name, cudaGetErrorString(rc));
    snprintf(buf, size, "%s, compute capability %d.%d, %s of %s free", p.name, p.major, p.minor,
             lra_size_text(a, (double)free_bytes), lra_size_text(b, (double)total));
    return 0;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void *cuda_alloc(lra_device *d, size_t n_bytes, const char *what, lra_err *e)
{
    void *p = NULL;
    size_t free_bytes = 0, total = 0;
    cudaError_t rc = cudaMalloc(&p, n_bytes);
    if (rc == cudaSuccess) return p;
    if (rc != cudaErrorMemoryAllocation) {
        lra_cuda_check(rc, what, e);
        return NULL;
    }
    cudaGetLastError();
    cudaMemGetInfo(&free_bytes, &total);
    lra_cuda_fail_memory(e, what, (double)n_bytes, d->name, (double)free_bytes);
    return NULL;
}

static void cuda_free(lra_device *d, void *p)
{
    lra_err ignored;
    (void)d;
    lra_cuda_send(&ignored); /* gathered inputs may have this memory as destination */
    cudaFree(p); /* waits for work that uses the memory; an error is reported at the next call */
}

/* Memory available to a workspace, in bytes. A reserve remains for kernels that are loaded later,
 * recorded graphs and input slots. */
static double cuda_memory_free(const lra_device *d)
{
    size_t free_bytes = 0, total = 0;
    (void)d;
    if (cudaMemGetInfo(&free_bytes, &total) != cudaSuccess) return 0;
    return free_bytes > RESERVE ? (double)(free_bytes - RESERVE) : 1;
}

/* ---- opening --------------------------------------------------------------------------------- */

static int cuda_threads(const lra_device *d)
{
    (void)d;
    return 1;
}

static int cuda_side_stream_depth(const lra_device *d)
{
    (void)d;
    return lra_cuda->depth;
}

static const lra_backend *backend(void)
{
    static lra_backend b;
    b.name = "cuda";
    b.alloc = cuda_alloc, b.free = cuda_free, b.memory_free = cuda_memory_free;
    b.copy = lra_cuda_copy, b.clear = lra_cuda_clear;
    b.readback_new = lra_cuda_readback_new, b.readback_free = lra_cuda_readback_free;
    b.readback_copy = lra_cuda_readback_copy, b.readback_wait = lra_cuda_readback_wait;
    b.run = lra_cuda_run, b.run_timed = lra_cuda_run_timed, b.capture = lra_cuda_capture;
    b.replay = lra_cuda_replay, b.forget = lra_cuda_forget, b.wait = lra_cuda_wait;
    b.fuses = lra_cuda_fuses, b.fused_scratch = lra_cuda_fused_scratch;
    b.side = cuda_side_stream_depth, b.scratch = lra_cuda_scratch, b.threads = cuda_threads,
    b.peak = lra_cuda_peak;
    return &b;
}

extern "C" lra_cuda_level_kind lra_cuda_level(void)
{
    return lra_cuda->level;
}

static cudaError_t make_event(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDisableTiming);
}

/* Creates the streams. They do not synchronise with the default stream, which is unused. The side
 * stream has the lowest priority and uses the resources that the main stream leaves idle. */
static cudaError_t make_streams(lra_cuda_state *s)
{
    int last = 0, first = 0;
    cudaError_t rc = cudaDeviceGetStreamPriorityRange(&last, &first);
    if (rc == cudaSuccess)
        rc = cudaStreamCreateWithPriority(&s->work, cudaStreamNonBlocking, first);
    if (rc == cudaSuccess) rc = cudaStreamCreateWithPriority(&s->side, cudaStreamNonBlocking, last);
    if (rc == cudaSuccess) rc = cudaStreamCreateWithFlags(&s->loader, cudaStreamNonBlocking);
    if (rc == cudaSuccess) rc = make_event(&s->forked);
    for (int i = 0; i < LRA_CUDA_SIDE_STREAM_MOST && rc == cudaSuccess; i++)
        rc = make_event(&s->done[i]);
    for (int i = 0; i < LRA_CUDA_SLOTS && rc == cudaSuccess; i++) {
        rc = make_event(&s->slot[i].filled);
        if (rc == cudaSuccess) rc = make_event(&s->slot[i].moved);
    }
    return rc;
}

/* Sets the level given by LRA_CUDA_LEVEL, or the fastest one that passes the kernel self-test. */
static int find_level(lra_cuda_state *s, lra_err *e)
{
    const char *text = getenv("LRA_CUDA_LEVEL");
    char why[256] = "";
    if (text && *text) return lra_cuda_level_find(text, s->capability, &s->level, e);
    s->level = lra_cuda_self_test(s->capability, LRA_SELF_TEST_SECONDS, why, sizeof why);
    if (why[0])
        lra_note("'%s' runs at level '%s': %s", s->name, lra_cuda_level_name(s->level), why);
    return 0;
}

/* Prints once, for this process and its children, that the GPU model is experimental. */
static void say_experimental(const lra_cuda_state *s, const char *model)
{
    static const char said[] = "LRA_CUDA_EXPERIMENTAL_SAID";
    if (getenv(said) || lra_cuda_is_verified(model)) return;
    lra_note("'%s' (%s) is experimental: not yet verified on hardware (tests/gpu.sh does that)",
             s->name, model);
    setenv(said, "1", 1);
}

static int open_gpu(int index, lra_cuda_state *s, lra_err *e)
{
    cudaDeviceProp p;
    int n = lra_cuda_count(e);
    if (n == 0) return LRA_FAILED;
    if (index >= n) return lra_cuda_fail_index(e, index, n);
    s->index = index;
    snprintf(s->name, sizeof s->name, "cuda:%d", index);
    if (lra_cuda_describe(index, s->detail, sizeof s->detail, e) != 0) return LRA_FAILED;
    if (lra_cuda_check(cudaGetDeviceProperties(&p, index), "asking", e) != 0) return LRA_FAILED;
    s->capability = p.major * 10 + p.minor;
    if (s->capability < 80) return lra_cuda_fail_capability(e, s->name, p.name, s->capability);
    const char *depth = getenv("LRA_CUDA_SIDE_STREAM");
    if (!depth) depth = getenv("LRA_CUDA_BESIDE"); /* earlier name of the variable */
    if (lra_cuda_side_stream_parse(depth, &s->depth, e) != 0) return LRA_FAILED;
    if (lra_cuda_columns_find(getenv("LRA_CUDA_COLUMNS"), &s->columns, e) != 0) return LRA_FAILED;
    say_experimental(s, p.name);
    if (find_level(s, e) != 0) return LRA_FAILED;
    snprintf(s->detail, sizeof s->detail, "%s, %s", p.name, lra_cuda_level_name(s->level));
    return lra_cuda_check(make_streams(s), "opening", e);
}

extern "C" int lra_cuda_device(lra_device *out, int index, lra_err *e)
{
    static lra_cuda_state state;
    if (lra_cuda && lra_cuda->index != index)
        return lra_fail(e, "'%s' is already in use, and a process can use only one GPU",
                        lra_cuda->name);
    if (!lra_cuda) {
        memset(&state, 0, sizeof state);
        if (open_gpu(index, &state, e) != 0) return LRA_FAILED;
        lra_cuda = &state;
        if (lra_cuda_gemm_open(e) != 0) {
            lra_cuda = NULL;
            return LRA_FAILED;
        }
    }
    memset(out, 0, sizeof *out);
    out->backend = backend();
    out->index = index;
    out->name = lra_cuda->name;
    out->detail = lra_cuda->detail;
    return 0;
}
