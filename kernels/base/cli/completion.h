/* What completion of every shell is made of. */
#ifndef LRA_BASE_CLI_COMPLETION_H
#define LRA_BASE_CLI_COMPLETION_H

#include "kernels/base/cli/program.h"

/* Appends the words that "a|b|c" or "[RUN]... FILE" stands for, a blank behind each: lower case as
 * it is, placeholders as what they name; @folders, @files, @runs for what a shell finds itself. */
void lra_completion_words(const lra_program *p, const char *usage, lra_text *to);
/* The words that may follow an option; nothing for a flag, or where any text may. */
void lra_completion_values(const lra_program *p, const lra_option *o, lra_text *to);

void lra_completion_zsh(const lra_program *p, FILE *out);
void lra_completion_fish(const lra_program *p, FILE *out);
/* A script for bash that completes commands, options, their values, and arguments. */
void lra_completion_print(const lra_program *p, FILE *out);

#endif
