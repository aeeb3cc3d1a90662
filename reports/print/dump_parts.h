/* Lines and JSON values for the dumps of results and of probe files. */
#ifndef LRA_REPORTS_PRINT_DUMP_PARTS_H
#define LRA_REPORTS_PRINT_DUMP_PARTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

/* Prints "WHAT TASK MODEL, preset PRESET, seed N, PRECISION"; control characters in the texts are
 * replaced. */
void lra_dump_title(FILE *out, const char *what, const char *task, const char *model,
                    const char *preset, int64_t seed, const char *precision, bool unsealed);
/* Print "name text"; lra_dump_lines() prints one such row for each line of the text. */
void lra_dump_line(FILE *out, const char *name, const char *text);
void lra_dump_lines(FILE *out, const char *name, const char *text);
json_t *lra_dump_text(const char *text); /* JSON null for NULL */
json_t *lra_dump_number(double x);       /* JSON null if x is not finite */

#endif
