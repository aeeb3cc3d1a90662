/* Words of texts as tokens: separated by white space, with <eos> at every line end; case is
 * preserved. The final ids depend on the complete training text, so texts are first encoded with
 * provisional ids, which are replaced when the counts are complete: <eos> 0, then the words of the
 * training text by descending frequency, ties by first occurrence. */
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

/* State of encoding one text, piece by piece. */
typedef struct {
    bool counted;   /* true: the words of the text form the vocabulary */
    int32_t *token; /* (n) provisional ids */
    int64_t n, capacity;
    int64_t n_lines;
    lra_text rest; /* first bytes of a word that the last piece left incomplete */
    bool open;     /* the last line is not complete */
} lra_word_text;

/* Encodes the next piece of a text. n = 0 ends the text, and its last line if that is
 * incomplete. */
int lra_words_encode(lra_words *w, lra_word_text *t, const char *bytes, size_t n, lra_err *e);
void lra_word_text_free(lra_word_text *t);

/* Fixes the vocabulary and returns the number of ids. If the training text lacks the word <unk>, it
 * becomes the last id. */
int lra_words_fix(lra_words *w);
/* Converts provisional ids to vocabulary ids; words outside of the vocabulary become <unk>. */
void lra_words_renumber(const lra_words *w, int32_t *token, int64_t n);
/* Returns the vocabulary as text for lra_dataset.words; the caller frees it. */
char *lra_words_lines(const lra_words *w);

#endif
