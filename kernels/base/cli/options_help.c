/* --help: one sentence, the usage, two examples, then every option with its default and range. */
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/cli/options.h"

enum { COLUMN = 28, RIGHT = 100 };

/* The usage with the word [options], which is appended unless the usage has it at another place.
 * The caller frees the text. */
static char *usage_of(const lra_command *c)
{
    return lra_format("%s%s%s%s", c->program, *c->usage ? " " : "", c->usage,
                      strstr(c->usage, "[options]") ? "" : " [options]");
}

void lra_options_usage(const lra_command *c, FILE *out)
{
    char *usage = usage_of(c);
    fprintf(out, "usage: %s\n%s\n('%s --help' shows the options)\n", usage, c->summary, c->program);
    lra_free(usage);
}

/* Prints text wrapped at RIGHT columns. `at`: current column; further lines start at COLUMN. */
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

char *lra_option_about(const lra_option *o)
{
    lra_text t = {0};
    lra_text_add(&t, "%s", o->help);
    bool number = o->kind == LRA_OPTION_INT || o->kind == LRA_OPTION_REAL ||
                  o->kind == LRA_OPTION_INTS;
    bool choice = o->kind == LRA_OPTION_CHOICE, has_default = o->value && *o->value;
    if (!number && !choice && !has_default) return t.s;
    lra_text_add(&t, " [");
    if (choice) lra_text_add(&t, "%s", o->choices);
    if (number) lra_text_add(&t, "%.15g to %.15g", o->min, o->max);
    if (has_default) lra_text_add(&t, "%sdefault %s", number || choice ? ", " : "", o->value);
    lra_text_add(&t, "]");
    return t.s;
}

static void print_option(const lra_option *o, FILE *out)
{
    const char *arg = lra_option_placeholder(o);
    char letter[8] = "    ";
    if (o->letter) snprintf(letter, sizeof letter, "-%c, ", o->letter);
    char *left = lra_format("  %s--%s%s%s", letter, o->name, *arg ? " " : "", arg);
    char *about = lra_option_about(o);
    if (strlen(left) >= COLUMN - 1)
        fprintf(out, "%s\n%*s", left, COLUMN, "");
    else
        fprintf(out, "%-*s", COLUMN, left);
    print_wrapped(out, about, COLUMN);
    lra_free(left);
    lra_free(about);
}

/* Prints the usage on lines of at most RIGHT columns, broken after blanks and bars. */
static void print_usage(const lra_command *c, FILE *out)
{
    enum { INDENT = 7 }; /* length of "usage: " */
    char *text = usage_of(c);
    int at = INDENT;
    fputs("usage: ", out);
    for (const char *word = text; *word;) {
        size_t n = strcspn(word, " |");
        size_t whole = n + (word[n] != 0), seen = n + (word[n] == '|');
        if (at + (int)seen > RIGHT) {
            fprintf(out, "\n%*s", INDENT, "");
            at = INDENT;
        }
        fprintf(out, "%.*s", (int)whole, word);
        at += (int)whole;
        word += whole;
    }
    fputc('\n', out);
    lra_free(text);
}

void lra_options_help(const lra_command *c, FILE *out)
{
    fprintf(out, "%s\n\n", c->summary);
    print_usage(c, out);
    fprintf(out, "\nexamples:\n%s\n\noptions:\n", c->examples);
    const lra_option *o = lra_option_entry(c, 0);
    for (int i = 0; o; o = lra_option_entry(c, ++i)) print_option(o, out);
    fprintf(out, "%-*sprint this help\n", COLUMN, "  -h, --help");
    if (c->notes) fprintf(out, "\nnotes:\n%s\n", c->notes);
}
