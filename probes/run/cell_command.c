/* Builds the command line of a run from options (cell_command.h). */
#include "probes/run/cell_command.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/os/shell.h"
#include "probes/run/job_options.h"

enum { MIB = 1 << 20 };

void lra_command_words_add(lra_command_words *w, char *word)
{
    w->word = lra_resize(w->word, (size_t)(w->n + 2) * sizeof *w->word);
    w->word[w->n++] = word;
    w->word[w->n] = NULL;
}

void lra_command_words_free(lra_command_words *w)
{
    for (int i = 0; i < w->n; i++) lra_free(w->word[i]);
    lra_free(w->word);
    *w = (lra_command_words){0};
}

char *lra_command_words_line(const lra_command_words *w, lra_err *e)
{
    lra_text t = {0};
    lra_text_add(&t, "%s", "");
    for (int i = 0; i < w->n; i++) {
        for (const char *at = w->word[i]; *at; at++)
            if (iscntrl((unsigned char)*at)) {
                lra_fail(e, "'%s' contains a control character; expected text of one line",
                         w->word[i]);
                lra_text_free(&t);
                return NULL;
            }
        char *word = lra_shell_word(w->word[i]);
        lra_text_add(&t, "%s%s", i > 0 ? " " : "", word);
        lra_free(word);
    }
    return t.s;
}

static bool is_among(const char *const *names, const char *name)
{
    while (names && *names && strcmp(*names, name) != 0) names++;
    return names && *names;
}

static void add_option(lra_command_words *w, const lra_options *o, const lra_option *row)
{
    const char *name = row->name;
    switch (row->kind) {
    case LRA_OPTION_TEXT:
    case LRA_OPTION_CHOICE:
        if (lra_option_text(o, name))
            lra_command_words_add(w, lra_format("--%s=%s", name, lra_option_text(o, name)));
        break;
    case LRA_OPTION_INT:
        if (row->value) /* --memory has no default value and is left out */
            lra_command_words_add(w, lra_format("--%s=%" PRId64, name, lra_option_int(o, name)));
        break;
    case LRA_OPTION_REAL:
        lra_command_words_add(w, lra_format("--%s=%.17g", name, lra_option_real(o, name)));
        break;
    case LRA_OPTION_FLAG:
        if (lra_option_flag(o, name)) lra_command_words_add(w, lra_format("--%s", name));
        break;
    case LRA_OPTION_REPEAT:
        for (int i = 0; lra_option_repeat(o, name, i); i++)
            lra_command_words_add(w, lra_format("--%s=%s", name, lra_option_repeat(o, name, i)));
        break;
    case LRA_OPTION_INTS: LRA_BUG("unknown option of a run: '%s'", name);
    }
}

void lra_command_words_add_given(lra_command_words *w, const lra_options *o,
                                 const lra_option *table, const char *const *except)
{
    for (const lra_option *row = table; row->name; row++)
        if (lra_option_given(o, row->name) && !is_among(except, row->name)) add_option(w, o, row);
}

void lra_cell_command(lra_command_words *w, const lra_options *o, const char *const *except)
{
    lra_command_words_add(w, lra_copy_text("lra-probe"));
    lra_command_words_add(w, lra_copy_text("train"));
    for (const lra_option *row = lra_job_options; row->name; row++)
        if (!is_among(except, row->name)) add_option(w, o, row);
}

void lra_cell_command_end(lra_command_words *w, int64_t seed, double memory)
{
    lra_command_words_add(w, lra_format("--seed=%" PRId64, seed));
    if (memory > 0) lra_command_words_add(w, lra_format("--memory=%.0f", memory / MIB));
    lra_command_words_add(w, lra_copy_text("--quiet"));
}
