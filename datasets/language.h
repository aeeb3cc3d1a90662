/* What the tasks of language modelling share: one long stream of tokens a split. */
#ifndef LRA_DATASETS_LANGUAGE_H
#define LRA_DATASETS_LANGUAGE_H

#include "datasets/loader/dataset.h"

/* context and tokens: 0 or LRA_USAGE. */
/* How such a task is trained: an epoch is a pass over all windows. */
#define LRA_LANGUAGE_QUICK "batch=16 epochs=4 warmup=0.05 final-share=0.5 final-rate=0.1"
#define LRA_LANGUAGE_SMALL "batch=16 epochs=4 warmup=0.02"
#define LRA_LANGUAGE_PAPER "batch=64 epochs=22 schedule=cosine warmup=2000"

/* Rows of the key table of such a task. */
#define LRA_LANGUAGE_ROWS                                                                          \
    LRA_INT_KEY("context", "512", 2, 1 << 16, "tokens of a window"),                               \
        LRA_INT_KEY("tokens", "0", 0, 1e12, "at most so many of each split; 0: all")

int lra_language_validate(const lra_config *c, lra_err *e);
/* Makes the split one row of ids, as many of them, from the first on, as "tokens" says (0: all);
 * those of a vocabulary above 65,536 in halves. */
int lra_language_fill(const lra_config *c, const int32_t *token, int64_t n, lra_dataset *d,
                      int split, lra_err *e);

/* text8: letters and blanks as ids; `name` and the offset of a strange byte stand in the message.
 * token: (n) */
int lra_text8_parse(const char *bytes, size_t n, const char *name, int32_t *token, lra_err *e);
/* Any text as text8 has it: letters small, digits spelled, everything else one blank; returns the
 * bytes written, at most 7 n.  (Mahoney's rule for what is left when the marks of a wiki are
 * gone.) */
size_t lra_text8_clean(const char *bytes, size_t n, char *to);

#endif
