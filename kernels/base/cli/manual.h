/* Manual pages, made from the tables of options. */
#ifndef LRA_BASE_CLI_MANUAL_H
#define LRA_BASE_CLI_MANUAL_H

#include "kernels/base/cli/program.h"

/* A page for man, section 1: of the program, or of one command (Nullable: s). */
void lra_manual_print(const lra_program *p, const lra_subcommand *s, FILE *out);
/* Writes all of them: FOLDER/PROGRAM.1, FOLDER/PROGRAM-COMMAND.1 ... */
int lra_manual_write(const lra_program *p, const char *folder, lra_err *e);

#endif
