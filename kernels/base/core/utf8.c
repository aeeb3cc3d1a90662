/* UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF. */
#include "kernels/base/core/utf8.h"

#include <stddef.h>

/* Number of bytes of the character at p; 0: invalid UTF-8. */
static size_t character(const unsigned char *p)
{
    size_t n = p[0] < 0x80   ? 1
               : p[0] < 0xC2 ? 0
               : p[0] < 0xE0 ? 2
               : p[0] < 0xF0 ? 3
               : p[0] < 0xF5 ? 4
                             : 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xC0) != 0x80) return 0; /* a terminating 0 fails here, too */
    if ((p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xED && p[1] > 0x9F)) return 0;
    if ((p[0] == 0xF0 && p[1] < 0x90) || (p[0] == 0xF4 && p[1] > 0x8F)) return 0;
    return n;
}

bool lra_utf8_valid(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    while (*p) {
        size_t n = character(p);
        if (n == 0) return false;
        p += n;
    }
    return true;
}

int lra_utf8_check(const char *text, lra_err *e)
{
    if (!text || lra_utf8_valid(text)) return 0;
    return lra_fail(e, "'%s' is not UTF-8, which JSON requires (rename it, or do without JSON)",
                    text);
}
