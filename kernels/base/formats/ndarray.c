/* Dense arrays: limits and conversion. */
#include "kernels/base/formats/ndarray.h"

#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/utf8.h"

static const struct {
    const char *name, *descr;
    size_t bytes;
} dtypes[LRA_N_DTYPES] = {
#define LRA_DTYPE(id, name, bytes, descr) {name, descr, bytes},
    LRA_DTYPES(LRA_DTYPE)
#undef LRA_DTYPE
};

const char *lra_dtype_name(lra_dtype t)
{
    return dtypes[t].name ? dtypes[t].name : dtypes[t].descr;
}

size_t lra_dtype_bytes(lra_dtype t)
{
    return dtypes[t].bytes;
}

int lra_ndarray_count(lra_ndarray *a, const char *name, lra_err *e)
{
    const int64_t most_dim = (int64_t)1 << 40, most = (int64_t)1 << 48;
    if (a->rank > LRA_MAX_DIMS)
        return lra_fail(e, "'%s' has rank %d, at most %d is accepted", name, a->rank, LRA_MAX_DIMS);
    bool empty = false;
    for (int i = 0; i < a->rank; i++) {
        if (a->dims[i] < 0 || a->dims[i] > most_dim)
            return lra_fail(e, "'%s': dimension %d is %lld, expected 0 to 2^40", name, i,
                            (long long)a->dims[i]);
        if (a->dims[i] == 0) empty = true;
    }
    a->n = empty ? 0 : 1;
    for (int i = 0; i < a->rank && !empty; i++) {
        if (a->n > most / a->dims[i]) return lra_fail(e, "'%s' has more than 2^48 elements", name);
        a->n *= a->dims[i];
    }
    return 0;
}

/* ---- elements -------------------------------------------------------------------------------- */

/* Iterator over the elements in row-major order: next_offset() returns the offset of the next
 * element. */
typedef struct {
    const lra_ndarray *a;
    int64_t at[LRA_MAX_DIMS], stride[LRA_MAX_DIMS], offset;
} walk;

static walk walk_from_start(const lra_ndarray *a)
{
    walk w = {.a = a};
    int64_t stride = 1;
    for (int k = 0; k < a->rank; k++) {
        int i = a->fortran ? k : a->rank - 1 - k;
        w.stride[i] = stride;
        stride *= a->dims[i];
    }
    return w;
}

static int64_t next_offset(walk *w)
{
    int64_t now = w->offset;
    for (int i = w->a->rank - 1; i >= 0; i--) {
        w->offset += w->stride[i];
        if (++w->at[i] < w->a->dims[i]) break;
        w->offset -= w->stride[i] * w->a->dims[i];
        w->at[i] = 0;
    }
    return now;
}

/* Offset of the i-th element in row-major order. */
static int64_t offset_of(const lra_ndarray *a, int64_t i)
{
    walk w = walk_from_start(a);
    int64_t offset = 0;
    for (int k = a->rank - 1; k >= 0; k--) {
        offset += i % a->dims[k] * w.stride[k];
        i /= a->dims[k];
    }
    return offset;
}

/* The bytes of an element as a number, first byte lowest. */
static uint64_t load(const lra_ndarray *a, int64_t offset)
{
    const unsigned char *p = (const unsigned char *)a->bytes + (size_t)offset * a->element;
    uint64_t bits = 0;
    for (size_t i = 0; i < a->element; i++)
        bits |= (uint64_t)p[i] << 8 * (a->swapped ? a->element - 1 - i : i);
    return bits;
}

static double half_value(uint64_t bits)
{
    uint32_t sign = (uint32_t)(bits >> 15) << 31, exponent = bits >> 10 & 31,
             mantissa = bits & 1023;
    double scaled = (double)mantissa / 1024;
    double value;
    uint32_t special = sign | 0x7F800000u | mantissa << 13;
    if (exponent == 31) {
        float f;
        memcpy(&f, &special, sizeof f);
        return (double)f;
    }
    value = exponent ? (1 + scaled) : scaled;
    for (uint32_t k = exponent ? exponent : 1; k < 15; k++) value /= 2;
    for (uint32_t k = 15; k < exponent; k++) value *= 2;
    return sign ? -value : value;
}

static double float_value(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return (double)f;
}

