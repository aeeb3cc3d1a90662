/* Gathers inputs for a transfer to the device (staging.h). */
#include "kernels/cuda/staging.h"

/* True if the destination `to` follows that of the last part, with only the padding of a buffer
 * between them. */
static int follows(const lra_staged *last, const char *to)
{
    uintptr_t end = (uintptr_t)last->to + last->n_bytes;
    return (uintptr_t)to >= end && (uintptr_t)to - end < LRA_STAGED_APART;
}

int64_t lra_staging_add(lra_staging *s, void *to, size_t n_bytes, size_t size)
{
    lra_staged *last = s->n ? &s->part[s->n - 1] : NULL;
    size_t at = (s->used + LRA_STAGED_APART - 1) / LRA_STAGED_APART * LRA_STAGED_APART;
    int fuses = last && follows(last, to);
    if (fuses) at = last->at + (size_t)((char *)to - last->to);
    if (at + n_bytes > size || (!fuses && s->n == LRA_STAGED_MOST)) return -1;
    if (fuses)
        last->n_bytes = at + n_bytes - last->at;
    else
        s->part[s->n++] = (lra_staged){to, at, n_bytes};
    s->used = at + n_bytes;
    return (int64_t)at;
}
