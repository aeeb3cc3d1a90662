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
/* One line that any sh reads as these words, however long; the caller frees it.  NULL where a word
 * has a control character, for which sh has no quotes on one line. */
char *lra_command_words_line(const lra_command_words *w, lra_err *e);

/* "lra-probe train" and every option of a run as it is in o, but for --memory, which the runs
 * share, and what `except` names (NULL after the last; Nullable).  What is set last holds. */
void lra_cell_command(lra_command_words *w, const lra_options *o, const char *const *except);
/* What ends it: seed, memory in bytes (0: what is free), silence. */
void lra_cell_command_end(lra_command_words *w, int64_t seed, double memory);

#endif
