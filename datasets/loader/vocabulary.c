/* Prints rows in the words of an import's vocabulary. */
#include "datasets/loader/vocabulary.h"

#include <string.h>

#include "kernels/base/core/mem.h"

/* Returns the starts of the lines of d->words: (d->vocab) pointers, NULL where lines are
 * missing. */
static const char **find_lines(const lra_dataset *d)
{
    const char **line = lra_alloc_array((size_t)d->vocab + 1, sizeof *line), *at = d->words;
    for (int i = 0; i < d->vocab && at && *at; i++) {
        line[i] = at;
        at = strchr(at, '\n');
        if (at) at++;
    }
    return line;
}

static void put_word(const char *word, FILE *out)
{
    for (; *word && *word != '\n'; word++) {
        char s = *word;
        if (s == '\\' && word[1]) s = *++word == 'n' ? '\n' : *word == '0' ? 0 : *word;
        fputc(((unsigned char)s < ' ' && s != '\n' && s != '\t') || s == 127 ? '?' : s, out);
    }
}

void lra_vocabulary_show(const lra_dataset *d, const lra_row *row, int64_t most, FILE *out)
{
    const char **line = find_lines(d);
    bool spaced = d->task->goal == LRA_GOAL_NEXT;
    int64_t n = row->n < most ? row->n : most;
    for (int64_t i = 0; i < n; i++) {
        int64_t id = lra_token_at(row->token, row->width, i);
        const char *word = id < d->vocab ? line[id] : NULL;
        bool end = word && strncmp(word, "<eos>\n", 6) == 0;
        if (i > 0 && i == row->middle) fputs("----\n", out);
        if (end)
            fputc('\n', out);
        else if (word)
            put_word(word, out);
        if (spaced && !end) fputc(' ', out);
    }
    fputs(n < row->n ? "...\n" : "\n", out);
    lra_free(line);
}
