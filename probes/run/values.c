/* Splits lists of values (values.h). */
#include "probes/run/values.h"

#include <string.h>

#include "kernels/base/core/mem.h"

static const char blank[] = " \t";

int lra_values_read(const char *list, int most, char **value, lra_err *e)
{
    int n = 0, rc = 0;
    for (const char *at = list; rc == 0; at++) {
        at += strspn(at, blank);
        size_t size = strcspn(at, ","), used = size;
        while (used && strchr(blank, at[used - 1])) used--;
        if (used == 0 && !at[size] && n == 0)
            rc = lra_fail_usage(e, "an empty list; expected values");
        else if (used == 0)
            rc = lra_fail_usage(e, "'%s' has an empty value; expected values separated by commas",
                                list);
        else if (n == most)
            rc = lra_fail_usage(e, "'%s' has more than %d values", list, most);
        else
            value[n++] = lra_format("%.*s", (int)used, at);
        at += size;
        if (!*at) break;
    }
    for (int i = 0; i < n && rc != 0; i++) lra_free(value[i]);
    return rc ? rc : n;
}
