/* Requests of a model (probes/shared/responder.h) as arrays of an LRAX/1 message, and back.
 *   tokens I32 (B,T)     or values F32 (B,T,F)   length I32 (B)
 *   keep BOOL (B,T)      optional                place I32 (B)   optional
 * With two towers every shape has an axis of 2 after B; a request in memory holds all first
 * documents, then all second ones. */
#ifndef LRA_PROBES_AUDIT_WIRE_H
#define LRA_PROBES_AUDIT_WIRE_H

#include "probes/audit/frame.h"
#include "probes/shared/responder.h"

enum { LRA_WIRE_ARRAYS = 8 };

/* Arrays of a message that is being made; starts as {0}. */
typedef struct {
    int n;
    lra_safetensor tensor[LRA_WIRE_ARRAYS];
    void *owned[LRA_WIRE_ARRAYS];
} lra_wire;

/* Adds an array; takes `bytes` (from lra_alloc_array()). */
void lra_wire_add(lra_wire *w, const char *name, lra_dtype dtype, int rank, const int64_t *dims,
                  void *bytes);
/* Adds the inputs of n rows of a request; row: (n) their numbers. */
void lra_wire_inputs(lra_wire *w, const lra_request *q, const int64_t *row, int64_t n);
void lra_wire_free(lra_wire *w);

/* (n[,2],inner) of n rows from an array (towers,B,inner) of elements of `size` bytes. */
void *lra_wire_gather(const void *from, const lra_request *q, const int64_t *row, int64_t n,
                      int64_t inner, size_t size);
/* The other direction: writes rows of (n[,2],inner) to their places in (towers,B,inner). */
void lra_wire_scatter(void *to, const lra_request *q, const int64_t *row, int64_t n, int64_t inner,
                      size_t size, const void *rows);

/* A request that was read from a message. */
typedef struct {
    lra_request q;
    void *owned[4];
} lra_wire_request;

/* Expectations of the inputs: vocabulary (0: values of `width` numbers), towers. */
typedef struct {
    int64_t vocab, width;
    int towers;
} lra_wire_shape;

/* Reads and checks the inputs of a message: shapes, token ids, lengths.  Free r after a failure
 * too. */
int lra_wire_read(const lra_message *m, const lra_wire_shape *shape, lra_wire_request *r,
                  lra_err *e);
void lra_wire_request_free(lra_wire_request *r);
/* (towers,B,inner) elements of 4 bytes of an array (B[,2],inner) of a message; inner 0: there is no
 * last axis.  NULL with a message if it is missing or of another shape; the caller frees it. */
void *lra_wire_read_array(const lra_message *m, const char *name, lra_dtype dtype,
                          const lra_request *q, int64_t inner, lra_err *e);

#endif
