/* A program that consists of commands: 'PROGRAM COMMAND [options]'. One list of commands and their
 * option tables defines execution, --help, man pages and completion, so that all of them contain
 * every option. */
#ifndef LRA_BASE_CLI_PROGRAM_H
#define LRA_BASE_CLI_PROGRAM_H

#include "kernels/base/core/mem.h"
#include "kernels/base/cli/options.h"

typedef struct {
    const char *name, *summary; /* name: "train"; summary: a few words */
    const lra_command *command;
    /* Runs the command. Returns 0, a negative code of err.h, or a positive exit code. */
    int (*run)(const lra_options *o, lra_err *e);
} lra_subcommand;

typedef struct {
    const char *name, *summary;         /* name: "lra-probe"; summary: one sentence */
    const char *examples;               /* two examples, each on its own line */
    const char *codes;                  /* exit codes for the help: "0 done, 1 failed ..." */
    const lra_subcommand *(*at)(int i); /* the i-th command; NULL after the last */
    /* Appends the words of a placeholder of a usage or an option (for "TASK": listops ...), each
     * followed by a blank. Appends nothing for an unknown placeholder. */
    void (*words)(const char *placeholder, lra_text *to);
} lra_program;

/* The options -q and -v. If a command lists them in its tables, they are applied before run(). */
extern const lra_option lra_common_options[];

/* Implements main() and returns the exit code. version: function that prints the text of
 * --version. */
int lra_program_main(const lra_program *p, int (*version)(lra_err *e), int argc, char **argv);
/* Finds a command by name. NULL: there is none; the message suggests a similar one. */
const lra_subcommand *lra_program_find(const lra_program *p, const char *name, lra_err *e);
void lra_program_help(const lra_program *p, FILE *out);

/* ---- the command `help` of every program ----------------------------------------------------- */

extern const lra_option *const lra_help_tables[];
int lra_help_run(const lra_program *p, const lra_options *o, lra_err *e);

#endif
