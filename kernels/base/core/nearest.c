/* Misspelt names: finds the most similar known name by optimal string alignment (insert, delete,
 * replace, swap). */
#include "kernels/base/core/nearest.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"

enum { LONGEST = 63 };

static int min3(int a, int b, int c)
{
    int m = a < b ? a : b;
    return m < c ? m : c;
}

static int edits(const char *a, const char *b)
{
    int d[LONGEST + 1][LONGEST + 1];
    int n = (int)strlen(a), m = (int)strlen(b);
    if (n > LONGEST || m > LONGEST) return LONGEST;
    for (int i = 0; i <= n; i++) d[i][0] = i;
    for (int j = 0; j <= m; j++) d[0][j] = j;
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= m; j++) {
            int same = a[i - 1] == b[j - 1] ? 0 : 1;
            d[i][j] = min3(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + same);
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && d[i - 2][j - 2] + 1 < d[i][j]) d[i][j] = d[i - 2][j - 2] + 1;
        }
    return d[n][m];
}

const char *lra_nearest(const char *word, int n, const char *const *names)
{
    const char *best = NULL;
    int least = 2 + (int)strlen(word) / 4;
    for (int i = 0; i < n; i++) {
        int distance = edits(word, names[i]);
        if (distance >= least) continue;
        least = distance;
        best = names[i];
    }
    return best;
}

int lra_fail_unknown(lra_err *e, const char *what, const char *word, int n,
                     const char *const *names, const char *show)
{
    const char *near = lra_nearest(word, n, names);
    if (near)
        return lra_fail_usage(e, "unknown %s '%s'; did you mean '%s'? ('%s' shows all)", what, word,
                              near, show);
    return lra_fail_usage(e, "unknown %s '%s' ('%s' shows all)", what, word, show);
}
