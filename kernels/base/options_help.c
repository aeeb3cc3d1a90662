/* --help: one sentence, the usage, two examples, then every option with its default and range. */
#include <string.h>

#include "kernels/base/options.h"

enum { COLUMN = 28, RIGHT = 100 };

void lra_options_usage(const lra_command *c, FILE *out)
{
    fprintf(out, "usage: %s%s%s [options]\n%s\n('%s --help' shows the options)\n", c->program,
            *c->usage ? " " : "", c->usage, c->summary, c->program);
}

/* Words from `column` on, wrapped. */
static void print_wrapped(FILE *out, const char *text, int at)
{
    for (bool first = true; *text; first = false) {
        int blanks = (int)strspn(text, " "), n = (int)strcspn(text + blanks, " ");
        if (at + blanks + n > RIGHT && !first) {
            fprintf(out, "\n%*s", COLUMN, "");
            at = COLUMN, text += blanks, blanks = 0;
        }
        fprintf(out, "%.*s", blanks + n, text);
        at += blanks + n;
        text += blanks + n;
    }
    fputc('\n', out);
}

static void print_option(const lra_option *o, FILE *out)
{
    char left[64], text[512];
    const char *arg = o->kind == LRA_OPTION_FLAG ? "" : o->arg ? o->arg : "TEXT";
    char letter[8] = "    ";
    if (o->letter) snprintf(letter, sizeof letter, "-%c, ", o->letter);
    snprintf(left, sizeof left, "  %s--%s%s%s", letter, o->name, *arg ? " " : "", arg);
    int n = snprintf(text, sizeof text, "%s", o->help);
    size_t used = n < 0 ? 0 : (size_t)n;
    if (o->kind == LRA_OPTION_CHOICE && used < sizeof text)
        used += (size_t)snprintf(text + used, sizeof text - used, " (%s)", o->choices);
    bool number = o->kind == LRA_OPTION_INT || o->kind == LRA_OPTION_REAL ||
                  o->kind == LRA_OPTION_INTS;
    if (number && used < sizeof text)
        used += (size_t)snprintf(text + used, sizeof text - used, " (%.15g to %.15g)", o->min,
                                 o->max);
    if (o->value && used < sizeof text)
        snprintf(text + used, sizeof text - used, " [%s]", o->value);
    if (strlen(left) >= COLUMN - 1)
        fprintf(out, "%s\n%*s", left, COLUMN, "");
    else
        fprintf(out, "%-*s", COLUMN, left);
    print_wrapped(out, text, COLUMN);
}

void lra_options_help(const lra_command *c, FILE *out)
{
    fprintf(out, "%s\n\nusage: %s%s%s [options]\n\nexamples:\n%s\n\noptions:\n", c->summary,
            c->program, *c->usage ? " " : "", c->usage, c->examples);
    const lra_option *o = lra_option_entry(c, 0);
    for (int i = 0; o; o = lra_option_entry(c, ++i)) print_option(o, out);
    fprintf(out, "%-*sthis help\n", COLUMN, "  -h, --help");
}
