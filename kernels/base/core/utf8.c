/* UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF. */
#include "kernels/base/core/utf8.h"

#include <string.h>

size_t lra_utf8_character(const unsigned char *p, size_t n)
{
    size_t size = p[0] < 0x80   ? 1
                  : p[0] < 0xC2 ? 0
                  : p[0] < 0xE0 ? 2
                  : p[0] < 0xF0 ? 3
                  : p[0] < 0xF5 ? 4
                                : 0;
    if (size > n) return 0;
    for (size_t i = 1; i < size; i++)
        if ((p[i] & 0xC0) != 0x80) return 0;
    if ((p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xED && p[1] > 0x9F)) return 0;
    if ((p[0] == 0xF0 && p[1] < 0x90) || (p[0] == 0xF4 && p[1] > 0x8F)) return 0;
    return size;
}

bool lra_utf8_valid(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    for (size_t left = strlen(text), n; left > 0; left -= n, p += n) {
        n = lra_utf8_character(p, left);
        if (n == 0) return false;
    }
    return true;
}

int lra_utf8_check(const char *text, lra_err *e)
{
    if (!text || lra_utf8_valid(text)) return 0;
    return lra_fail(e, "'%s' is not UTF-8, which JSON requires (rename it, or do without JSON)",
                    text);
}
