/* Converts requests to arrays of messages, and back. */
#include "probes/audit/wire.h"

#include <string.h>

#include "kernels/base/core/mem.h"

/* ---- writing --------------------------------------------------------------------------------- */

void lra_wire_add(lra_wire *w, const char *name, lra_dtype dtype, int rank, const int64_t *dims,
                  void *bytes)
{
    if (w->n == LRA_WIRE_ARRAYS) LRA_BUG("a message of more than %d arrays", LRA_WIRE_ARRAYS);
    lra_safetensor *t = &w->tensor[w->n];
    *t = (lra_safetensor){.name = lra_copy_text(name),
                          .array = {.dtype = dtype, .rank = rank, .bytes = bytes}};
    for (int i = 0; i < rank; i++) t->array.dims[i] = dims[i];
    w->owned[w->n++] = bytes;
}

void lra_wire_free(lra_wire *w)
{
    for (int i = 0; i < w->n; i++) {
        lra_free(w->tensor[i].name);
        lra_free(w->owned[i]);
    }
    *w = (lra_wire){0};
}

void *lra_wire_gather(const void *from, const lra_request *q, const int64_t *row, int64_t n,
                      int64_t inner, size_t size)
{
    size_t bytes = (size_t)inner * size;
    char *to = lra_alloc_array((size_t)(n * q->towers) + 1, bytes);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < q->towers; k++)
            memcpy(to + (size_t)(i * q->towers + k) * bytes,
                   (const char *)from + (size_t)(k * q->B + row[i]) * bytes, bytes);
    return to;
}

void lra_wire_scatter(void *to, const lra_request *q, const int64_t *row, int64_t n, int64_t inner,
                      size_t size, const void *rows)
{
    size_t bytes = (size_t)inner * size;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < q->towers; k++)
            memcpy((char *)to + (size_t)(k * q->B + row[i]) * bytes,
                   (const char *)rows + (size_t)(i * q->towers + k) * bytes, bytes);
}

/* Adds rows of `from` as an array (n[,2],inner[,F]); F 0: no last axis. */
static void add_rows(lra_wire *w, const char *name, lra_dtype dtype, const void *from,
                     const lra_request *q, const int64_t *row, int64_t n, int64_t inner, int64_t F)
{
    int64_t dims[4] = {n}, each = inner > 0 ? inner : 1;
    int rank = 1;
    if (q->towers > 1) dims[rank++] = q->towers;
    if (inner > 0) dims[rank++] = inner;
    if (F > 0) dims[rank++] = F, each *= F;
    lra_wire_add(w, name, dtype, rank, dims,
                 lra_wire_gather(from, q, row, n, each, lra_dtype_bytes(dtype)));
}

