/* Verdicts: at most three plain sentences above the statistics of a table: the measurement with its
 * interval, the null value with which it is compared, and the most important caveat.
 *
 * A verdict is composed from measurements alone, by one file for each kind of table (verdict_*.c).
 * It is text without layout, so that tables in all formats (text, Markdown, JSON) and web pages can
 * contain it. */
#ifndef LRA_REPORTS_VERDICT_VERDICT_H
#define LRA_REPORTS_VERDICT_VERDICT_H

#include "kernels/base/core/err.h"

enum { LRA_VERDICT_SENTENCES = 3 };

typedef struct {
    int n;
    char *sentence[LRA_VERDICT_SENTENCES]; /* owned; printable sentences, each with its full stop */
} lra_verdict;

/* Appends a sentence and capitalises its first letter. */
void lra_verdict_add(lra_verdict *v, const char *fmt, ...) LRA_PRINTF(2, 3);
/* Frees the sentences. */
void lra_verdict_free(lra_verdict *v);

#endif
