/* Collects the sentences of verdicts (verdict.h). */
#include "reports/verdict/verdict.h"

#include <ctype.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/printable.h"

void lra_verdict_add(lra_verdict *v, const char *fmt, ...)
{
    if (v->n == LRA_VERDICT_SENTENCES)
        LRA_BUG("a verdict with more than %d sentences", LRA_VERDICT_SENTENCES);
    lra_text text = {0};
    va_list args;
    va_start(args, fmt);
    lra_text_addv(&text, fmt, args);
    va_end(args);
    lra_make_printable(text.s);
    /* a name such as gMLP keeps its small first letter */
    if (!isupper((unsigned char)text.s[1])) text.s[0] = (char)toupper((unsigned char)text.s[0]);
    v->sentence[v->n++] = text.s;
}

void lra_verdict_free(lra_verdict *v)
{
    for (int i = 0; i < v->n; i++) lra_free(v->sentence[i]);
    v->n = 0;
}
