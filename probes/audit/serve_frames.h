/* The model's side of LRAX/1: answers the requests that arrive on a descriptor by calling a
 * responder. Error codes: `unsupported` if the responder does not have the op; `bad_request` for
 * inputs of wrong shape or range; `out_of_memory`; `internal` for other failures. The server
 * answers further requests after each of these errors. */
#ifndef LRA_PROBES_AUDIT_SERVE_FRAMES_H
#define LRA_PROBES_AUDIT_SERVE_FRAMES_H

#include "probes/audit/ready.h"
#include "probes/audit/wire.h"

/* Answers requests until `bye` or the end of the input. Fails if the input is not a sequence of
 * complete frames, or if an answer cannot be written. */
int lra_serve_frames(lra_responder *r, const lra_wire_shape *shape, int in, int out, lra_err *e);

/* Functions for servers with a loop of their own. lra_serve_read(): reads one message; *end: true
 * if the input has ended and no message was read. lra_serve_write(): writes one frame. */
int lra_serve_read(int in, lra_message *m, bool *end, lra_err *e);
int lra_serve_write(int out, const char *frame, size_t n, lra_err *e);
/* lra_server_answer() returns the frame that answers a message, which the caller frees with
 * lra_free_large(); NULL and an error message only if there is too little memory. */
typedef struct lra_server lra_server;
lra_server *lra_server_new(lra_responder *r, const lra_wire_shape *shape);
char *lra_server_answer(lra_server *s, const lra_message *m, size_t *n, lra_err *e);
void lra_server_free(lra_server *s); /* Nullable: s */

#endif
