/* Finds layouts, and the settings and published values of their cells (layout.h). */
#include "reports/papers/layout.h"

#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/papers/layout_row.h"
#include "reports/results/published.h"

static const lra_paper *const papers[] = {
#define LRA_PAPER(name) &lra_paper_##name,
#include "reports/papers/papers.def"
#undef LRA_PAPER
};
enum { N_PAPERS = sizeof papers / sizeof *papers };

const lra_layout *lra_layout_at(int i)
{
    for (int p = 0; p < N_PAPERS && i >= 0; p++)
        for (const lra_layout *l = papers[p]->layout; l->id; l++)
            if (i-- == 0) return l;
    return NULL;
}

const lra_layout *lra_layout_find(const char *id)
{
    const lra_layout *l = NULL;
    for (int i = 0; (l = lra_layout_at(i)) != NULL; i++)
        if (strcmp(l->id, id) == 0) break;
    return l;
}

const char *lra_layout_paper(const char *paper)
{
    for (int p = 0; p < N_PAPERS; p++)
        if (strcmp(papers[p]->name, paper) == 0) return papers[p]->title;
    return paper;
}

/* ---- settings -------------------------------------------------------------------------------- */

static bool has_word(const char *words, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = words ? words : ""; *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        if (length == n && strncmp(at, word, n) == 0) return true;
        at += length;
    }
    return false;
}

/* Length of the conditions at the start of a word, "paper:image:" of "paper:image:width=512"; -1 if
 * a condition is false. */
static int conditions_of(const char *word, bool paper, const char *task)
{
    int used = 0;
    for (;;) {
        int n = (int)strcspn(word + used, ":= ");
        if (word[used + n] != ':') return used;
        bool holds = n == 5 && strncmp(word + used, "paper", 5) == 0
                         ? paper
                         : (int)strlen(task) == n && strncmp(word + used, task, (size_t)n) == 0;
        if (!holds) return -1;
        used += n + 1;
    }
}

/* Sets the words whose conditions hold; later words replace earlier ones. */
static void set_words(lra_config *c, const char *words, bool paper, const char *task)
{
    for (const char *at = words ? words : ""; *at;) {
        int length = (int)strcspn(at, " "), used = conditions_of(at, paper, task);
        if (used >= 0 && length > 0) {
            int key = (int)strcspn(at + used, "=");
            char *name = lra_format("%.*s", key, at + used);
            char *value = lra_format("%.*s", length - used - key - 1, at + used + key + 1);
            lra_config_set(c, name, value);
            lra_free(name);
            lra_free(value);
        }
        at += length;
        at += strspn(at, " ");
    }
}

/* Task of a column as lra_published() expects it. The caller frees it. */
static char *task_of(const lra_layout_column *c)
{
    const char *task = strstr(c->settings, "task=");
    if (c->published) return lra_copy_text(c->published);
    task = task ? task + strlen("task=") : "";
    return lra_format("%.*s", (int)strcspn(task, " "), task);
}

static bool is_trained(const lra_layout_row *r, const lra_layout_column *c)
{
    char *task = task_of(c);
    bool trained = r->settings && !has_word(r->without, task);
    lra_free(task);
    return trained;
}

lra_config *lra_layout_settings(const lra_layout *l, int row, int column, const char *preset,
                                const char **why)
{
    const lra_layout_row *r = &l->row[row];
    bool trained = is_trained(r, &l->column[column]);
    if (why) *why = trained ? NULL : r->why;
    if (!trained) return NULL;
    lra_config *c = lra_config_new();
    set_words(c, l->column[column].settings, true, "");
    set_words(c, r->settings, true, "");
    char *task = lra_copy_text(lra_config_text_or(c, "task", ""));
    const char *used = preset ? preset : lra_config_text_or(c, "preset", "paper");
    bool paper = strncmp(used, "paper", 5) == 0;
    lra_config_free(c);
    c = lra_config_new();
    set_words(c, l->column[column].settings, paper, task);
    set_words(c, r->settings, paper, task);
    if (preset) lra_config_set(c, "preset", preset);
    lra_free(task);
    return c;
}

bool lra_layout_is_derived(const lra_layout *l, int column)
{
    int c = 0;
    while (c < column && strcmp(l->column[c].settings, l->column[column].settings) != 0) c++;
    return c < column;
}

/* ---- published values ------------------------------------------------------------------------ */

double lra_layout_published(const lra_layout *l, int row, int column)
{
    const lra_layout_row *r = &l->row[row];
    if (!l->table || !r->model) return NAN;
    char *task = task_of(&l->column[column]);
    double x = lra_published(l->paper, l->table, r->model, r->variant, task,
                             l->column[column].metric);
    lra_free(task);
    return x;
}

double lra_layout_published_average(const lra_layout *l, int row)
{
    const lra_layout_row *r = &l->row[row];
    if (!l->table || !r->model || l->average.rule == LRA_AVERAGE_NONE) return NAN;
    return lra_published(l->paper, l->table, r->model, r->variant, l->average.published,
                         l->column[0].metric);
}

double lra_layout_average(const lra_layout *l, int row)
{
    double sum = 0;
    int n = 0;
    for (int c = 0; c < l->average.over; c++) {
        double x = lra_layout_published(l, row, c);
        if (isnan(x) && l->average.rule == LRA_AVERAGE_CHANCE) x = 50;
        if (isnan(x)) continue;
        sum += x, n++;
    }
    return n > 0 && l->average.rule != LRA_AVERAGE_NONE ? sum / n : NAN;
}