static double double_value(uint64_t bits)
{
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

static bool is_integer(lra_dtype t)
{
    return t == LRA_DTYPE_BOOL || t == LRA_DTYPE_U8 || t == LRA_DTYPE_I8 || t == LRA_DTYPE_U16 ||
           t == LRA_DTYPE_I16 || t == LRA_DTYPE_U32 || t == LRA_DTYPE_I32 || t == LRA_DTYPE_U64 ||
           t == LRA_DTYPE_I64;
}

static int64_t signed_value(lra_dtype t, uint64_t bits)
{
    switch (t) {
    case LRA_DTYPE_I8: return (int8_t)bits;
    case LRA_DTYPE_I16: return (int16_t)bits;
    case LRA_DTYPE_I32: return (int32_t)bits;
    default: return (int64_t)bits;
    }
}

static double real_value(lra_dtype t, uint64_t bits)
{
    switch (t) {
    case LRA_DTYPE_F16: return half_value(bits);
    case LRA_DTYPE_BF16: return float_value((uint32_t)bits << 16);
    case LRA_DTYPE_F32: return float_value((uint32_t)bits);
    case LRA_DTYPE_F64: return double_value(bits);
    case LRA_DTYPE_U64: return (double)bits;
    default: return (double)signed_value(t, bits);
    }
}

/* ---- complete arrays ------------------------------------------------------------------------- */

static int check_bools(const lra_ndarray *a, const char *name, lra_err *e)
{
    const unsigned char *p = a->bytes;
    for (int64_t i = 0; a->dtype == LRA_DTYPE_BOOL && i < a->n; i++)
        if (p[i] > 1)
            return lra_fail(e, "'%s': BOOL byte %lld is %d, expected 0 or 1", name, (long long)i,
                            p[i]);
    return 0;
}

static int check_real(const lra_ndarray *a, const char *name, lra_err *e)
{
    bool real = is_integer(a->dtype) || a->dtype == LRA_DTYPE_F16 || a->dtype == LRA_DTYPE_BF16 ||
                a->dtype == LRA_DTYPE_F32 || a->dtype == LRA_DTYPE_F64;
    if (!real)
        return lra_fail(e, "'%s' holds %s, expected real numbers of at least 16 bits or integers",
                        name, lra_dtype_name(a->dtype));
    return check_bools(a, name, e);
}

int lra_ndarray_get_f32(const lra_ndarray *a, const char *name, float *out, lra_err *e)
{
    if (check_real(a, name, e) != 0) return LRA_FAILED;
    walk w = walk_from_start(a);
    for (int64_t i = 0; i < a->n; i++) {
        uint64_t bits = load(a, next_offset(&w));
        uint32_t low = (uint32_t)bits;
        if (a->dtype == LRA_DTYPE_F32) /* copies the bits, so that the payload of a NaN is kept */
            memcpy(&out[i], &low, sizeof low);
        else
            out[i] = (float)real_value(a->dtype, bits);
    }
    return 0;
}

int lra_ndarray_get_f64(const lra_ndarray *a, const char *name, double *out, lra_err *e)
{
    if (check_real(a, name, e) != 0) return LRA_FAILED;
    walk w = walk_from_start(a);
    for (int64_t i = 0; i < a->n; i++) out[i] = real_value(a->dtype, load(a, next_offset(&w)));
    return 0;
}

int lra_ndarray_get_i64(const lra_ndarray *a, const char *name, int64_t *out, lra_err *e)
{
    if (!is_integer(a->dtype))
        return lra_fail(e, "'%s' holds %s, expected integers", name, lra_dtype_name(a->dtype));
    if (check_bools(a, name, e) != 0) return LRA_FAILED;
    walk w = walk_from_start(a);
    for (int64_t i = 0; i < a->n; i++) {
        uint64_t bits = load(a, next_offset(&w));
        if (a->dtype == LRA_DTYPE_U64 && bits > INT64_MAX)
            return lra_fail(e, "'%s': element %lld is %llu, at most 2^63 - 1 is accepted", name,
                            (long long)i, (unsigned long long)bits);
        out[i] = signed_value(a->dtype, bits);
    }
    return 0;
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* Appends a code point as UTF-8. Returns false if it is invalid. */
static bool add_utf8(lra_text *t, uint32_t c)
{
    unsigned char u[4];
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char first[] = {0, 0, 0xC0, 0xE0, 0xF0};
    if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000) || c == 0) return false;
    for (size_t i = n; i > 1; i--, c >>= 6) u[i - 1] = (unsigned char)(0x80 | (c & 0x3F));
    u[0] = (unsigned char)(first[n] | c);
    lra_text_bytes(t, u, n);
    return true;
}

char *lra_ndarray_text(const lra_ndarray *a, int64_t i, const char *name, lra_err *e)
{
    size_t unit = a->dtype == LRA_DTYPE_TEXT ? 4 : 1, width = a->element / unit;
    if (a->dtype != LRA_DTYPE_TEXT && a->dtype != LRA_DTYPE_BYTES) {
        lra_fail(e, "'%s' holds %s, expected text", name, lra_dtype_name(a->dtype));
        return NULL;
    }
    lra_ndarray units = {.element = unit, .swapped = a->swapped};
    units.bytes = (const char *)a->bytes + (size_t)offset_of(a, i) * a->element;
    while (width > 0 && load(&units, (int64_t)width - 1) == 0) width--;
    lra_text t = {0};
    lra_text_bytes(&t, "", 0);
    bool ok = true;
    if (unit == 1) { /* texts of type S: the bytes must be UTF-8 */
        lra_text_bytes(&t, units.bytes, width);
        ok = strlen(t.s) == width && lra_utf8_valid(t.s);
    }
    for (size_t k = 0; k < width && ok && unit == 4; k++)
        ok = add_utf8(&t, (uint32_t)load(&units, (int64_t)k));
    if (ok) return t.s ? t.s : lra_copy_text("");
    lra_text_free(&t);
    lra_fail(e, "'%s': element %lld is not valid text", name, (long long)i);
    return NULL;
}
