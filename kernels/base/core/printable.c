/* Printable texts: UTF-8 (RFC 3629) without control characters, and without characters that change
 * the direction of a text or end its line (Unicode UAX 9). With the latter, one name could be
 * displayed as another. */
#include "kernels/base/core/printable.h"

#include <stddef.h>

/* True for characters that change the direction of a text or end its line: U+061C, U+200E, U+200F,
 * U+2028 to U+202E, U+2066 to U+2069. */
static bool turns(const unsigned char *s)
{
    if (s[0] == 0xD8) return s[1] == 0x9C;
    if (s[0] != 0xE2) return false;
    if (s[1] == 0x80) return (s[2] >= 0x8E && s[2] <= 0x8F) || (s[2] >= 0xA8 && s[2] <= 0xAE);
    return s[1] == 0x81 && s[2] >= 0xA6 && s[2] <= 0xA9;
}

/* Number of bytes of the printable character at s; 0: there is none. */
static size_t character(const unsigned char *s)
{
    /* Valid characters: range of the first byte, range of the second byte (shortest form, no
     * surrogates, no C1), length in bytes. */
    static const struct {
        unsigned char first, last, lo, hi;
        size_t n;
    } form[] = {
        {0xC2, 0xC2, 0xA0, 0xBF, 2}, {0xC3, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
        {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
        {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4}};
    if (*s < 0x80) return *s >= ' ' && *s != 0x7F;
    for (size_t i = 0; i < sizeof form / sizeof *form; i++) {
        if (*s < form[i].first || *s > form[i].last) continue;
        if (s[1] < form[i].lo || s[1] > form[i].hi) return 0;
        for (size_t k = 2; k < form[i].n; k++)
            if (s[k] < 0x80 || s[k] > 0xBF) return 0;
        return turns(s) ? 0 : form[i].n;
    }
    return 0;
}

bool lra_printable(const char *s)
{
    while (*s) {
        size_t n = character((const unsigned char *)s);
        if (n == 0) return false;
        s += n;
    }
    return true;
}

char *lra_make_printable(char *s)
{
    for (char *at = s; *at;) {
        size_t n = character((const unsigned char *)at);
        if (n == 0) *at = '?';
        at += n ? n : 1;
    }
    return s;
}
