/* The command `help` of every program: the help of a command, man pages, completion. */
#include <string.h>

#include "kernels/base/cli/completion.h"
#include "kernels/base/cli/manual.h"

static const lra_option own[] = {
    {.name = "man",
     .kind = LRA_OPTION_FLAG,
     .help = "print the man page of COMMAND, or of the program, for 'man -l -'"},
    {.name = "completion",
     .kind = LRA_OPTION_CHOICE,
     .choices = "bash|zsh|fish",
     .arg = "SHELL",
     .help = "print a script that completes commands, options and names; source it in the shell"},
    {.name = "out",
     .letter = 'o',
     .kind = LRA_OPTION_TEXT,
     .arg = "DIR",
     .help = "with --man: write the pages of the program and all its commands into this folder"},
    {.name = NULL}};
const lra_option *const lra_help_tables[] = {own, lra_common_options, NULL};

static int check(const lra_options *o, lra_err *e)
{
    bool man = lra_option_flag(o, "man"), completion = lra_option_given(o, "completion"),
         out = lra_option_given(o, "out");
    if (completion && (man || out || lra_option_n_args(o)))
        return lra_fail_usage(e, "--completion covers the complete program; give it alone");
    if (out && !man) return lra_fail_usage(e, "option '--out' needs '--man'");
    if (out && lra_option_n_args(o))
        return lra_fail_usage(e, "'--man --out' writes the pages of all commands; remove '%s'",
                              lra_option_arg(o, 0));
    return 0;
}

static void print_completion(const lra_program *p, const char *shell)
{
    if (strcmp(shell, "zsh") == 0)
        lra_completion_zsh(p, stdout);
    else if (strcmp(shell, "fish") == 0)
        lra_completion_fish(p, stdout);
    else
        lra_completion_print(p, stdout);
}

int lra_help_run(const lra_program *p, const lra_options *o, lra_err *e)
{
    const lra_subcommand *s = NULL;
    int rc = check(o, e);
    if (rc == 0 && lra_option_n_args(o)) {
        s = lra_program_find(p, lra_option_arg(o, 0), e);
        rc = s ? 0 : LRA_USAGE;
    }
    if (rc != 0) return rc;
    if (lra_option_given(o, "out")) return lra_manual_write(p, lra_option_text(o, "out"), e);
    if (lra_option_flag(o, "man"))
        lra_manual_print(p, s, stdout);
    else if (lra_option_given(o, "completion"))
        print_completion(p, lra_option_text(o, "completion"));
    else if (s)
        lra_options_help(s->command, stdout);
    else
        lra_program_help(p, stdout);
    return 0;
}
