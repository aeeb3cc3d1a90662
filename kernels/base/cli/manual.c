/* Man pages, generated from the option tables in the macros of man(7). */
#include <ctype.h>
#include <string.h>

#include "kernels/base/os/file.h"
#include "kernels/base/core/log.h"
#include "kernels/base/cli/manual.h"
#include "kernels/base/cli/program.h"

/* Writes n bytes of text literally: they must not be read as escapes or requests, and dashes must
 * stay dashes. */
static void put_text(FILE *out, const char *text, size_t n)
{
    if (n && (*text == '.' || *text == '\'')) fputs("\\&", out);
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\\')
            fputs("\\e", out);
        else if (text[i] == '-')
            fputs("\\-", out);
        else if (text[i] == '\'')
            fputs("\\(aq", out);
        else
            fputc(text[i], out);
    }
}

static void put(FILE *out, const char *text)
{
    put_text(out, text, strlen(text));
}

static void put_upper(FILE *out, const char *text)
{
    for (; *text; text++) fputc(toupper((unsigned char)*text), out);
}

static void put_line(FILE *out, const char *text)
{
    put(out, text);
    fputc('\n', out);
}

/* Writes the page name of a program or command: "lra-probe train" becomes lra-probe-train. */
static void put_page(FILE *out, const char *name)
{
    for (; *name; name++) put_text(out, *name == ' ' ? "-" : name, 1);
}

static void put_lines(FILE *out, const char *section, const char *lines)
{
    fprintf(out, ".SH %s\n.nf\n", section);
    for (; *lines; lines += *lines == '\n') {
        size_t blanks = strspn(lines, " "), n = strcspn(lines, "\n");
        put_text(out, lines + blanks, n - blanks);
        fputc('\n', out);
        lines += n;
    }
    fputs(".fi\n", out);
}

static void put_option(FILE *out, const lra_option *o)
{
    const char *arg = lra_option_placeholder(o);
    char *about = lra_option_about(o);
    fputs(".TP\n", out);
    if (o->letter) fprintf(out, "\\fB\\-%c\\fR, ", o->letter);
    fputs("\\fB\\-\\-", out);
    put(out, o->name);
    fputs("\\fR", out);
    if (*arg) {
        fputs(" \\fI", out);
        put(out, arg);
        fputs("\\fR", out);
    }
    fputc('\n', out);
    put_line(out, about);
    lra_free(about);
}

static void head(FILE *out, const char *name, const char *summary)
{
    fputs(".TH ", out);
    put_upper(out, name);
    fprintf(out, " 1 \"\" \"lra\\-locality %s\" \"lra\\-locality\"\n.SH NAME\n", LRA_VERSION);
    put_page(out, name);
    fputs(" \\- ", out);
    put_line(out, summary);
    fputs(".SH SYNOPSIS\n", out);
}

static void print_program(const lra_program *p, FILE *out)
{
    head(out, p->name, p->summary);
    fputs("\\fB", out);
    put(out, p->name);
    fputs("\\fR \\fICOMMAND\\fR [\\fIoptions\\fR]\n.SH COMMANDS\n", out);
    for (int i = 0; p->at(i); i++) {
        fputs(".TP\n\\fB", out);
        put_page(out, p->at(i)->command->program);
        fputs("\\fR(1)\n", out);
        put_line(out, p->at(i)->summary);
    }
    put_lines(out, "EXAMPLES", p->examples);
    fputs(".SH EXIT STATUS\n", out);
    put_line(out, p->codes);
}

static void print_command(const lra_program *p, const lra_subcommand *s, FILE *out)
{
    const lra_command *c = s->command;
    char *page = lra_copy_text(c->program);
    for (char *at = page; *at; at++)
        if (*at == ' ') *at = '-';
    head(out, page, s->summary);
    fputs("\\fB", out);
    put(out, c->program);
    fputs("\\fR", out);
    if (*c->usage) {
        fputs(" \\fI", out);
        put(out, c->usage);
        fputs("\\fR", out);
    }
    if (!strstr(c->usage, "[options]")) fputs(" [\\fIoptions\\fR]", out);
    fputs("\n.SH DESCRIPTION\n", out);
    put_line(out, c->summary);
    fputs(".SH OPTIONS\n", out);
    const lra_option *o = lra_option_entry(c, 0);
    for (int i = 0; o; o = lra_option_entry(c, ++i)) put_option(out, o);
    fputs(".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nprint this help\n", out);
    if (c->notes) put_lines(out, "NOTES", c->notes);
    put_lines(out, "EXAMPLES", c->examples);
    fputs(".SH EXIT STATUS\n", out);
    put_line(out, p->codes);
    fputs(".SH SEE ALSO\n\\fB", out);
    put(out, p->name);
    fputs("\\fR(1)\n", out);
    lra_free(page);
}

void lra_manual_print(const lra_program *p, const lra_subcommand *s, FILE *out)
{
    if (s)
        print_command(p, s, out);
    else
        print_program(p, out);
}

static int write_page(const lra_program *p, const lra_subcommand *s, const char *folder, lra_err *e)
{
    char *path = lra_format("%s/%s%s%s.1", folder, p->name, s ? "-" : "", s ? s->name : "");
    lra_file *f = lra_file_create(path, e);
    if (f) lra_manual_print(p, s, lra_file_stream(f));
    int rc = f ? lra_file_commit(f, e) : LRA_FAILED;
    lra_free(path);
    return rc;
}

int lra_manual_write(const lra_program *p, const char *folder, lra_err *e)
{
    int n = 0, rc = lra_folder_make(folder, e);
    if (rc == 0) rc = write_page(p, NULL, folder, e);
    for (; rc == 0 && p->at(n); n++) rc = write_page(p, p->at(n), folder, e);
    if (rc == 0) lra_note("wrote %s/%s.1 and %d more", folder, p->name, n);
    return rc;
}
