/* Words of texts as tokens: separated by white space, <eos> at every line end, case kept. The final
 * ids depend on the complete training text, so texts are first encoded with provisional ids and
 * renumbered when the counts are complete: <eos> 0, then the words of the training text by
 * descending frequency, ties by first occurrence. */
#ifndef LRA_DATASETS_LOADER_WORDS_H
#define LRA_DATASETS_LOADER_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/core/err.h"
#include "kernels/base/core/mem.h"

typedef struct lra_words lra_words;
lra_words *lra_words_new(void);
void lra_words_free(lra_words *w); /* Nullable: w */

/* One text, encoded piece by piece. */
typedef struct {
    bool counted;   /* its words make the vocabulary */
    int32_t *token; /* (n) */
    int64_t n, capacity;
    int64_t n_lines;
    lra_text rest; /* the beginning of an incomplete word */
    bool open;     /* the last line is incomplete */
} lra_word_text;

/* n = 0: the end of the text, and of its last line where that is open. */
int lra_words_encode(lra_words *w, lra_word_text *t, const char *bytes, size_t n, lra_err *e);
void lra_word_text_free(lra_word_text *t);

/* Decides the vocabulary; returns the number of ids.  A training text without the word <unk> gets
 * it as the last. */
int lra_words_fix(lra_words *w);
/* Converts provisional ids to vocabulary ids; words outside of the vocabulary become <unk>. */
void lra_words_renumber(const lra_words *w, int32_t *token, int64_t n);
/* The vocabulary for lra_dataset.words; caller frees. */
char *lra_words_lines(const lra_words *w);

#endif
