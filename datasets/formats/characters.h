/* Texts as tokens: bytes (datasets/formats/bytes.h), or characters numbered by frequency.
 * Characters are Unicode code points. Their final ids depend on all training texts, so texts are
 * first encoded with provisional ids, in order of first occurrence. When the counts are complete,
 * the ids are replaced in place: pad 0, unk 1, eos 2, mask 3, then characters by descending
 * frequency, ties by code point. S4's vocabulary is the same without mask: its characters start at
 * 3. */
#ifndef LRA_DATASETS_FORMATS_CHARACTERS_H
#define LRA_DATASETS_FORMATS_CHARACTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/core/err.h"

/* Decodes the code point at s and returns its size in bytes; n > 0 bytes are available. A byte that
 * does not begin a valid sequence (including overlong forms, surrogates and values beyond U+10FFFF)
 * is decoded as a single U+FFFD. */
size_t lra_utf8_read(const char *s, size_t n, uint32_t *point);
/* Encodes a code point in at most 4 bytes; returns their number. */
size_t lra_utf8_write(uint32_t point, char *s);

typedef struct lra_characters lra_characters;
lra_characters *lra_characters_new(void);
void lra_characters_free(lra_characters *c); /* Nullable: c */

/* Encodes the first length - 1 characters of a text (c NULL: bytes) and <eos>; returns the number
 * of tokens. counted: these characters count for the vocabulary. token: (length) */
int64_t lra_characters_encode(lra_characters *c, const char *text, size_t n, int64_t length,
                              bool counted, uint16_t *token);
/* Fixes the vocabulary as the characters that were counted at least `least` times. Returns the
 * number of ids; fails if there are too many characters. */
int lra_characters_fix(lra_characters *c, int64_t least, lra_err *e);
/* Converts provisional ids to vocabulary ids; characters outside of the vocabulary become <unk>. */
void lra_characters_renumber(const lra_characters *c, uint16_t *token, int64_t n);
/* Returns the vocabulary as text for lra_dataset.words, which the caller frees; the character 0 is
 * "\0". */
char *lra_characters_words(const lra_characters *c);

#endif
