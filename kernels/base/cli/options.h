/* Command-line options. One table per subcommand defines parsing, range checks, --help, and
 * suggestions for misspelt names, so that no option can be accepted and ignored (for withdrawn
 * options see options.c).
 *   --name value   --name=value   -n value   --flag   positional arguments anywhere   "--" ends
 *   options
 *   --key value    short for --set key=value, for the keys of a command that has --set
 * A value that starts with "--" must be written as --name=value, so that a forgotten value is
 * noticed. */
#ifndef LRA_BASE_CLI_OPTIONS_H
#define LRA_BASE_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "kernels/base/core/err.h"

typedef enum {
    LRA_OPTION_FLAG,   /* no value; "--no-NAME" is accepted only if it is an entry of the table */
    LRA_OPTION_INT,    /* integer in [min,max] */
    LRA_OPTION_REAL,   /* finite real in [min,max] */
    LRA_OPTION_TEXT,   /* any text */
    LRA_OPTION_CHOICE, /* one of `choices`, separated by '|' */
    LRA_OPTION_INTS,   /* comma list of integers in [min,max] */
    LRA_OPTION_REPEAT  /* text that may be given several times (--set a=1 --set b=2) */
} lra_option_kind;

typedef struct {
    const char *name; /* long name without dashes; NULL ends a table */
    char letter;      /* short name; 0: none */
    lra_option_kind kind;
    const char *value;   /* default as text; NULL: no default */
    double min, max;     /* range, for INT, REAL and INTS */
    const char *choices; /* for CHOICE: "auto|cpu|cuda" */
    const char *arg;     /* placeholder in the help and for completion (lra_program.words) */
    const char *help;    /* text of the help: one line, no full stop */
    /* For a REPEAT option of KEY=VALUE texts: its keys by index, NULL after the last. "--KEY VALUE"
     * is short for the option. Nullable. */
    const char *(*key)(int i);
} lra_option;

typedef struct {
    const char *program;             /* program and command: "lra-probe train" */
    const char *summary;             /* one sentence, the first line of the help */
    const char *usage;               /* positional arguments: "TASK", "RUN...", "" */
    const char *examples;            /* two examples, each on its own line */
    const char *notes;               /* help text below the options; NULL: none */
    int min_args, max_args;          /* number of positional arguments; max -1: any */
    const lra_option *const *tables; /* the command's own table, shared tables, NULL */
} lra_command;

typedef struct lra_options lra_options;

/* Parses argv[0..argc-1] (program and subcommand names already removed). Returns NULL with a
 * message for wrong usage (exit code 2). `-h`/`--help` is not an error anywhere: see
 * lra_options_help_wanted(). */
lra_options *lra_options_parse(const lra_command *c, int argc, char **argv, lra_err *e);
void lra_options_free(lra_options *o); /* Nullable: o */
bool lra_options_help_wanted(const lra_options *o);
/* Prints the full help: summary, usage, examples, options with defaults and ranges; at most 100
 * columns. */
void lra_options_help(const lra_command *c, FILE *out);
/* Prints the short form of the help, for a call without arguments. */
void lra_options_usage(const lra_command *c, FILE *out);

/* Values of options. An unknown name in these calls is a bug of the program. If an INT, REAL or
 * TEXT option has neither a value nor a default, int and real return 0 and text returns NULL;
 * lra_option_given() distinguishes this case. */
/* true if the user has set the option */
bool lra_option_given(const lra_options *o, const char *name);
bool lra_option_flag(const lra_options *o, const char *name);
int64_t lra_option_int(const lra_options *o, const char *name);
double lra_option_real(const lra_options *o, const char *name);
const char *lra_option_text(const lra_options *o, const char *name);
/* Values of an INTS option: copies at most `max` values, returns their number. */
int lra_option_ints(const lra_options *o, const char *name, int64_t *values, int max);
/* The i-th value of a REPEAT option, NULL after the last. */
const char *lra_option_repeat(const lra_options *o, const char *name, int i);
int lra_option_n_args(const lra_options *o);
const char *lra_option_arg(const lra_options *o, int i);

/* Placeholder of an option's value in the help: "DIR"; "" for a flag. */
const char *lra_option_placeholder(const lra_option *o);
/* Help text of an option, with choices, range and default; the caller frees it. */
char *lra_option_about(const lra_option *o);
/* The i-th entry of all tables of a command; NULL after the last. */
const lra_option *lra_option_entry(const lra_command *c, int i);

/* Strict conversion of text to a number. Returns false unless the complete text is a number in
 * range, without blanks. */
bool lra_parse_int(const char *text, int64_t *value);
bool lra_parse_real(const char *text, double *value); /* fails for infinity and NaN */

#endif
