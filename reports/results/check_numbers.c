/* Checks the numbers of result files (check_numbers.h). */
#include "reports/results/check_numbers.h"

#include <math.h>

int lra_check_number(const char *what, double v, double most, lra_err *e)
{
    if (v >= 0 && v <= most) return 0;
    return lra_fail(e, "'%s' is %g, expected 0 to %g", what, v, most);
}

int lra_check_labels(const char *what, int64_t rows, int64_t columns, const float *v, lra_err *e)
{
    for (int64_t i = 0; v && i < rows * columns; i++)
        if (!isfinite(v[i]))
            return lra_fail(e, "'%s': row %lld of %lld holds %g, expected numbers", what,
                            (long long)(i / columns + 1), (long long)rows, (double)v[i]);
    return 0;
}
