/* Reads and writes frames of LRAX/1. */
#include "probes/audit/frame.h"

#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/printable.h"
#include "kernels/base/cli/options.h"

enum { VERSION = 1, MOST_SHOWN = 120 };
static const unsigned char magic[4] = {'L', 'R', 'A', 'X'};

const lra_frame_limits lra_frame_default_limits = {(uint64_t)4 << 30, 1 << 20, LRA_FRAME_TENSORS};

/* ---- reading --------------------------------------------------------------------------------- */

void lra_frame_reader_init(lra_frame_reader *r, const char *sender, const lra_frame_limits *limits)
{
    *r = (lra_frame_reader){.limits = limits ? *limits : lra_frame_default_limits,
                            .sender = sender};
}

void lra_frame_reader_free(lra_frame_reader *r)
{
    lra_free_large(r->payload);
    r->payload = NULL;
    r->n_head = 0, r->n = r->got = 0;
}

bool lra_frame_reader_empty(const lra_frame_reader *r)
{
    return r->n_head == 0;
}

bool lra_frame_is_text(const lra_frame_reader *r)
{
    size_t n = r->n_head < sizeof magic ? r->n_head : sizeof magic;
    return memcmp(r->head, magic, n) != 0;
}

size_t lra_frame_room(lra_frame_reader *r, void **to)
{
    if (r->n_head < LRA_FRAME_HEAD) {
        *to = r->head + r->n_head;
        return LRA_FRAME_HEAD - r->n_head;
    }
    *to = r->payload + r->got;
    return (size_t)(r->n - r->got);
}

int lra_frame_fail_text(const char *sender, const char *bytes, size_t n, lra_err *e)
{
    char shown[MOST_SHOWN + 1];
    size_t from = 0, length = 0;
    while (from < n && (bytes[from] == '\n' || bytes[from] == '\r')) from++;
    while (from + length < n && length < MOST_SHOWN && bytes[from + length] &&
           bytes[from + length] != '\n' && bytes[from + length] != '\r')
        length++;
    memcpy(shown, bytes + from, length);
    while (length == MOST_SHOWN && ((unsigned char)shown[length - 1] & 0xC0) == 0x80) length--;
    shown[length] = 0;
    return lra_fail(e, "%s wrote text to stdout: '%s'; stdout is for answers only, print to stderr",
                    sender, lra_make_printable(shown));
}

static uint64_t number(const unsigned char *p, int bytes)
{
    uint64_t x = 0;
    for (int i = bytes - 1; i >= 0; i--) x = x << 8 | p[i];
    return x;
}

/* Checks the head, which is complete, and allocates memory for the payload. */
static int start_payload(lra_frame_reader *r, lra_err *e)
{
    char is[32], most[32];
    uint64_t version = number(r->head + 4, 2), flags = number(r->head + 6, 2);
    r->n = number(r->head + 8, 8);
    if (version != VERSION)
        return lra_fail(e, "%s sent a frame of LRAX version %llu, expected %d", r->sender,
                        (unsigned long long)version, VERSION);
    if (flags != 0)
        return lra_fail(e, "%s sent a frame with flags %llu, expected 0", r->sender,
                        (unsigned long long)flags);
    if (r->n > r->limits.payload)
        return lra_fail(e, "%s sent a frame of %s, at most %s are accepted (--max-frame)",
                        r->sender, lra_size_text(is, (double)r->n),
                        lra_size_text(most, (double)r->limits.payload));
    if (r->n < 8)
        return lra_fail(e, "%s sent a frame of %d bytes, a message has at least 8", r->sender,
                        (int)r->n);
    r->payload = lra_try_alloc((size_t)r->n, "a frame", e);
    return r->payload ? 0 : LRA_FAILED;
}

int lra_frame_took(lra_frame_reader *r, size_t n, bool *complete, lra_err *e)
{
    *complete = false;
    if (r->n_head < LRA_FRAME_HEAD) {
        r->n_head += n;
        if (lra_frame_is_text(r))
            return lra_frame_fail_text(r->sender, (const char *)r->head, r->n_head, e);
        if (r->n_head == LRA_FRAME_HEAD && start_payload(r, e) != 0) return LRA_FAILED;
        return 0;
    }
    bool had_length = r->got >= 8;
    r->got += n;
    if (!had_length && r->got >= 8) {
        uint64_t header = number((const unsigned char *)r->payload, 8);
        if (header > r->limits.header)
            return lra_fail(e,
                            "%s sent a message with a header of %llu bytes, at most %llu are "
                            "accepted (--max-frame)",
                            r->sender, (unsigned long long)header,
                            (unsigned long long)r->limits.header);
    }
    *complete = r->got == r->n;
    return 0;
}

/* ---- messages -------------------------------------------------------------------------------- */

/* Parses an id: decimal digits without leading zeros. */
static bool read_id(const char *text, int64_t *id)
{
    if (!text || text[0] < '0' || text[0] > '9' || (text[0] == '0' && text[1])) return false;
    return lra_parse_int(text, id);
}

