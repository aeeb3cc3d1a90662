/* Converts requests to a model (probes/shared/responder.h) to arrays of an LRAX/1 message, and
 * back.
 *   tokens I32 (B,T)     or values F32 (B,T,F)   length I32 (B)
 *   keep BOOL (B,T)      optional                place I32 (B)   optional
 * With two towers every shape has an axis of length 2 after B. In memory, a request contains all
 * first documents, then all second ones. */
#ifndef LRA_PROBES_AUDIT_WIRE_H
#define LRA_PROBES_AUDIT_WIRE_H

#include "probes/audit/frame.h"
#include "probes/shared/responder.h"

enum { LRA_WIRE_ARRAYS = 8 };

/* Arrays of a message under construction; initialised as {0}. */
typedef struct {
    int n;
    lra_safetensor tensor[LRA_WIRE_ARRAYS];
    void *owned[LRA_WIRE_ARRAYS];
} lra_wire;

/* Adds an array; takes ownership of `bytes` (from lra_alloc_array()). */
void lra_wire_add(lra_wire *w, const char *name, lra_dtype dtype, int rank, const int64_t *dims,
                  void *bytes);
/* Adds the inputs of n rows of a request; row: (n) their indices. */
void lra_wire_inputs(lra_wire *w, const lra_request *q, const int64_t *row, int64_t n);
void lra_wire_free(lra_wire *w);

/* Returns n rows of an array (towers,B,inner) as (n[,2],inner); row: (n) their indices; size: bytes
 * of an element. */
void *lra_wire_gather(const void *from, const lra_request *q, const int64_t *row, int64_t n,
                      int64_t inner, size_t size);
/* The inverse: writes `rows` (n[,2],inner) to the rows `row` of an array (towers,B,inner). */
void lra_wire_scatter(void *to, const lra_request *q, const int64_t *row, int64_t n, int64_t inner,
                      size_t size, const void *rows);

/* A request that was read from a message, with the arrays that it owns. */
typedef struct {
    lra_request q;
    void *owned[4];
} lra_wire_request;

/* Expected inputs: vocab: number of token ids, 0: `width` real numbers per position; towers. */
typedef struct {
    int64_t vocab, width;
    int towers;
} lra_wire_shape;

/* Reads the inputs of a message, and checks shapes, token ids and lengths. The caller frees r, also
 * after a failure. */
int lra_wire_read(const lra_message *m, const lra_wire_shape *shape, lra_wire_request *r,
                  lra_err *e);
void lra_wire_request_free(lra_wire_request *r);
/* Returns an array (B[,2],inner) of a message, with elements of 4 bytes, as (towers,B,inner), which
 * the caller frees; inner 0: no last axis. NULL and a message if it is missing or has another
 * shape. */
void *lra_wire_read_array(const lra_message *m, const char *name, lra_dtype dtype,
                          const lra_request *q, int64_t inner, lra_err *e);
/* Same for an array (B[,2],T,channels), as (towers,B,T,channels). */
void *lra_wire_read_channels(const lra_message *m, const char *name, lra_dtype dtype,
                             const lra_request *q, int64_t channels, lra_err *e);

#endif
