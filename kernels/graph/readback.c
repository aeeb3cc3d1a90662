/* Asynchronous readback: the device copies results to a host buffer after its queued work. */
#include "kernels/graph/readback.h"

#include <string.h>

#include "kernels/graph/graph_impl.h"

enum { MOST = 4, APART = 64 };

struct lra_readback {
    lra_device *device;
    void *place; /* buffer of the backend; NULL: host memory is used */
    size_t size;
    int n;
    lra_readback_part part[MOST];
    const lra_tensor *out[MOST];
};

bool lra_readback_helps(const lra_device *d)
{
    return d->backend->readback_new != NULL;
}

lra_readback *lra_readback_new(lra_device *d, size_t n_bytes, lra_err *e)
{
    const lra_backend *b = d->backend;
    void *place = b->readback_new ? b->readback_new(d, n_bytes, e)
                                  : lra_try_alloc(n_bytes + 1, "results of a step", e);
    if (!place) return NULL;
    lra_readback *l = lra_alloc(sizeof *l);
    *l = (lra_readback){.device = d, .place = place, .size = n_bytes};
    return l;
}

void lra_readback_free(lra_readback *l)
{
    if (!l) return;
    if (lra_readback_helps(l->device))
        l->device->backend->readback_free(l->device, l->place);
    else
        lra_free_large(l->place);
    lra_free(l);
}

int lra_readback_start(lra_readback *l, lra_plan *p, int n, lra_tensor *const *out, lra_err *e)
{
    lra_device *d = l->device;
    size_t at = 0;
    if (n > MOST) LRA_BUG("more than %d results at a time", n);
    for (int i = 0; i < n; i++) {
        lra_readback_part *r = &l->part[i];
        *r = (lra_readback_part){lra_plan_result(p, out[i], e), at, (size_t)lra_bytes(out[i])};
        if (!r->from) return LRA_FAILED;
        if (at + r->n_bytes > l->size) LRA_BUG("no room for '%s'", lra_tensor_path(out[i]));
        l->out[i] = out[i];
        at += (r->n_bytes + APART - 1) / APART * APART;
    }
    l->n = n;
    if (lra_readback_helps(d)) return d->backend->readback_copy(d, l->place, n, l->part, e);
    for (int i = 0; i < n; i++) {
        const lra_readback_part *r = &l->part[i];
        if (d->backend->copy(d, LRA_COPY_OUT, (char *)l->place + r->at, r->from, r->n_bytes, e))
            return LRA_FAILED;
    }
    return 0;
}

int lra_readback_wait(lra_readback *l, void *const *host, lra_err *e)
{
    const char *from = l->place;
    if (lra_readback_helps(l->device))
        from = l->device->backend->readback_wait(l->device, l->place, e);
    if (!from) return LRA_FAILED;
    for (int i = 0; i < l->n; i++) {
        memcpy(host[i], from + l->part[i].at, l->part[i].n_bytes);
        if (l->out[i]->type == LRA_BF16) lra_widen(host[i], lra_elements(l->out[i]));
    }
    l->n = 0;
    return 0;
}
