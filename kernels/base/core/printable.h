/* Texts that come from files, fit for a terminal, a table or a script. */
#ifndef LRA_BASE_CORE_PRINTABLE_H
#define LRA_BASE_CORE_PRINTABLE_H

#include <stdbool.h>

/* UTF-8 without control characters: neither those below blank, nor DEL, nor U+0080 to U+009F, some
 * of which start escape sequences like ESC, nor those that change the direction of writing or end a
 * line (U+061C, U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069). */
bool lra_printable(const char *s);
/* Every other byte becomes '?', in place; returns s. */
char *lra_make_printable(char *s);

#endif
