/* Completion candidates, common to all shells. */
#ifndef LRA_BASE_CLI_COMPLETION_H
#define LRA_BASE_CLI_COMPLETION_H

#include "kernels/base/cli/program.h"

/* Appends the words of "a|b|c" or "[RUN]... FILE", each followed by a blank. Lower-case words are
 * unchanged, placeholders are expanded; @folders, @files and @runs are left to the shell. */
void lra_completion_words(const lra_program *p, const char *usage, lra_text *to);
/* Appends the words that may follow an option. Appends nothing for a flag, or if any text is
 * valid. */
void lra_completion_values(const lra_program *p, const lra_option *o, lra_text *to);

void lra_completion_zsh(const lra_program *p, FILE *out);
void lra_completion_fish(const lra_program *p, FILE *out);
/* Writes a script for bash that completes commands, options, their values, and arguments. */
void lra_completion_print(const lra_program *p, FILE *out);

#endif
