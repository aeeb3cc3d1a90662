/* A program made of commands: 'PROGRAM COMMAND [options]'.  One list of commands drives running and --help. */
#ifndef LRA_BASE_PROGRAM_H
#define LRA_BASE_PROGRAM_H

#include "kernels/base/options.h"

/* Exit codes beside 0 (done), 1 (failed) and 2 (wrong usage): a checkpoint is saved. */
enum { LRA_EXIT_INTERRUPTED = 130, LRA_EXIT_REQUEUE = 75 };

typedef struct {
    const char *name, *summary; /* "train", a few words */
    const lra_command *command;
    /* 0, or a negative code of err.h; positive: an exit code of its own. */
    int (*run)(const lra_options *o, lra_err *e);
} lra_subcommand;

typedef struct {
    const char *name, *summary;         /* "lra-probe", one sentence */
    const char *examples;               /* two, each on a line of its own */
    const char *codes;                  /* "exit codes: ..." */
    const lra_subcommand *(*at)(int i); /* NULL after the last */
    int (*version)(lra_err *e);
} lra_program;

/* -q -v --no-color: who has them in its tables gets them obeyed before run(). */
extern const lra_option lra_common_options[];

/* What main() does, all of it; returns the exit code. */
int lra_program_main(const lra_program *p, int argc, char **argv);

#endif
