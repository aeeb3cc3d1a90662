/* Shared code of the readers of columns. */
#include "datasets/formats/column_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/printable.h"
#include "kernels/base/core/utf8.h"

/* ---- messages -------------------------------------------------------------------------------- */

lra_quote lra_quote_bytes(const char *bytes, size_t n)
{
    lra_quote q;
    bool cut = n >= sizeof q.text;
    if (cut) n = sizeof q.text - 4;
    /* avoids a cut inside a UTF-8 character */
    while (cut && n > 0 && ((unsigned char)bytes[n] & 0xC0) == 0x80) n--;
    memcpy(q.text, bytes, n);
    for (size_t i = 0; i < n; i++)
        if (q.text[i] == 0) q.text[i] = '?';
    snprintf(q.text + n, sizeof q.text - n, "%s", cut ? "..." : "");
    lra_make_printable(q.text);
    return q;
}

lra_quote lra_quote_text(const char *text)
{
    return lra_quote_bytes(text, strlen(text));
}

int64_t lra_line_of(const char *bytes, size_t at, size_t *byte)
{
    int64_t line = 1;
    size_t from = 0;
    for (size_t i = 0; i < at; i++) {
        bool end = bytes[i] == '\n' || (bytes[i] == '\r' && bytes[i + 1] != '\n');
        if (!end) continue;
        line++;
        from = i + 1;
    }
    if (byte) *byte = at - from + 1;
    return line;
}

/* ---- UTF-8 ----------------------------------------------------------------------------------- */

int lra_check_utf8_lines(const char *bytes, size_t n, const char *name, lra_err *e)
{
    const unsigned char *p = (const unsigned char *)bytes;
    const uint64_t high = 0x8080808080808080u;
    size_t at = 0;
    while (at < n) {
        uint64_t eight;
        if (n - at >= sizeof eight) {
            memcpy(&eight, p + at, sizeof eight);
            if ((eight & high) == 0) {
                at += sizeof eight;
                continue;
            }
        }
        size_t size = lra_utf8_character(p + at, n - at);
        if (size == 0) break;
        at += size;
    }
    if (at == n) return 0;
    size_t byte;
    int64_t line = lra_line_of(bytes, at, &byte);
    return lra_fail(e,
                    "'%s', line %lld, byte %zu: 0x%02X is not UTF-8; convert the file, for example "
                    "by 'iconv -f WINDOWS-1252 -t UTF-8'",
                    name, (long long)line, byte, p[at]);
}

/* ---- numbers --------------------------------------------------------------------------------- */

enum { LONGEST_NUMBER = 256 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Returns true if p[0..n-1] is the word, ignoring case; word: in lower case. */
static bool is_word(const char *p, size_t n, const char *word)
{
    if (strlen(word) != n) return false;
    for (size_t i = 0; i < n; i++)
        if ((p[i] | 0x20) != word[i]) return false;
    return true;
}

static bool read_special(const char *p, size_t n, bool negative, double *to)
{
    if (is_word(p, n, "nan"))
        *to = (double)NAN;
    else if (is_word(p, n, "inf") || is_word(p, n, "infinity"))
        *to = negative ? -(double)INFINITY : (double)INFINITY;
    else
        return false;
    return true;
}

/* Reads digits with at most one '.'; returns the number of bytes read. *value: the digits as an
 * integer, without the point; *digits: number of digits without leading zeros; *decimals: number of
 * digits after the point. */
static size_t read_digits(const char *p, size_t n, uint64_t *value, int *digits, int *decimals)
{
    size_t i = 0;
    bool point = false, any = false;
    for (; i < n; i++) {
        if (p[i] == '.' && !point) {
            point = true;
            continue;
        }
        if (!is_digit(p[i])) break;
        any = true;
        if (*value || p[i] != '0') ++*digits;
        if (*digits < 19) *value = 10 * *value + (uint64_t)(p[i] - '0');
        *decimals += point;
    }
    return any ? i : 0;
}

/* Reads an exponent such as "e-3", which must end at p + n; returns false if it is invalid. */
static bool read_exponent(const char *p, size_t n, int *exponent)
{
    size_t i = 1;
    bool negative = n > 1 && p[1] == '-';
    if (n > 1 && (p[1] == '-' || p[1] == '+')) i++;
    if (i >= n) return false;
    int value = 0;
    for (; i < n; i++) {
        if (!is_digit(p[i])) return false;
        if (value < 100000) value = 10 * value + (p[i] - '0');
    }
    *exponent = negative ? -value : value;
    return true;
}

bool lra_read_number(const char *p, size_t n, double *to)
{
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    while (n > 0 && (*p == ' ' || *p == '\t')) p++, n--;
    while (n > 0 && (p[n - 1] == ' ' || p[n - 1] == '\t')) n--;
    if (n == 0 || n >= LONGEST_NUMBER) return false;
    const char *whole = p;
    size_t n_whole = n;
    bool negative = *p == '-';
    if (*p == '-' || *p == '+') p++, n--;
    if (n == 0) return false;
    if (!is_digit(*p) && *p != '.') return read_special(p, n, negative, to);
    uint64_t value = 0;
    int digits = 0, decimals = 0, exponent = 0;
    size_t used = read_digits(p, n, &value, &digits, &decimals);
    if (used == 0) return false;
    if (used < n && ((p[used] | 0x20) != 'e' || !read_exponent(p + used, n - used, &exponent)))
        return false;
    exponent -= decimals;
    /* digits and power are exact doubles, so that there is a single rounding */
    if (digits <= 15 && exponent >= -22 && exponent <= 22) {
        double v = exponent < 0 ? (double)value / power[-exponent]
                                : (double)value * power[exponent];
        *to = negative ? -v : v;
        return true;
    }
    char copy[LONGEST_NUMBER];
    memcpy(copy, whole, n_whole);
    copy[n_whole] = 0;
    *to = strtod(copy, NULL);
    return true;
}

/* ---- memory ---------------------------------------------------------------------------------- */

void *lra_grow(void *p, int64_t *capacity, int64_t used, int64_t need, size_t size,
               const char *name, lra_err *e)
{
    enum { FIRST = 256 };
    if (need <= *capacity && p) return p;
    if (need > INT64_MAX / 4 / (int64_t)size) {
        lra_fail(e, "'%s' has too many elements", name);
        return NULL;
    }
    int64_t next = *capacity < FIRST ? FIRST : 2 * *capacity;
    if (next < need) next = need;
    void *q = lra_try_alloc((size_t)next * size, name, e);
    if (!q) return NULL;
    if (used) memcpy(q, p, (size_t)used * size);
    lra_free_large(p);
    *capacity = next;
    return q;
}
