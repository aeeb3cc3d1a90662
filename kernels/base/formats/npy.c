/* Reads npy files. */
#include "kernels/base/formats/npy.h"

#include <inttypes.h>
#include <string.h>

#include "kernels/base/core/mem.h"

enum { MAX_HEADER = 10000 }; /* maximum length of a header in bytes, as in numpy's reader */
static const char magic[] = "\x93NUMPY";

/* ---- the header: a small Python literal ------------------------------------------------------ */

typedef struct {
    const char *at, *end, *name;
    lra_err *e;
} scanner;

static void skip_blanks(scanner *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\n' || *s->at == '\r'))
        s->at++;
}

static int expected(scanner *s, const char *what)
{
    skip_blanks(s);
    if (s->at >= s->end)
        return lra_fail(s->e, "'%s': the npy header ends where %s is expected", s->name, what);
    int c = (unsigned char)*s->at;
    return lra_fail(s->e,
                    c >= ' ' && c < 127 ? "'%s': npy header: found '%c', expected %s"
                                        : "'%s': npy header: found byte %d, expected %s",
                    s->name, c, what);
}

/* Skips blanks and, if the next character is c, also this character. Returns true if it was c. */
static bool take(scanner *s, char c)
{
    skip_blanks(s);
    if (s->at >= s->end || *s->at != c) return false;
    s->at++;
    return true;
}

static bool take_word(scanner *s, const char *word)
{
    size_t n = strlen(word);
    skip_blanks(s);
    if ((size_t)(s->end - s->at) < n || memcmp(s->at, word, n) != 0) return false;
    s->at += n;
    return true;
}

/* Reads a quoted text of less than `size` bytes without escapes. Sets quote to its quotation
 * mark. */
static int read_quoted(scanner *s, char *to, size_t size, char *quote, const char *what)
{
    skip_blanks(s);
    if (s->at >= s->end || (*s->at != '\'' && *s->at != '"')) return expected(s, what);
    *quote = *s->at++;
    size_t n = 0;
    while (s->at < s->end && *s->at != *quote && n + 1 < size) to[n++] = *s->at++;
    to[n] = 0;
    if (!take(s, *quote)) return lra_fail(s->e, "'%s': npy header: text without an end", s->name);
    return 0;
}

static int read_dimension(scanner *s, lra_ndarray *a)
{
    int64_t value = 0;
    skip_blanks(s);
    if (s->at >= s->end || *s->at < '0' || *s->at > '9') return expected(s, "a dimension");
    if (a->rank == LRA_MAX_DIMS)
        return lra_fail(s->e, "'%s' has a rank above %d", s->name, LRA_MAX_DIMS);
    for (; s->at < s->end && *s->at >= '0' && *s->at <= '9'; s->at++) {
        value = 10 * value + (*s->at - '0');
        if (value > (int64_t)1 << 40)
            return lra_fail(s->e, "'%s': dimension %d is above 2^40", s->name, a->rank);
    }
    if (s->at < s->end && *s->at == 'L') s->at++; /* Python 2 wrote integers as 12L */
    a->dims[a->rank++] = value;
    return 0;
}

/* Reads a shape: () (n,) (n, m) (n, m,) */
static int read_shape(scanner *s, lra_ndarray *a)
{
    if (!take(s, '(')) return expected(s, "a tuple");
    bool comma = true;
    while (!take(s, ')')) {
        if (!comma) return expected(s, "',' or ')'");
        if (read_dimension(s, a) != 0) return LRA_FAILED;
        comma = take(s, ',');
    }
    if (a->rank == 1 && !comma)
        return lra_fail(s->e, "'%s': npy header: the shape is not a tuple", s->name);
    return 0;
}

/* ---- the element type ------------------------------------------------------------------------ */

static int refuse_type(const char *name, const char *descr, lra_err *e)
{
    const char *why =
        descr[0] == '=' ? "its byte order is not defined in a file"
        : strchr(descr, 'O')
            ? "pickled objects are never read; save numbers of one type, rows of different length "
              "padded, with their lengths"
        : strcmp(descr, "|V2") == 0 || strcmp(descr, "<V2") == 0
            ? "it looks like bfloat16 saved through numpy: use safetensors or cast to "
              "float32"
            : "expected one of f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1 c8 c16";
    return lra_fail(e, "'%s' has element type '%.20s': %s", name, descr, why);
}

/* The width of a text type such as "<U12": 1 to 2^20; 0: invalid. */
static size_t text_width(const char *digits)
{
    size_t width = 0;
    if (*digits < '1' || *digits > '9') return 0;
    for (; *digits >= '0' && *digits <= '9' && width <= 1 << 20; digits++)
        width = 10 * width + (size_t)(*digits - '0');
    return *digits || width > 1 << 20 ? 0 : width;
}

static int read_type(const char *name, const char *descr, bool texts, lra_ndarray *a, lra_err *e)
{
    static const char *const known[LRA_N_DTYPES] = {
#define LRA_DTYPE(id, label, bytes, npy) npy,
        LRA_DTYPES(LRA_DTYPE)
#undef LRA_DTYPE
    };
    char order = descr[0];
    if (order != '<' && order != '>' && order != '|') return refuse_type(name, descr, e);
    a->swapped = order == '>';
    for (int t = 0; t < LRA_DTYPE_TEXT; t++) {
        if (!known[t] || strcmp(known[t], descr + 1) != 0) continue;
        a->dtype = (lra_dtype)t, a->element = lra_dtype_bytes(a->dtype);
        if (order == '|' && a->element > 1) return refuse_type(name, descr, e);
        return 0;
    }
    size_t width = texts ? text_width(descr[1] ? descr + 2 : "") : 0;
    if (width == 0 || (descr[1] != 'U' && descr[1] != 'S')) return refuse_type(name, descr, e);
    a->dtype = descr[1] == 'U' ? LRA_DTYPE_TEXT : LRA_DTYPE_BYTES;
    a->element = descr[1] == 'U' ? 4 * width : width;
    return 0;
}

