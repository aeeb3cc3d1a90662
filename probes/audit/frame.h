/* Frames of LRAX/1, the protocol between lra-probe and an external model:
 *   0   4   magic    "LRAX"
 *   4   2   version  1, little-endian
 *   6   2   flags    0
 *   8   8   n        payload bytes, little-endian
 *   16  n   payload  a safetensors image (kernels/base/formats/safetensors.h)
 * The metadata of the payload hold the message: `op` and a decimal `id`, and what the op needs.
 * Requests of lra-probe: hello, forward, features, vjp, attn, kernels, reset, restore, bye.  A
 * model answers each but bye with ready (to hello), result or error, and the same id.
 *
 * A reader receives bytes in any portions:
 *   while (!complete) {
 *       room = lra_frame_room(&r, &to);  n = read(fd, to, room);
 *       lra_frame_took(&r, n, &complete, &e);
 *   }
 *   lra_frame_message(&r, &message, &e);   the reader is empty again */
#ifndef LRA_PROBES_AUDIT_FRAME_H
#define LRA_PROBES_AUDIT_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/formats/safetensors.h"

enum { LRA_FRAME_HEAD = 16, LRA_FRAME_TENSORS = 64 };

/* Limits of a frame that is read: bytes of the payload, bytes of its safetensors header, arrays. */
typedef struct {
    uint64_t payload, header;
    int tensors;
} lra_frame_limits;
extern const lra_frame_limits lra_frame_default_limits; /* 4 GiB, 1 MiB, LRA_FRAME_TENSORS */

typedef struct {
    const char *op; /* in t.meta */
    int64_t id;
    lra_safetensors t; /* owns the payload, if lra_frame_message() made it */
    const char *payload;
    size_t n;
} lra_message;

typedef struct {
    lra_frame_limits limits;
    const char *sender; /* "model": in messages */
    unsigned char head[LRA_FRAME_HEAD];
    size_t n_head;
    char *payload; /* lra_try_alloc() */
    uint64_t n, got;
} lra_frame_reader;

/* limits: NULL for the default. */
void lra_frame_reader_init(lra_frame_reader *r, const char *sender, const lra_frame_limits *limits);
void lra_frame_reader_free(lra_frame_reader *r);
/* Where the next bytes of the frame belong, and at most how many; 0: the frame is complete. */
size_t lra_frame_room(lra_frame_reader *r, void **to);
/* n bytes were written there.  Fails as soon as they cannot be the beginning of a frame, with a
 * distinct message for text, version, flags and size; lra_frame_is_text() tells text apart. */
int lra_frame_took(lra_frame_reader *r, size_t n, bool *complete, lra_err *e);
/* True if no byte of a frame was received. */
bool lra_frame_reader_empty(const lra_frame_reader *r);
/* True if the bytes so far do not begin with the magic: most likely a print to stdout. */
bool lra_frame_is_text(const lra_frame_reader *r);
/* Fails with the message for text that was received instead of a frame: its first line. */
int lra_frame_fail_text(const char *sender, const char *bytes, size_t n, lra_err *e);
/* Takes the complete frame as a message, which lra_message_free() frees, after a failure too. */
int lra_frame_message(lra_frame_reader *r, lra_message *m, lra_err *e);

/* Parses n bytes of a payload that stay the caller's. */
int lra_message_parse(const void *payload, size_t n, const char *sender,
                      const lra_frame_limits *limits, lra_message *m, lra_err *e);
void lra_message_free(lra_message *m);
/* A text of the metadata; NULL: missing. */
const char *lra_message_text(const lra_message *m, const char *key);
/* An integer of the metadata; fails if it is missing or no integer of [least, most]. */
int lra_message_int(const lra_message *m, const char *key, int64_t least, int64_t most, int64_t *to,
                    lra_err *e);
/* The array of a name, of one dtype and shape (-1: any extent); fails otherwise with both. */
const lra_ndarray *lra_message_array(const lra_message *m, const char *name, lra_dtype dtype,
                                     int rank, const int64_t *dims, lra_err *e);

/* The array of a name, of that shape, as float32: out has as many elements. F16, BF16 and F64 are
 * converted; other types fail. */
int lra_message_floats(const lra_message *m, const char *name, int rank, const int64_t *dims,
                       float *out, lra_err *e);

/* The head of a frame with a payload of n bytes. */
void lra_frame_head(unsigned char head[LRA_FRAME_HEAD], uint64_t n);
/* A frame with metadata `op`, `id` and `meta` (Nullable; op and id are set by this function) and n
 * arrays, of which dtype, rank, dims and bytes are used.  The caller frees it with
 * lra_free_large(). */
char *lra_frame_write(const char *op, int64_t id, const lra_config *meta, int n,
                      const lra_safetensor *tensor, size_t *bytes, lra_err *e);

#endif
