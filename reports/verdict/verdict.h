/* Verdicts: at most three plain sentences before the statistics of a table: the measurement with
 * its interval, the null value that it is compared with, and the caveat that matters most.
 *
 * A verdict is composed from measurements alone, one file for each kind of table (verdict_*.c), and
 * is text without layout, so that tables (text, Markdown, JSON) and pages share it. */
#ifndef LRA_REPORTS_VERDICT_VERDICT_H
#define LRA_REPORTS_VERDICT_VERDICT_H

#include "kernels/base/core/err.h"

enum { LRA_VERDICT_SENTENCES = 3 };

typedef struct {
    int n;
    char *sentence[LRA_VERDICT_SENTENCES]; /* owned; printable, each with its full stop */
} lra_verdict;

/* Appends a sentence; the first letter becomes a capital. */
void lra_verdict_add(lra_verdict *v, const char *fmt, ...) LRA_PRINTF(2, 3);
/* Frees the sentences. */
void lra_verdict_free(lra_verdict *v);

#endif
