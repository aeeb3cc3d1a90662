/* Suggestions for names that users mistype. */
#ifndef LRA_BASE_CORE_NEAREST_H
#define LRA_BASE_CORE_NEAREST_H

#include "kernels/base/core/err.h"

/* The known name with the smallest edit distance to `word` (Damerau-Levenshtein, at most 1 +
 * length/4 edits), or NULL. */
const char *lra_nearest(const char *word, int n, const char *const *names);
/* Fails with the message "unknown WHAT 'word'; did you mean 'x'? ('SHOW' shows all)"; returns
 * LRA_USAGE. */
int lra_fail_unknown(lra_err *e, const char *what, const char *word, int n,
                     const char *const *names, const char *show);

#endif