int lra_message_parse(const void *payload, size_t n, const char *sender,
                      const lra_frame_limits *limits, lra_message *m, lra_err *e)
{
    const lra_frame_limits *most = limits ? limits : &lra_frame_default_limits;
    *m = (lra_message){.id = -1, .payload = payload, .n = n};
    if (n >= 8 && number(payload, 8) > most->header)
        return lra_fail(
            e, "%s sent a message with a header of %llu bytes, at most %llu are accepted", sender,
            (unsigned long long)number(payload, 8), (unsigned long long)most->header);
    if (lra_safetensors_parse(payload, n, "message", &m->t, e) != 0)
        return lra_fail_in(e, "%s sent no valid message", sender);
    if (m->t.n > most->tensors)
        return lra_fail(e, "%s sent a message with %d arrays, at most %d are accepted", sender,
                        m->t.n, most->tensors);
    m->op = lra_message_text(m, "op");
    if (!m->op) return lra_fail(e, "%s sent a message without 'op' in its metadata", sender);
    const char *id = lra_message_text(m, "id");
    if (!id) return lra_fail(e, "%s sent '%.40s' without 'id' in its metadata", sender, m->op);
    if (!read_id(id, &m->id))
        return lra_fail(e, "%s sent '%.40s' with id '%.40s', expected a decimal number", sender,
                        m->op, id);
    return 0;
}

int lra_frame_message(lra_frame_reader *r, lra_message *m, lra_err *e)
{
    int rc = lra_message_parse(r->payload, (size_t)r->n, r->sender, &r->limits, m, e);
    m->t.image = r->payload;
    r->payload = NULL;
    lra_frame_reader_free(r);
    return rc;
}

void lra_message_free(lra_message *m)
{
    lra_safetensors_free(&m->t);
    *m = (lra_message){.id = -1};
}

const char *lra_message_text(const lra_message *m, const char *key)
{
    return lra_config_text_or(m->t.meta, key, NULL);
}

int lra_message_int(const lra_message *m, const char *key, int64_t least, int64_t most, int64_t *to,
                    lra_err *e)
{
    const char *text = lra_message_text(m, key);
    if (!text) return lra_fail(e, "'%.40s' has no '%s' in its metadata", m->op, key);
    if (!lra_parse_int(text, to) || *to < least || *to > most)
        return lra_fail(e, "'%.40s': '%s' is '%.40s', expected an integer from %lld to %lld", m->op,
                        key, text, (long long)least, (long long)most);
    return 0;
}

/* Shape as text, "(2,*,3)", where * is any extent. */
static char *shape_text(int rank, const int64_t *dims)
{
    lra_text t = {0};
    lra_text_add(&t, "(");
    for (int i = 0; i < rank; i++) {
        if (i) lra_text_add(&t, ",");
        if (dims[i] < 0)
            lra_text_add(&t, "*");
        else
            lra_text_add(&t, "%lld", (long long)dims[i]);
    }
    lra_text_add(&t, ")");
    return t.s;
}

static const lra_ndarray *find_shaped(const lra_message *m, const char *name, const char *dtype,
                                      int rank, const int64_t *dims, lra_err *e)
{
    const lra_ndarray *a = lra_safetensors_find(&m->t, name);
    if (!a) {
        lra_fail(e, "'%.40s' has no array '%s'", m->op, name);
        return NULL;
    }
    bool fits = a->rank == rank;
    for (int i = 0; i < rank && fits; i++) fits = dims[i] < 0 || a->dims[i] == dims[i];
    if (fits) return a;
    char *is = shape_text(a->rank, a->dims), *expected = shape_text(rank, dims);
    lra_fail(e, "'%s' is %s %s, expected %s %s", name, lra_dtype_name(a->dtype), is, dtype,
             expected);
    lra_free(is);
    lra_free(expected);
    return NULL;
}

const lra_ndarray *lra_message_array(const lra_message *m, const char *name, lra_dtype dtype,
                                     int rank, const int64_t *dims, lra_err *e)
{
    const lra_ndarray *a = find_shaped(m, name, lra_dtype_name(dtype), rank, dims, e);
    if (!a || a->dtype == dtype) return a;
    lra_fail(e, "'%s' is %s, expected %s", name, lra_dtype_name(a->dtype), lra_dtype_name(dtype));
    return NULL;
}

int lra_message_floats(const lra_message *m, const char *name, int rank, const int64_t *dims,
                       float *out, lra_err *e)
{
    const lra_ndarray *a = find_shaped(m, name, "F32", rank, dims, e);
    if (!a) return LRA_FAILED;
    if (a->dtype != LRA_DTYPE_F32 && a->dtype != LRA_DTYPE_F64 && a->dtype != LRA_DTYPE_F16 &&
        a->dtype != LRA_DTYPE_BF16)
        return lra_fail(e, "'%s' is %s, expected F32, F64, F16 or BF16", name,
                        lra_dtype_name(a->dtype));
    return lra_ndarray_get_f32(a, name, out, e);
}

/* ---- writing --------------------------------------------------------------------------------- */

void lra_frame_head(unsigned char head[LRA_FRAME_HEAD], uint64_t n)
{
    memset(head, 0, LRA_FRAME_HEAD);
    memcpy(head, magic, sizeof magic);
    head[4] = VERSION;
    for (int i = 0; i < 8; i++) head[8 + i] = (unsigned char)(n >> 8 * i);
}

char *lra_frame_write(const char *op, int64_t id, const lra_config *meta, int n,
                      const lra_safetensor *tensor, size_t *bytes, lra_err *e)
{
    lra_config *all = meta ? lra_config_copy(meta) : lra_config_new();
    lra_config_set(all, "op", op);
    lra_config_set_int(all, "id", id);
    char *frame = lra_safetensors_image("message", n, tensor, all, LRA_FRAME_HEAD, bytes, e);
    lra_config_free(all);
    if (!frame) return NULL;
    lra_frame_head((unsigned char *)frame, *bytes - LRA_FRAME_HEAD);
    return frame;
}
