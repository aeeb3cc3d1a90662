/* Command-line options.  One table per subcommand drives parsing, range checks, --help, suggestions
 * for misspelt names, so that no option can be accepted and ignored; withdrawn ones: options.c.
 *   --name value   --name=value   -n value   --flag   positional arguments anywhere   "--" ends options
 *   --key value    short for --set key=value, for the keys of a command that has --set
 * A value that starts with "--" is given as --name=value, so that a forgotten value is noticed. */
#ifndef LRA_BASE_CLI_OPTIONS_H
#define LRA_BASE_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "kernels/base/core/err.h"

typedef enum {
    LRA_OPTION_FLAG,   /* no value; "--no-NAME" is not accepted unless it is an entry of its own */
    LRA_OPTION_INT,    /* integer in [min,max] */
    LRA_OPTION_REAL,   /* finite real in [min,max] */
    LRA_OPTION_TEXT,   /* any text */
    LRA_OPTION_CHOICE, /* one of `choices`, separated by '|' */
    LRA_OPTION_INTS,   /* comma list of integers in [min,max] */
    LRA_OPTION_REPEAT  /* text that may be given several times (--set a=1 --set b=2) */
} lra_option_kind;

typedef struct {
    const char *name; /* long name without dashes; NULL ends a table */
    char letter;      /* 0: none */
    lra_option_kind kind;
    const char *value;   /* default as text; NULL: unset */
    double min, max;     /* INT, REAL, INTS */
    const char *choices; /* CHOICE: "auto|cpu|cuda" */
    const char *arg;     /* placeholder in the help and for completion (lra_program.words) */
    const char *help;    /* one line, no full stop */
    /* REPEAT of KEY=VALUE: "--KEY VALUE" is short for it for these names; NULL after the last.
     * Nullable. */
    const char *(*key)(int i);
} lra_option;

typedef struct {
    const char *program;             /* "lra-probe train" */
    const char *summary;             /* one sentence */
    const char *usage;               /* positional arguments: "TASK", "RUN...", "" */
    const char *examples;            /* two examples, each on a line of its own */
    const char *notes;               /* help text below the options; NULL: none */
    int min_args, max_args;          /* number of positional arguments; max -1: any */
    const lra_option *const *tables; /* own table, shared tables, NULL */
} lra_command;

typedef struct lra_options lra_options;

/* Parses argv[0..argc-1] (program and subcommand names already removed).  Returns NULL with a
 * message for wrong usage (exit code 2).  `-h`/`--help` anywhere is no error:
 * lra_options_help_wanted(). */
lra_options *lra_options_parse(const lra_command *c, int argc, char **argv, lra_err *e);
void lra_options_free(lra_options *o); /* Nullable: o */
bool lra_options_help_wanted(const lra_options *o);
/* Full help: summary, usage, examples, options with defaults and ranges; at most 100 columns. */
void lra_options_help(const lra_command *c, FILE *out);
/* The short form, for no arguments at all. */
void lra_options_usage(const lra_command *c, FILE *out);

/* An unknown name in these calls is a bug of ours.  Unset INT/REAL/TEXT without default: the
 * `given` function tells; int and real then return 0, text NULL. */
bool lra_option_given(const lra_options *o, const char *name); /* by the user */
bool lra_option_flag(const lra_options *o, const char *name);
int64_t lra_option_int(const lra_options *o, const char *name);
double lra_option_real(const lra_options *o, const char *name);
const char *lra_option_text(const lra_options *o, const char *name);
/* INTS: copies at most `max` values, returns their number. */
int lra_option_ints(const lra_options *o, const char *name, int64_t *values, int max);
/* The i-th value that was given, NULL after the last. */
const char *lra_option_repeat(const lra_options *o, const char *name, int i);
int lra_option_n_args(const lra_options *o);
const char *lra_option_arg(const lra_options *o, int i);

/* The placeholder of an option in the help: "DIR"; "" for a flag. */
const char *lra_option_placeholder(const lra_option *o);
/* Its help with choices, range and default; the caller frees it. */
char *lra_option_about(const lra_option *o);
/* Walks every entry of every table: i from 0; NULL after the last. */
const lra_option *lra_option_entry(const lra_command *c, int i);

/* Strict conversion of numbers: all of the text, no blanks, in range; otherwise false. */
bool lra_parse_int(const char *text, int64_t *value);
bool lra_parse_real(const char *text, double *value); /* finite */

#endif
