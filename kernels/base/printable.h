/* Texts that come from files, fit for a terminal, a table or a script. */
#ifndef LRA_BASE_PRINTABLE_H
#define LRA_BASE_PRINTABLE_H

#include <stdbool.h>

/* UTF-8 without control characters: neither those below blank, nor DEL, nor U+0080 to U+009F, of
 * which some start escape sequences as ESC does. */
bool lra_printable(const char *s);
/* Every other byte becomes '?', in place; returns s. */
char *lra_make_printable(char *s);

#endif
