/* Frames of LRAX/1, the protocol between lra-probe and an external model:
 *   0   4   magic    "LRAX"
 *   4   2   version  1, little-endian
 *   6   2   flags    0
 *   8   8   n        payload bytes, little-endian
 *   16  n   payload  a safetensors image (kernels/base/formats/safetensors.h)
 * The metadata of the payload contain `op`, a decimal `id`, and the arguments of the op. lra-probe
 * sends the requests hello, forward, logprob, features, vjp, attn, kernels, reset, restore and bye.
 * The model answers each of them except bye by a frame with the same id and the op result or error,
 * or ready as the answer to hello.
 * 
 * A reader receives the bytes of a frame in portions of any size:
 *   while (!complete) {
 *       room = lra_frame_room(&r, &to);  n = read(fd, to, room);
 *       lra_frame_took(&r, n, &complete, &e);
 *   }
 *   lra_frame_message(&r, &message, &e);   afterwards the reader is empty */
#ifndef LRA_PROBES_AUDIT_FRAME_H
#define LRA_PROBES_AUDIT_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/formats/safetensors.h"

enum { LRA_FRAME_HEAD = 16, LRA_FRAME_TENSORS = 64 };

/* Limits of a received frame: bytes of the payload, bytes of its safetensors header, number of
 * arrays. */
typedef struct {
    uint64_t payload, header;
    int tensors;
} lra_frame_limits;
/* a payload of 4 GiB, a header of 1 MiB, and LRA_FRAME_TENSORS arrays */
extern const lra_frame_limits lra_frame_default_limits;

typedef struct {
    const char *op; /* points into t.meta */
    int64_t id;
    lra_safetensors t; /* owns the payload if lra_frame_message() created the message */
    const char *payload;
    size_t n;
} lra_message;

typedef struct {
    lra_frame_limits limits;
    const char *sender; /* name of the sender in messages, "model" */
    unsigned char head[LRA_FRAME_HEAD];
    size_t n_head;
    char *payload; /* allocated by lra_try_alloc() */
    uint64_t n, got;
} lra_frame_reader;

/* Initialises a reader. Nullable: limits (the default limits). */
void lra_frame_reader_init(lra_frame_reader *r, const char *sender, const lra_frame_limits *limits);
void lra_frame_reader_free(lra_frame_reader *r);
/* Returns the maximum number of bytes to be read next, and the address for them; 0: the frame is
 * complete. */
size_t lra_frame_room(lra_frame_reader *r, void **to);
/* Records that n bytes were read to that address. Fails as soon as the bytes cannot be the start of
 * a frame; the message names the cause: text, version, flags or size. */
int lra_frame_took(lra_frame_reader *r, size_t n, bool *complete, lra_err *e);
/* True if the reader has received no byte of the next frame. */
bool lra_frame_reader_empty(const lra_frame_reader *r);
/* True if the received bytes do not begin with the magic, most likely because the program prints to
 * stdout. */
bool lra_frame_is_text(const lra_frame_reader *r);
/* Fails with a message that shows the first line of a text received instead of a frame. */
int lra_frame_fail_text(const char *sender, const char *bytes, size_t n, lra_err *e);
/* Converts the complete frame to a message, which the caller frees with lra_message_free(), also
 * after a failure. */
int lra_frame_message(lra_frame_reader *r, lra_message *m, lra_err *e);

/* Parses a payload of n bytes, which must stay valid and is not freed by lra_message_free(). */
int lra_message_parse(const void *payload, size_t n, const char *sender,
                      const lra_frame_limits *limits, lra_message *m, lra_err *e);
void lra_message_free(lra_message *m);
/* Returns a value of the metadata as text; NULL: the key is missing. */
const char *lra_message_text(const lra_message *m, const char *key);
/* Reads an integer of the metadata; fails if the key is missing or if its value is not an integer
 * in [least, most]. */
int lra_message_int(const lra_message *m, const char *key, int64_t least, int64_t most, int64_t *to,
                    lra_err *e);
/* Returns the array with this name. Fails if it is missing or has another dtype or shape (-1: any
 * extent); the message shows both. */
const lra_ndarray *lra_message_array(const lra_message *m, const char *name, lra_dtype dtype,
                                     int rank, const int64_t *dims, lra_err *e);

/* Reads the array with this name and shape as float32: out (elements of dims). F16, BF16 and F64
 * are converted; other types are errors. */
int lra_message_floats(const lra_message *m, const char *name, int rank, const int64_t *dims,
                       float *out, lra_err *e);

/* Writes the head of a frame with a payload of n bytes. */
void lra_frame_head(unsigned char head[LRA_FRAME_HEAD], uint64_t n);
/* Returns a frame with n arrays (their dtype, rank, dims and bytes are used) and the metadata
 * `meta`, to which op and id are added. *bytes: size of the frame. The caller frees it with
 * lra_free_large(). Nullable: meta */
char *lra_frame_write(const char *op, int64_t id, const lra_config *meta, int n,
                      const lra_safetensor *tensor, size_t *bytes, lra_err *e);

#endif