void lra_wire_inputs(lra_wire *w, const lra_request *q, const int64_t *row, int64_t n)
{
    if (q->token)
        add_rows(w, "tokens", LRA_DTYPE_I32, q->token, q, row, n, q->T, 0);
    else
        add_rows(w, "values", LRA_DTYPE_F32, q->value, q, row, n, q->T, q->width);
    add_rows(w, "length", LRA_DTYPE_I32, q->length, q, row, n, 0, 0);
    if (q->keep) add_rows(w, "keep", LRA_DTYPE_BOOL, q->keep, q, row, n, q->T, 0);
    if (q->place) add_rows(w, "place", LRA_DTYPE_I32, q->place, q, row, n, 0, 0);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Returns an array (B[,2],inner) of the message as (towers,B,inner). */
static void *spread(const lra_ndarray *a, const lra_request *q, int64_t inner)
{
    size_t size = lra_dtype_bytes(a->dtype);
    int64_t *row = lra_alloc_array((size_t)q->B + 1, sizeof *row);
    char *to = lra_alloc_array((size_t)(q->B * q->towers * inner) + 1, size);
    for (int64_t i = 0; i < q->B; i++) row[i] = i;
    if (q->B && inner) lra_wire_scatter(to, q, row, q->B, inner, size, a->bytes);
    lra_free(row);
    return to;
}

static void *read_rows(const lra_message *m, const char *name, lra_dtype dtype,
                       const lra_request *q, int64_t inner, int64_t F, lra_err *e)
{
    int64_t dims[4] = {q->B}, each = inner > 0 ? inner : 1;
    int rank = 1;
    if (q->towers > 1) dims[rank++] = q->towers;
    if (inner > 0) dims[rank++] = inner;
    if (F > 0) dims[rank++] = F, each *= F;
    const lra_ndarray *a = lra_message_array(m, name, dtype, rank, dims, e);
    return a ? spread(a, q, each) : NULL;
}

void *lra_wire_read_array(const lra_message *m, const char *name, lra_dtype dtype,
                          const lra_request *q, int64_t inner, lra_err *e)
{
    return read_rows(m, name, dtype, q, inner, 0, e);
}

static int check_inputs(const lra_request *q, int64_t vocab, lra_err *e)
{
    for (int64_t s = 0; s < q->B * q->towers; s++) {
        if (q->length[s] < 0 || q->length[s] > q->T)
            return lra_fail(e, "'length' of row %lld is %d, expected 0 to %lld",
                            (long long)(s % q->B), q->length[s], (long long)q->T);
        for (int64_t t = 0; q->token && t < q->T; t++) {
            int32_t x = q->token[s * q->T + t];
            if (x < 0 || x >= vocab)
                return lra_fail(e, "token %d of row %lld, expected 0 to %lld", x,
                                (long long)(s % q->B), (long long)vocab - 1);
        }
    }
    return 0;
}

void *lra_wire_read_channels(const lra_message *m, const char *name, lra_dtype dtype,
                             const lra_request *q, int64_t channels, lra_err *e)
{
    return read_rows(m, name, dtype, q, q->T, channels, e);
}

int lra_wire_read(const lra_message *m, const lra_wire_shape *shape, lra_wire_request *r,
                  lra_err *e)
{
    const char *name = shape->vocab ? "tokens" : "values";
    const lra_ndarray *a = lra_safetensors_find(&m->t, name);
    lra_request *q = &r->q;
    int axes = shape->towers > 1;
    *r = (lra_wire_request){.q = {.towers = shape->towers}};
    if (!a) return lra_fail(e, "'%.40s' has no array '%s'", m->op, name);
    if (a->rank != 2 + axes + !shape->vocab || a->dims[0] < 1 || a->dims[1 + axes] < 1)
        return lra_fail(e, "'%s' has rank %d, expected %s", name, a->rank,
                        shape->vocab ? (axes ? "(B,2,T)" : "(B,T)")
                        : axes       ? "(B,2,T,F)"
                                     : "(B,T,F)");
    q->B = a->dims[0], q->T = a->dims[1 + axes], q->width = shape->vocab ? 0 : shape->width;
    r->owned[0] = read_rows(m, name, shape->vocab ? LRA_DTYPE_I32 : LRA_DTYPE_F32, q, q->T,
                            q->width, e);
    if (!r->owned[0]) return LRA_FAILED;
    if (shape->vocab)
        q->token = r->owned[0];
    else
        q->value = r->owned[0];
    q->length = r->owned[1] = read_rows(m, "length", LRA_DTYPE_I32, q, 0, 0, e);
    if (!q->length || check_inputs(q, shape->vocab, e) != 0) return LRA_FAILED;
    if (lra_safetensors_find(&m->t, "keep")) {
        q->keep = r->owned[2] = read_rows(m, "keep", LRA_DTYPE_BOOL, q, q->T, 0, e);
        if (!q->keep) return LRA_FAILED;
    }
    if (lra_safetensors_find(&m->t, "place")) {
        q->place = r->owned[3] = read_rows(m, "place", LRA_DTYPE_I32, q, 0, 0, e);
        if (!q->place) return LRA_FAILED;
    }
    return 0;
}

void lra_wire_request_free(lra_wire_request *r)
{
    for (int i = 0; i < 4; i++) lra_free(r->owned[i]);
    *r = (lra_wire_request){.q = {.B = 0}};
}
