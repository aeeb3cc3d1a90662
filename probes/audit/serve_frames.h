/* The other end of LRAX/1: answers the frames that arrive on a descriptor by a responder.
 * An op that the responder does not have is answered by error code `unsupported`; inputs of wrong
 * shape or range by `bad_request`; lack of memory by `out_of_memory`; other failures by `internal`.
 * The conversation continues after each of them. */
#ifndef LRA_PROBES_AUDIT_SERVE_FRAMES_H
#define LRA_PROBES_AUDIT_SERVE_FRAMES_H

#include "probes/audit/ready.h"
#include "probes/audit/wire.h"

/* Answers until `bye` or the end of the input.  Fails on an incomplete frame, on bytes that are no
 * frame, and if an answer cannot be written. */
int lra_serve_frames(lra_responder *r, const lra_wire_shape *shape, int in, int out, lra_err *e);

/* For servers with switches: reads one message (*end: the input has ended; nothing was read), and
 * writes one frame. */
int lra_serve_read(int in, lra_message *m, bool *end, lra_err *e);
int lra_serve_write(int out, const char *frame, size_t n, lra_err *e);
/* The frame that answers a message; NULL with a message only if memory is missing.  The caller
 * frees it with lra_free_large(). */
typedef struct lra_server lra_server;
lra_server *lra_server_new(lra_responder *r, const lra_wire_shape *shape);
char *lra_server_answer(lra_server *s, const lra_message *m, size_t *n, lra_err *e);
void lra_server_free(lra_server *s); /* Nullable: s */

#endif
