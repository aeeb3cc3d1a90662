/* Parses lists of seeds (seeds.h). */
#include "probes/run/seeds.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"

/* Reads a number from 0 to INT32_MAX at *at, and moves *at past it. */
static bool read_number(const char **at, int64_t *x)
{
    char *end;
    *at += strspn(*at, " \t");
    if (**at < '0' || **at > '9') return false;
    errno = 0;
    long long value = strtoll(*at, &end, 10);
    *at = end + strspn(end, " \t");
    *x = value;
    return errno == 0 && value <= INT32_MAX;
}

int lra_seeds_first(int n, int64_t **seed)
{
    *seed = lra_alloc_array((size_t)n + 1, sizeof **seed);
    for (int i = 0; i < n; i++) (*seed)[i] = i;
    return n;
}

static bool is_among(int64_t x, int n, const int64_t *list)
{
    int i = 0;
    while (i < n && list[i] != x) i++;
    return i < n;
}

/* Reads numbers and ranges. Returns their number, or -1 if the text is no list, -2 if a number is
 * repeated, -3 if there are too many. */
static int read_list(const char *at, int most, int64_t *seed)
{
    int n = 0;
    for (;; at++) {
        int64_t from, to;
        if (!read_number(&at, &from)) return -1;
        to = from;
        if (*at == '-' && (at++, !read_number(&at, &to))) return -1;
        if (to < from || (*at && *at != ',')) return -1;
        for (int64_t x = from; x <= to; x++) {
            if (is_among(x, n, seed)) return -2;
            if (n == most) return -3;
            seed[n++] = x;
        }
        if (!*at) return n;
    }
}

int lra_seeds_read(const char *option, const char *text, int most, int64_t **seed, lra_err *e)
{
    static const char *const fault[] = {"expected N or a list such as 0,2,5 or 3-7",
                                        "a seed occurs twice", "too many seeds"};
    const char *at = text;
    int64_t count;
    *seed = NULL;
    if (read_number(&at, &count) && !*at) {
        if (count >= 1 && count <= most) return lra_seeds_first((int)count, seed);
        return lra_fail_usage(e, "--%s: %lld is out of range 1 to %d", option, (long long)count,
                              most);
    }
    *seed = lra_alloc_array((size_t)most + 1, sizeof **seed);
    int n = read_list(text, most, *seed);
    if (n > 0) return n;
    lra_free(*seed);
    *seed = NULL;
    return lra_fail_usage(e, "--%s '%s': %s (at most %d)", option, text, fault[-n - 1], most);
}
