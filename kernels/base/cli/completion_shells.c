/* Completion for zsh and fish, from the option tables. */
#include <ctype.h>
#include <string.h>

#include "kernels/base/cli/completion.h"

/* Writes text within single quotes of a shell; characters of `escaped` get a backslash. */
static void put_text(FILE *out, const char *text, const char *escaped)
{
    for (; *text; text++) {
        if (*text == '\'') {
            fputs("'\\''", out);
            continue;
        }
        if (strchr(escaped, *text)) fputc('\\', out);
        fputc(*text, out);
    }
}

/* Copies the words without a leading '@' to plain. Returns true if `wanted` is among the other
 * words. */
static bool split_words(const char *words, const char *wanted, lra_text *plain)
{
    bool found = false;
    for (const char *at = words; *at; at += strspn(at, " ")) {
        size_t n = strcspn(at, " ");
        if (*at != '@')
            lra_text_add(plain, "%s%.*s", plain->n ? " " : "", (int)n, at);
        else if (strlen(wanted) == n && strncmp(at, wanted, n) == 0)
            found = true;
        at += n;
    }
    return found;
}

/* ---- zsh ------------------------------------------------------------------------------------- */

static void zsh_action(const char *words, FILE *out)
{
    lra_text plain = {0};
    bool folders = split_words(words, "@folders", &plain);
    lra_text_free(&plain);
    bool files = split_words(words, "@files", &plain), runs = strstr(words, "@runs") != NULL;
    if (runs)
        fprintf(out, "{_files; compadd -- %s $(command ls lra-out/runs 2>/dev/null)}",
                plain.n ? plain.s : "");
    else if (folders || files)
        fputs(folders ? "_files -/" : "_files", out);
    else
        fprintf(out, "(%s)", plain.n ? plain.s : "");
    lra_text_free(&plain);
}

static void zsh_option(const lra_program *p, const lra_option *o, FILE *out)
{
    lra_text words = {0};
    lra_completion_values(p, o, &words);
    if (o->letter)
        fprintf(out, "            '(-%c --%s)'{-%c,--%s}'[", o->letter, o->name, o->letter,
                o->name);
    else
        fprintf(out, "            '%s--%s[", o->kind == LRA_OPTION_REPEAT ? "*" : "", o->name);
    put_text(out, o->help, "[]:\\");
    fputc(']', out);
    if (o->kind != LRA_OPTION_FLAG) {
        fprintf(out, ":%s:", lra_option_placeholder(o));
        zsh_action(words.n ? words.s : "", out);
    }
    fputs("' \\\n", out);
    lra_text_free(&words);
}

void lra_completion_zsh(const lra_program *p, FILE *out)
{
    fprintf(out,
            "#compdef %s\n# Completion for zsh, made by '%s help --completion zsh' from its option "
            "tables.\nlocal -a line\n_arguments -C '1: :((",
            p->name, p->name);
    for (int i = 0; p->at(i); i++) {
        fprintf(out, "%s%s\\:\"", i ? " " : "", p->at(i)->name);
        put_text(out, p->at(i)->summary, "\"():\\");
        fputc('"', out);
    }
    fputs("))' '*::argument:->arguments'\ncase $line[1] in\n", out);
    for (int i = 0; p->at(i); i++) {
        const lra_command *c = p->at(i)->command;
        lra_text words = {0};
        lra_completion_words(p, c->usage, &words);
        fprintf(out, "    %s)\n        _arguments \\\n", p->at(i)->name);
        for (int k = 0; lra_option_entry(c, k); k++) zsh_option(p, lra_option_entry(c, k), out);
        fputs("            '--help[print this help]'", out);
        if (words.n) {
            fputs(" \\\n            '*:argument:", out);
            zsh_action(words.s, out);
            fputc('\'', out);
        }
        fputs(" ;;\n", out);
        lra_text_free(&words);
    }
    fputs("esac\n", out);
}

/* ---- fish ------------------------------------------------------------------------------------ */

/* Writes the arguments of fish's complete for candidate words: " -x -a 'a b c'"; -F if files are
 * candidates, otherwise -f or -x. */
static void fish_words(const char *words, bool exclusive, FILE *out)
{
    lra_text plain = {0};
    bool folders = split_words(words, "@folders", &plain);
    lra_text_free(&plain);
    bool files = split_words(words, "@files", &plain), runs = strstr(words, "@runs") != NULL;
    fputs(files || runs ? " -r -F" : exclusive ? " -x" : " -f", out);
    if (plain.n || folders || runs)
        fprintf(out, " -a '%s%s%s'", plain.n ? plain.s : "",
                folders ? " (__fish_complete_directories)" : "",
                runs ? " (command ls lra-out/runs 2>/dev/null)" : "");
    lra_text_free(&plain);
}

static void fish_command(const lra_program *p, const lra_subcommand *s, FILE *out)
{
    const lra_command *c = s->command;
    char *line = lra_format("complete -c %s -n '__fish_seen_subcommand_from %s'", p->name, s->name);
    for (int i = 0; lra_option_entry(c, i); i++) {
        const lra_option *o = lra_option_entry(c, i);
        lra_text words = {0};
        lra_completion_values(p, o, &words);
        fprintf(out, "%s -l %s", line, o->name);
        if (o->letter) fprintf(out, " -s %c", o->letter);
        if (o->kind != LRA_OPTION_FLAG) fish_words(words.n ? words.s : "", true, out);
        fputs(" -d '", out);
        put_text(out, o->help, "\\");
        fputs("'\n", out);
        lra_text_free(&words);
    }
    lra_text words = {0};
    lra_completion_words(p, c->usage, &words);
    if (words.n) {
        fputs(line, out);
        fish_words(words.s, false, out);
        fputc('\n', out);
    }
    lra_text_free(&words);
    lra_free(line);
}

void lra_completion_fish(const lra_program *p, FILE *out)
{
    fprintf(out,
            "# Completion for fish, made by '%s help --completion fish' from its option tables.\n"
            "complete -c %s -f\ncomplete -c %s -l help -s h -d 'print this help'\n",
            p->name, p->name, p->name);
    for (int i = 0; p->at(i); i++) {
        fprintf(out, "complete -c %s -n __fish_use_subcommand -f -a %s -d '", p->name,
                p->at(i)->name);
        put_text(out, p->at(i)->summary, "\\");
        fputs("'\n", out);
    }
    for (int i = 0; p->at(i); i++) fish_command(p, p->at(i), out);
}
