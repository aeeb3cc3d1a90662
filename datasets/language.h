/* Shared parts of the language modelling tasks: one long stream of tokens for each split. */
#ifndef LRA_DATASETS_LANGUAGE_H
#define LRA_DATASETS_LANGUAGE_H

#include "datasets/loader/dataset.h"

/* Training settings of language modelling: an epoch is one pass over all windows. */
#define LRA_LANGUAGE_QUICK "batch=16 epochs=4 warmup=0.05 final-share=0.5 final-rate=0.1"
#define LRA_LANGUAGE_SMALL "batch=16 epochs=4 warmup=0.02"
#define LRA_LANGUAGE_PAPER "batch=64 epochs=22 schedule=cosine warmup=2000"

/* Keys that all language modelling tasks have. */
#define LRA_LANGUAGE_ROWS                                                                          \
    LRA_INT_KEY("context", "512", 2, 1 << 16, "length of a window, in tokens"),                    \
        LRA_INT_KEY("tokens", "0", 0, 1e12, "maximum number of tokens of each split (0 = all)")

int lra_language_validate(const lra_config *c, lra_err *e);
/* Makes the split one row of the first "tokens" ids (0: all). Ids of a vocabulary above 65,536 are
 * stored as two 16-bit words. */
int lra_language_fill(const lra_config *c, const int32_t *token, int64_t n, lra_dataset *d,
                      int split, lra_err *e);

/* Encodes letters and blanks of text8 as ids, token (n). Fails on any other byte and reports `name`
 * and the byte's offset. */
int lra_text8_parse(const char *bytes, size_t n, const char *name, int32_t *token, lra_err *e);
/* Converts any text to the form of text8: lower case letters, spelled digits, and one blank for any
 * other bytes. Returns the number of bytes written, at most 7 n. (Mahoney's rule without the
 * removal of wiki markup.) */
size_t lra_text8_clean(const char *bytes, size_t n, char *to);

#endif
