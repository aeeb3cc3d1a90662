/* Finds the command, parses its options, runs it, and turns its error into one line and an exit
 * code. */
#include "kernels/base/cli/program.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "kernels/base/os/executable.h"
#include "kernels/base/os/lock.h"
#include "kernels/base/core/log.h"
#include "kernels/base/core/nearest.h"
#include "kernels/base/os/signals.h"
#include "kernels/base/os/terminal.h"

enum { MAX_COMMANDS = 64 };

const lra_option lra_common_options[] = {
    {.name = "quiet", .letter = 'q', .kind = LRA_OPTION_FLAG, .help = "print only errors"},
    {.name = "verbose",
     .letter = 'v',
     .kind = LRA_OPTION_FLAG,
     .help = "print more detail, such as every epoch"},
    {.name = NULL}};

void lra_program_help(const lra_program *p, FILE *out)
{
    int width = 10;
    for (int i = 0; p->at(i); i++) {
        int n = (int)strlen(p->at(i)->name) + 3;
        if (n > width) width = n;
    }
    fprintf(out,
            "%s\n\nusage: %s COMMAND [options]   ('%s COMMAND --help' shows its options)\n\n"
            "examples:\n%s\n\ncommands:\n",
            p->summary, p->name, p->name, p->examples);
    for (int i = 0; p->at(i); i++)
        fprintf(out, "  %-*s%s\n", width, p->at(i)->name, p->at(i)->summary);
    fprintf(out, "\nexit codes: %s\n", p->codes);
}

const lra_subcommand *lra_program_find(const lra_program *p, const char *name, lra_err *e)
{
    const char *names[MAX_COMMANDS];
    char show[64];
    int n = 0;
    for (; n < MAX_COMMANDS && p->at(n); n++) {
        names[n] = p->at(n)->name;
        if (strcmp(names[n], name) == 0) return p->at(n);
    }
    snprintf(show, sizeof show, "%s --help", p->name);
    lra_fail_unknown(e, "command", name, n, names, show);
    return NULL;
}

/* Applies -q and -v, if the command has them. */
static void set_terminal(const lra_command *c, const lra_options *o)
{
    bool on[2] = {false};
    for (int i = 0; lra_option_entry(c, i); i++)
        for (int k = 0; k < 2; k++)
            if (strcmp(lra_option_entry(c, i)->name, lra_common_options[k].name) == 0)
                on[k] = lra_option_flag(o, lra_common_options[k].name);
    lra_terminal_init(on[0] ? LRA_LOG_QUIET : on[1] ? LRA_LOG_VERBOSE : LRA_LOG_NORMAL);
}

static bool has_option(const lra_command *c, const char *name)
{
    for (int i = 0; lra_option_entry(c, i); i++)
        if (strcmp(lra_option_entry(c, i)->name, name) == 0) return true;
    return false;
}

/* Applies --locks and --break-locks, if the command has them. The choice of a parent process
 * remains if the options are not given. */
static void set_locks(const lra_command *c, const lra_options *o)
{
    if (!has_option(c, "locks")) return;
    const char *kind = lra_option_text(o, "locks");
    if (lra_option_flag(o, "no-locks")) kind = "none";
    bool take_over = lra_option_flag(o, "break-locks");
    if (strcmp(kind, "none") == 0) lra_locks_use(LRA_LOCKS_NONE, false);
    if (strcmp(kind, "claims") == 0) lra_locks_use(LRA_LOCKS_CLAIMS, take_over);
    if (strcmp(kind, "auto") == 0 && take_over) lra_locks_use(LRA_LOCKS_AUTO, true);
}

static int run(const lra_subcommand *s, int argc, char **argv, lra_err *e)
{
    const char *usage = s->command->usage;
    if (argc == 0 && *usage && *usage != '[') { /* the command requires an argument */
        lra_options_usage(s->command, stderr);
        return 2;
    }
    lra_options *o = lra_options_parse(s->command, argc, argv, e);
    if (!o) return LRA_USAGE;
    int rc = 0;
    if (lra_options_help_wanted(o)) {
        lra_options_help(s->command, stdout);
    } else {
        set_terminal(s->command, o);
        set_locks(s->command, o);
        rc = s->run(o, e);
    }
    lra_options_free(o);
    if (rc < 0 && lra_stop_signal()) {
        lra_note("%s", e->msg);
        rc = LRA_EXIT_INTERRUPTED;
    }
    return rc;
}

/* Flushes stdout. If its reader has closed the pipe, as in "| head", there is no message. */
static int end_output(int rc, bool *gone, lra_err *e)
{
    bool lost = ferror(stdout) != 0;
    errno = 0;
    if (fflush(stdout) == 0 && !lost) return rc;
    *gone = errno == EPIPE;
    if (rc < 0) return rc;
    return errno ? lra_fail_errno(e, "cannot write the output")
                 : lra_fail(e, "cannot write the output");
}

int lra_program_main(const lra_program *p, int (*version)(lra_err *e), int argc, char **argv)
{
    lra_err e = {{0}};
    lra_threads_sleep_soon(argv);
#ifdef __linux__
    prctl(PR_SET_NAME, p->name); /* name in ps and top; the link of /proc would give 'exe' */
#endif
    lra_signals_init();
    lra_terminal_init(LRA_LOG_NORMAL);
    if (argc < 2) {
        lra_program_help(p, stderr);
        return 2;
    }
    int rc = 0;
    if (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0) {
        lra_program_help(p, stdout);
    } else if (strcmp(argv[1], "--version") == 0) {
        rc = version(&e);
    } else {
        const lra_subcommand *s = lra_program_find(p, argv[1], &e);
        rc = s ? run(s, argc - 2, argv + 2, &e) : LRA_USAGE;
    }
    bool reported = rc < 0, gone = false;
    rc = end_output(rc, &gone, &e);
    if (rc >= 0) return rc;
    if (reported || !gone) fprintf(stderr, "%s: %s\n", p->name, e.msg);
    return rc == LRA_USAGE ? 2 : 1;
}
