/* The command that trains one run with the options of another command. */
#ifndef LRA_PROBES_RUN_CELL_COMMAND_H
#define LRA_PROBES_RUN_CELL_COMMAND_H

#include "kernels/base/cli/options.h"

/* Words, NULL after the last. */
typedef struct {
    int n;
    char **word;
} lra_command_words;

void lra_command_words_add(lra_command_words *w, char *word); /* takes the word */
void lra_command_words_free(lra_command_words *w);
/* One line that any sh parses into these words, of any length; the caller frees it. NULL if a word
 * has a control character, which sh cannot quote on one line. */
char *lra_command_words_line(const lra_command_words *w, lra_err *e);

/* Appends "lra-probe train" and every option of a run as set in o, except --memory, which the runs
 * share, and the options in `except` (NULL after the last; Nullable). The last value set holds. */
void lra_cell_command(lra_command_words *w, const lra_options *o, const char *const *except);
/* Appends the last options: seed, memory in bytes (0: all that is free), quiet output. */
void lra_cell_command_end(lra_command_words *w, int64_t seed, double memory);

#endif
