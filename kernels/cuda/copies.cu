/* Host-device transfers. Inputs are gathered in a slot (staging.h) and sent when work that may read
 * them is queued. They are copied from pinned memory to a staging buffer on the loader stream,
 * concurrently with the previous optimiser step, and then within the device on the main stream.
 * Results are copied to pinned memory after the work that produces them. */
#include "kernels/cuda/state.h"

#include <string.h>

#include "kernels/base/core/mem.h"

/* Capacity of a slot. Larger inputs (parameters of a checkpoint) are copied synchronously. */
enum { SLOT_SIZE = 8 << 20 };

static cudaError_t open_slot(lra_cuda_slot *s)
{
    /* wait until the previous use of this slot, LRA_CUDA_SLOTS transfers ago, is complete */
    cudaError_t rc = cudaEventSynchronize(s->moved);
    if (rc != cudaSuccess || s->staging) return rc;
    rc = cudaMallocHost(&s->host, SLOT_SIZE);
    return rc == cudaSuccess ? cudaMalloc(&s->staging, SLOT_SIZE) : rc;
}

static cudaError_t send(lra_cuda_slot *s)
{
    cudaError_t rc = cudaMemcpyAsync(s->staging, s->host, s->in.used, cudaMemcpyHostToDevice,
                                     lra_cuda->loader);
    if (rc == cudaSuccess) rc = cudaEventRecord(s->filled, lra_cuda->loader);
    if (rc == cudaSuccess) rc = cudaStreamWaitEvent(lra_cuda->work, s->filled, 0);
    for (int i = 0; i < s->in.n && rc == cudaSuccess; i++) {
        const lra_staged *p = &s->in.part[i];
        rc = cudaMemcpyAsync(p->to, (char *)s->staging + p->at, p->n_bytes,
                             cudaMemcpyDeviceToDevice, lra_cuda->work);
    }
    return rc == cudaSuccess ? cudaEventRecord(s->moved, lra_cuda->work) : rc;
}

int lra_cuda_send(lra_err *e)
{
    lra_cuda_slot *s = &lra_cuda->slot[lra_cuda->next];
    if (s->in.n == 0) return 0;
    cudaError_t rc = send(s);
    s->in.n = 0, s->in.used = 0;
    lra_cuda->next = (lra_cuda->next + 1) % LRA_CUDA_SLOTS;
    return lra_cuda_check(rc, "copying in", e);
}

/* Copies an input to the current slot. After it returns, `from` may be changed. */
static int gather(void *to, const void *from, size_t n_bytes, lra_err *e)
{
    for (;;) {
        lra_cuda_slot *s = &lra_cuda->slot[lra_cuda->next];
        if (s->in.n == 0 && lra_cuda_check(open_slot(s), "copying in", e) != 0) return LRA_FAILED;
        int64_t at = lra_staging_add(&s->in, to, n_bytes, SLOT_SIZE);
        if (at >= 0) {
            memcpy((char *)s->host + at, from, n_bytes);
            return 0;
        }
        if (lra_cuda_send(e) != 0) return LRA_FAILED;
    }
}

int lra_cuda_copy(lra_device *d, lra_copy_kind kind, void *to, const void *from, size_t n_bytes,
                  lra_err *e)
{
    static const cudaMemcpyKind kinds[] = {cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost,
                                           cudaMemcpyDeviceToDevice};
    static const char *const what[] = {"copying in", "copying out", "copying"};
    (void)d;
    if (n_bytes == 0) return 0;
    if (kind == LRA_COPY_IN && n_bytes <= SLOT_SIZE) return gather(to, from, n_bytes, e);
    if (lra_cuda_send(e) != 0) return LRA_FAILED;
    cudaError_t rc = cudaMemcpyAsync(to, from, n_bytes, kinds[kind], lra_cuda->work);
    if (rc == cudaSuccess && kind != LRA_COPY_WITHIN) rc = cudaStreamSynchronize(lra_cuda->work);
    return lra_cuda_check(rc, what[kind], e);
}

int lra_cuda_clear(lra_device *d, void *p, int byte, size_t n_bytes, lra_err *e)
{
    (void)d;
    if (lra_cuda_send(e) != 0) return LRA_FAILED;
    return lra_cuda_check(cudaMemsetAsync(p, byte, n_bytes, lra_cuda->work), "clearing memory", e);
}

/* ---- results --------------------------------------------------------------------------------- */

typedef struct {
    void *host;
    cudaEvent_t there;
} place_of_results;

void *lra_cuda_readback_new(lra_device *d, size_t n_bytes, lra_err *e)
{
    place_of_results *p = (place_of_results *)lra_alloc(sizeof *p);
    cudaError_t rc = cudaMallocHost(&p->host, n_bytes);
    if (rc == cudaSuccess) rc = cudaEventCreateWithFlags(&p->there, cudaEventDisableTiming);
    if (lra_cuda_check(rc, "memory for results", e) == 0) return p;
    lra_cuda_readback_free(d, p);
    return NULL;
}

void lra_cuda_readback_free(lra_device *d, void *place)
{
    place_of_results *p = (place_of_results *)place;
    (void)d;
    if (p->there) cudaEventDestroy(p->there);
    cudaFreeHost(p->host); /* waits for copies in flight */
    lra_free(p);
}

int lra_cuda_readback_copy(lra_device *d, void *place, int n, const lra_readback_part *part,
                           lra_err *e)
{
    place_of_results *p = (place_of_results *)place;
    cudaError_t rc = cudaSuccess;
    (void)d;
    if (lra_cuda_send(e) != 0) return LRA_FAILED;
    for (int i = 0; i < n && rc == cudaSuccess; i++)
        rc = cudaMemcpyAsync((char *)p->host + part[i].at, part[i].from, part[i].n_bytes,
                             cudaMemcpyDeviceToHost, lra_cuda->work);
    if (rc == cudaSuccess) rc = cudaEventRecord(p->there, lra_cuda->work);
    return lra_cuda_check(rc, "copying out", e);
}

const void *lra_cuda_readback_wait(lra_device *d, void *place, lra_err *e)
{
    place_of_results *p = (place_of_results *)place;
    (void)d;
    return lra_cuda_check(cudaEventSynchronize(p->there), "a step", e) == 0 ? p->host : NULL;
}
