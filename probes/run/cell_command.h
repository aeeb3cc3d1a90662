/* Builds the command that trains one run with the options of another command (`receptive-field`,
 * `sweep`). */
#ifndef LRA_PROBES_RUN_CELL_COMMAND_H
#define LRA_PROBES_RUN_CELL_COMMAND_H

#include "kernels/base/cli/options.h"

/* A command as n words; NULL after the last. */
typedef struct {
    int n;
    char **word;
} lra_command_words;

void lra_command_words_add(lra_command_words *w, char *word); /* Takes ownership of the word. */
void lra_command_words_free(lra_command_words *w);
/* Returns the command as one line, of any length, that any sh parses into the same words as w. NULL
 * if a word has a control character, which sh cannot quote on one line. The caller frees it. */
char *lra_command_words_line(const lra_command_words *w, lra_err *e);

/* Appends "lra-probe train" and every option of a run with its value in o, except --memory, which
 * is divided among the runs, and the options in `except` (ends with NULL; Nullable). If an option
 * is given twice, the last value is used. */
void lra_cell_command(lra_command_words *w, const lra_options *o, const char *const *except);
/* Appends the options of a table that were given, with their values in o, except those of `except`
 * (ends with NULL; Nullable). */
void lra_command_words_add_given(lra_command_words *w, const lra_options *o,
                                 const lra_option *table, const char *const *except);
/* Appends the remaining options: seed, memory in bytes (0 = all free memory), quiet output. */
void lra_cell_command_end(lra_command_words *w, int64_t seed, double memory);

#endif
