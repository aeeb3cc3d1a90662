/* Shell completion: candidate words at the cursor, computed from the option tables.
 *
 * Choices, placeholders and usages have one format. Words in lower case are literal
 * ("tasks|models"). A placeholder is expanded: DIR to folders; FILE, PATH and RESULT to files; RUN
 * to the runs below --out; COMMAND to the commands; any other placeholder to the program's own
 * words ("TASK"). */
#include <ctype.h>
#include <string.h>

#include "kernels/base/cli/completion.h"

/* Start of the completion function for bash, before the cases of the commands. %s: name of the
 * function. */
static const char before[] =
    "{\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} out=lra-out\n"
    "    local options arguments values= i\n"
    "    COMPREPLY=()\n"
    "    # \"--name=value\" arrives as three words.\n"
    "    if [[ $cur == = ]]; then\n"
    "        cur=\n"
    "    elif [[ $prev == = ]]; then\n"
    "        prev=${COMP_WORDS[COMP_CWORD-2]}\n"
    "        [[ $prev == -* ]] || return 0\n"
    "    fi\n"
    "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
    "        [[ ${COMP_WORDS[i]} == --out || ${COMP_WORDS[i]} == -o ]] || continue\n"
    "        out=${COMP_WORDS[i+1]}\n"
    "        [[ $out != = ]] || out=${COMP_WORDS[i+2]}\n"
    "    done\n"
    "    if ((COMP_CWORD == 1)); then\n"
    "        values=$commands\n"
    "    else\n"
    "        _PROGRAM_command \"${COMP_WORDS[1]}\" \"$prev\"\n"
    "    fi\n"
    "    if [[ -z $values ]]; then\n"
    "        if [[ $cur == -* ]]; then values=$options; else values=$arguments; fi\n"
    "    fi\n"
    "    for i in $values; do\n"
    "        case $i in\n"
    "            @any) ;;\n"
    "            @files) _PROGRAM_paths -f ;;\n"
    "            @folders) _PROGRAM_paths -d ;;\n"
    "            @runs)\n"
    "                _PROGRAM_paths -f\n"
    "                mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(\n"
    "                    compgen -W \"$(command ls \"$out/runs\" 2>/dev/null)\" -- \"$cur\") ;;\n"
    "            \"$cur\"*)\n"
    "                COMPREPLY+=(\"$i\")\n"
    "                [[ $i != *= ]] || compopt -o nospace 2>/dev/null ;;\n"
    "        esac\n"
    "    done\n"
    "    return 0\n"
    "}\n"
    "_PROGRAM_paths()\n"
    "{\n"
    "    compopt -o filenames 2>/dev/null\n"
    "    mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen \"$1\" -- \"$cur\")\n"
    "}\n";

/* Writes the text with PROGRAM replaced by a name that bash allows for a function. */
static void put_script(FILE *out, const char *text, const char *program)
{
    for (const char *at = text; *at; at++) {
        if (strncmp(at, "PROGRAM", 7) != 0) {
            fputc(*at, out);
            continue;
        }
        for (const char *c = program; *c; c++) fputc(isalnum((unsigned char)*c) ? *c : '_', out);
        at += 6;
    }
}

/* Appends the words that a placeholder expands to, if it is known. */
static void add_placeholder(const lra_program *p, const char *name, lra_text *to)
{
    static const char *const known[][2] = {{"DIR", "@folders"},
                                           {"FILE", "@files"},
                                           {"PATH", "@files"},
                                           {"RESULT", "@files"},
                                           {"RUN", "@runs"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i][0]) == 0) {
            lra_text_add(to, "%s ", known[i][1]);
            return;
        }
    if (strcmp(name, "COMMAND") != 0) p->words(name, to);
    for (int i = 0; strcmp(name, "COMMAND") == 0 && p->at(i); i++)
        lra_text_add(to, "%s ", p->at(i)->name);
}

void lra_completion_words(const lra_program *p, const char *usage, lra_text *to)
{
    static const char between[] = " []|.";
    for (const char *at = usage + strspn(usage, between); *at; at += strspn(at, between)) {
        size_t n = strcspn(at, between);
        char *word = lra_format("%.*s", (int)n, at);
        if (!isupper((unsigned char)*word))
            lra_text_add(to, "%s ", word);
        else
            add_placeholder(p, word, to);
        lra_free(word);
        at += n;
    }
}

/* Writes the text in single quotes, without the blank at its end. */
static void put_quoted(FILE *out, const lra_text *t)
{
    size_t n = t->n;
    if (n && t->s[n - 1] == ' ') n--;
    fprintf(out, "'%.*s'", (int)n, t->s ? t->s : "");
}

void lra_completion_values(const lra_program *p, const lra_option *o, lra_text *to)
{
    if (o->kind == LRA_OPTION_FLAG) return;
    lra_completion_words(p, o->kind == LRA_OPTION_CHOICE ? o->choices : o->arg ? o->arg : "", to);
}

/* Writes the case of an option that takes a value: "--task|-t) values='listops ...' ;;". */
static void put_values(const lra_program *p, const lra_option *o, FILE *out)
{
    lra_text t = {0};
    if (o->kind == LRA_OPTION_FLAG) return;
    lra_completion_values(p, o, &t);
    if (!t.n) lra_text_add(&t, "@any");
    fprintf(out, "                --%s", o->name);
    if (o->letter) fprintf(out, "|-%c", o->letter);
    fputs(") values=", out);
    put_quoted(out, &t);
    fputs(" ;;\n", out);
    lra_text_free(&t);
}

static void put_command(const lra_program *p, const lra_subcommand *s, FILE *out)
{
    const lra_command *c = s->command;
    lra_text options = {0}, arguments = {0};
    for (int i = 0; lra_option_entry(c, i); i++)
        lra_text_add(&options, "--%s ", lra_option_entry(c, i)->name);
    lra_text_add(&options, "--help");
    lra_completion_words(p, c->usage, &arguments);
    fprintf(out, "        %s)\n            options=", s->name);
    put_quoted(out, &options);
    fputs("\n            arguments=", out);
    put_quoted(out, &arguments);
    fputs("\n            case $2 in\n", out);
    for (int i = 0; lra_option_entry(c, i); i++) put_values(p, lra_option_entry(c, i), out);
    fputs("            esac ;;\n", out);
    lra_text_free(&options);
    lra_text_free(&arguments);
}

void lra_completion_print(const lra_program *p, FILE *out)
{
    fprintf(out,
            "# Completion for bash, made by '%s help --completion bash' from its option tables.\n",
            p->name);
    put_script(out, "_PROGRAM()\n", p->name);
    lra_text commands = {0};
    for (int i = 0; p->at(i); i++) lra_text_add(&commands, "%s ", p->at(i)->name);
    lra_text_add(&commands, "--help --version");
    fputs("{\n    local commands=", out);
    put_quoted(out, &commands);
    fputc('\n', out);
    put_script(out, before + 2, p->name);
    put_script(
        out,
        "# Completions for command $1 after option $2.\n_PROGRAM_command()\n{\n    case $1 in\n",
        p->name);
    for (int i = 0; p->at(i); i++) put_command(p, p->at(i), out);
    put_script(out, "    esac\n}\ncomplete -F _PROGRAM ", p->name);
    fprintf(out, "%s\n", p->name);
    lra_text_free(&commands);
}