/* ---- parse ----------------------------------------------------------------------------------- */

/* Reads one key with its value. seen: bit mask of the keys already read. */
static int read_pair(scanner *s, bool texts, lra_ndarray *a, unsigned *seen, char *quote)
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    char key[16], value[32], used = 0, inner = 0;
    if (read_quoted(s, key, sizeof key, &used, "a key") != 0) return LRA_FAILED;
    if (*quote && used != *quote)
        return lra_fail(s->e, "'%s': npy header: keys in different quotes", s->name);
    *quote = used;
    int k = 0;
    while (k < 3 && strcmp(keys[k], key) != 0) k++;
    if (k == 3 || *seen >> k & 1)
        return lra_fail(s->e, "'%s': npy header: key '%s' is %s", s->name, key,
                        k == 3 ? "unknown" : "given twice");
    *seen |= 1u << k;
    if (!take(s, ':')) return expected(s, "':'");
    if (k == 2) return read_shape(s, a);
    if (k == 1) {
        a->fortran = take_word(s, "True");
        return a->fortran || take_word(s, "False") ? 0 : expected(s, "True or False");
    }
    skip_blanks(s);
    if (s->at < s->end && *s->at == '[')
        return lra_fail(s->e, "'%s' has a structured element type; save one array per field",
                        s->name);
    if (read_quoted(s, value, sizeof value, &inner, "an element type") != 0) return LRA_FAILED;
    return read_type(s->name, value, texts, a, s->e);
}

static int read_dict(scanner *s, bool texts, lra_ndarray *a)
{
    unsigned seen = 0;
    char quote = 0;
    bool comma = true;
    if (!take(s, '{')) return expected(s, "'{'");
    while (!take(s, '}')) {
        if (!comma) return expected(s, "',' or '}'");
        if (read_pair(s, texts, a, &seen, &quote) != 0) return LRA_FAILED;
        comma = take(s, ',');
    }
    if (seen != 7)
        return lra_fail(s->e, "'%s': npy header: 'descr', 'fortran_order' and 'shape' are expected",
                        s->name);
    while (s->at < s->end && *s->at == ' ') s->at++;
    if (s->at + 1 != s->end || *s->at != '\n')
        return lra_fail(s->e, "'%s': npy header: expected blanks and one line end after '}'",
                        s->name);
    return 0;
}

/* Finds the range [from, to) of the header. */
static int find_header(const unsigned char *p, size_t n, const char *name, size_t *from, size_t *to,
                       lra_err *e)
{
    if (n < 10 || memcmp(p, magic, 6) != 0)
        return lra_fail(e, "'%s' is not an npy file (it does not start with '\\x93NUMPY')", name);
    if (p[6] < 1 || p[6] > 3 || p[7] != 0)
        return lra_fail(e, "'%s' is npy version %d.%d, expected 1.0, 2.0 or 3.0", name, p[6], p[7]);
    size_t length = p[8] | (size_t)p[9] << 8;
    *from = p[6] == 1 ? 10 : 12;
    if (n < *from) return lra_fail(e, "'%s' ends inside the npy header", name);
    if (p[6] > 1) length |= (size_t)p[10] << 16 | (size_t)p[11] << 24;
    if (length > MAX_HEADER)
        return lra_fail(e, "'%s': the npy header has %zu bytes, at most %d are accepted", name,
                        length, MAX_HEADER);
    if (length > n - *from) return lra_fail(e, "'%s' ends inside the npy header", name);
    *to = *from + length;
    return 0;
}

int lra_npy_parse_header(const void *bytes, size_t there, uint64_t n, const char *name, bool texts,
                         lra_ndarray *a, size_t *data, lra_err *e)
{
    const char *p = bytes;
    size_t from = 0, to = 0;
    *a = (lra_ndarray){0};
    if (find_header(bytes, there, name, &from, &to, e) != 0) return LRA_FAILED;
    scanner s = {p + from, p + to, name, e};
    if (read_dict(&s, texts, a) != 0 || lra_ndarray_count(a, name, e) != 0) return LRA_FAILED;
    uint64_t held = n - to, most = UINT64_MAX / a->element;
    uint64_t wanted = (uint64_t)a->n <= most ? (uint64_t)a->n * a->element : UINT64_MAX;
    if (wanted != held)
        return lra_fail(e, "'%s' holds %" PRIu64 " bytes of data, its header says %" PRIu64, name,
                        held, wanted);
    if (a->rank < 2) a->fortran = false;
    *data = to;
    return 0;
}

int lra_npy_parse(const void *bytes, size_t n, const char *name, bool texts, lra_ndarray *a,
                  lra_err *e)
{
    size_t data;
    if (lra_npy_parse_header(bytes, n, n, name, texts, a, &data, e) != 0) return LRA_FAILED;
    a->bytes = (const char *)bytes + data;
    return 0;
}
