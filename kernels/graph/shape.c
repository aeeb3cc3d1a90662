/* Shapes and types. */
#include "kernels/graph/graph.h"

#include <stdio.h>

#include "kernels/base/core/err.h"

lra_shape lra_shape_from(int n, const int64_t *d)
{
    if (n < 0 || n > LRA_MAX_RANK) LRA_BUG("shape of rank %d, at most %d", n, LRA_MAX_RANK);
    lra_shape s = {0};
    s.n = n;
    for (int i = 0; i < n; i++) s.d[i] = d[i];
    return s;
}

int64_t lra_shape_elements(lra_shape s)
{
    int64_t n = 1;
    for (int i = 0; i < s.n; i++) n *= s.d[i];
    return n;
}

bool lra_shape_equal(lra_shape a, lra_shape b)
{
    if (a.n != b.n) return false;
    for (int i = 0; i < a.n; i++)
        if (a.d[i] != b.d[i]) return false;
    return true;
}

const char *lra_shape_text(lra_shape s, char buf[96])
{
    int at = snprintf(buf, 96, "(");
    for (int i = 0; i < s.n && at < 90; i++)
        at += snprintf(buf + at, (size_t)(96 - at), i ? ",%lld" : "%lld", (long long)s.d[i]);
    if (at < 95) snprintf(buf + at, (size_t)(96 - at), ")");
    return buf;
}

size_t lra_type_size(lra_type t)
{
    static const size_t bytes[] = {4, 8, 2, 4};
    return bytes[t];
}
