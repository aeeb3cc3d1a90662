/* Makes texts from files safe for a terminal, a table or a script. */
#ifndef LRA_BASE_CORE_PRINTABLE_H
#define LRA_BASE_CORE_PRINTABLE_H

#include <stdbool.h>

/* True for UTF-8 without control characters (below blank, DEL, U+0080 to U+009F, some of which
 * start escape sequences like ESC) and without characters that change the direction of writing or
 * end a line (U+061C, U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069). */
bool lra_printable(const char *s);
/* Replaces every byte that is not part of printable text by '?', in place. Returns s. */
char *lra_make_printable(char *s);

#endif
