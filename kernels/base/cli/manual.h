/* Manual pages, generated from the option tables. */
#ifndef LRA_BASE_CLI_MANUAL_H
#define LRA_BASE_CLI_MANUAL_H

#include "kernels/base/cli/program.h"

/* Prints the man page (section 1) of a command, or of the program if s is NULL. Nullable: s */
void lra_manual_print(const lra_program *p, const lra_subcommand *s, FILE *out);
/* Writes the pages of the program and of all commands: FOLDER/PROGRAM.1, FOLDER/PROGRAM-COMMAND.1
 * ... */
int lra_manual_write(const lra_program *p, const char *folder, lra_err *e);

#endif
