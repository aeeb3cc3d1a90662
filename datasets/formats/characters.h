/* Texts as tokens: bytes (datasets/formats/bytes.h), or characters numbered by frequency.
 * Characters are Unicode code points.  Their ids are known only when all training texts have been
 * seen, so texts are first encoded with provisional ids, in order of first sight, and renumbered in
 * place when the counts are
 * complete:  pad 0, unk 1, eos 2, mask 3, then characters by descending frequency, ties by code
 * point.
 * S4's vocabulary is the same without mask: its characters start at 3. */
#ifndef LRA_DATASETS_FORMATS_CHARACTERS_H
#define LRA_DATASETS_FORMATS_CHARACTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/core/err.h"

/* The code point at s and the bytes it has, n > 0 being there; a byte that begins no valid sequence
 * (overlong forms, surrogates and what is beyond U+10FFFF included) is U+FFFD alone. */
size_t lra_utf8_read(const char *s, size_t n, uint32_t *point);
/* Writes at most 4 bytes; returns their number. */
size_t lra_utf8_write(uint32_t point, char *s);

typedef struct lra_characters lra_characters;
lra_characters *lra_characters_new(void);
void lra_characters_free(lra_characters *c); /* Nullable: c */

/* The first length - 1 characters (c NULL: bytes) of a text and <eos>; returns the number of
 * tokens.  counted: these characters count for the vocabulary.  token: (length) */
int64_t lra_characters_encode(lra_characters *c, const char *text, size_t n, int64_t length,
                              bool counted, uint16_t *token);
/* Decides the vocabulary: characters counted at least `least` times.  Returns the number of ids;
 * fails when there are too many characters. */
int lra_characters_fix(lra_characters *c, int64_t least, lra_err *e);
/* From provisional ids to those of the vocabulary; characters outside of it are <unk>. */
void lra_characters_renumber(const lra_characters *c, uint16_t *token, int64_t n);
/* The vocabulary for lra_dataset.words (a character 0 as "\0"); caller frees. */
char *lra_characters_words(const lra_characters *c);
/* The id of a code point in the vocabulary. */
int lra_characters_id(const lra_characters *c, uint32_t point);

#endif
