/* Names and counts of the results of a page (facts.h). */
#include "reports/html/facts.h"

#include <inttypes.h>
#include <string.h>

#include "reports/html/escape.h"
#include "reports/results/result_metric.h"
#include "reports/views/model_names.h"

/* ---- sets of words --------------------------------------------------------------------------- */

void lra_words_add(lra_word_set *s, const char *text)
{
    for (int i = 0; i < s->n; i++)
        if (strcmp(s->text[i], text) == 0) return;
    if ((s->n & (s->n - 1)) == 0)
        s->text = lra_resize(s->text, (2 * (size_t)s->n + 1) * sizeof *s->text);
    s->text[s->n++] = lra_copy_text(text);
}

void lra_word_set_free(lra_word_set *s)
{
    for (int i = 0; i < s->n; i++) lra_free(s->text[i]);
    lra_free(s->text);
    *s = (lra_word_set){0};
}

char *lra_words_join(const lra_word_set *s, int most)
{
    lra_text t = {0};
    int shown = s->n > most ? most : s->n, more = s->n - shown;
    lra_text_add(&t, "%s", "");
    for (int i = 0; i < shown; i++) {
        bool last = i + 1 == shown && more == 0;
        lra_text_add(&t, "%s%s", i == 0 ? "" : last ? " and " : ", ", s->text[i]);
    }
    if (more) lra_text_add(&t, " and %d more", more);
    return t.s;
}

/* ---- results --------------------------------------------------------------------------------- */

static void add_model(lra_word_set *to, const char *model, const char *config)
{
    char *name = lra_model_shown(model, model, config ? config : "");
    lra_words_add(to, strncmp(name, "user.", 5) == 0 ? name + 5 : name);
    lra_free(name);
}

void lra_page_models(const lra_page *p, lra_word_set *to)
{
    const lra_report_input *in = p->all;
    for (int i = 0; i < in->n; i++) add_model(to, in->list[i]->model, in->list[i]->config);
    for (int i = 0; i < in->n_probes; i++)
        if (strcmp(in->probes[i]->probe, "information") != 0)
            add_model(to, in->probes[i]->model, in->probes[i]->config);
    for (int i = 0; i < in->n_listops; i++) add_model(to, in->listops[i]->model, "");
}

void lra_page_tasks(const lra_page *p, lra_word_set *to)
{
    const lra_report_input *in = p->all;
    for (int i = 0; i < in->n; i++) lra_words_add(to, in->list[i]->task);
    for (int i = 0; i < in->n_probes; i++) lra_words_add(to, in->probes[i]->task);
    for (int i = 0; i < in->n_listops; i++) lra_words_add(to, in->listops[i]->task);
}

void lra_page_seeds(const lra_page *p, int *least, int *most)
{
    lra_result_group *group;
    int n = lra_results_group(p->all->list, p->all->n, &group);
    *least = *most = 0;
    for (int i = 0; i < n; i++) {
        if (i == 0 || group[i].n < *least) *least = group[i].n;
        if (group[i].n > *most) *most = group[i].n;
    }
    lra_result_groups_free(group, n);
}

bool lra_page_is_audit(const lra_page *p)
{
    const lra_report_input *in = p->all;
    bool audit = in->n + in->n_probes > 0 && in->n_listops == 0;
    for (int i = 0; i < in->n; i++) audit = audit && !strncmp(in->list[i]->model, "user.", 5);
    for (int i = 0; i < in->n_probes; i++)
        audit = audit && !strncmp(in->probes[i]->model, "user.", 5);
    return audit;
}

char *lra_page_value(const char *lines, const char *key)
{
    size_t size = strlen(key);
    for (const char *at = lines ? lines : ""; *at;) {
        size_t n = strcspn(at, "\n");
        if (n > size && strncmp(at, key, size) == 0 && at[size] == '=')
            return lra_format("%.*s", (int)(n - size - 1), at + size + 1);
        at += n + (at[n] == '\n');
    }
    return NULL;
}

char *lra_page_title(const lra_page *p)
{
    lra_word_set models = {0}, tasks = {0};
    lra_page_models(p, &models);
    lra_page_tasks(p, &tasks);
    char *task = lra_words_join(&tasks, 3), *title;
    if (p->headline == &lra_section_ladder || p->headline == &lra_section_sweep)
        title = lra_format("Reach that %s need%s", task, tasks.n == 1 ? "s" : "");
    else if (models.n == 0)
        title = lra_format("Locality of the data of %s", task);
    else if (models.n == 1)
        title = lra_format("Locality of %s on %s", models.text[0], task);
    else
        title = lra_format("Locality of %d models on %s", models.n, task);
    lra_free(task);
    lra_word_set_free(&models);
    lra_word_set_free(&tasks);
    return title;
}

/* ---- facts below the title ------------------------------------------------------------------- */

static void add_fact(lra_text *to, const char *term, char *text)
{
    if (*text) {
        lra_text_add(to, "<div><dt>%s</dt>", term);
        lra_html_wrap(to, "<dd>", text, "</dd></div>\n");
    }
    lra_free(text);
}

static char *range(int64_t least, int64_t most, const char *unit)
{
    if (most == 0) return lra_copy_text("");
    if (least == most) return lra_format("%" PRId64 "%s", most, unit);
    return lra_format("%" PRId64 " to %" PRId64 "%s", least, most, unit);
}

static char *examples_text(const lra_page *p)
{
    int64_t least = 0, most = 0;
    for (int i = 0; i < p->all->n; i++) {
        int64_t n = p->all->list[i]->n;
        if (i == 0 || n < least) least = n;
        if (n > most) most = n;
    }
    return range(least, most, "");
}

static char *length_text(const lra_page *p)
{
    int64_t least = 0, most = 0;
    for (int i = 0; i < p->all->n; i++) {
        int64_t n = p->all->list[i]->max_length;
        if (i == 0 || n < least) least = n;
        if (n > most) most = n;
    }
    return range(least, most, " tokens");
}

static char *newest_date(const lra_page *p)
{
    const char *newest = "";
    for (int i = 0; i < p->all->n; i++) {
        const char *d = p->all->list[i]->origin.date;
        if (d && strcmp(d, newest) > 0) newest = d;
    }
    for (int i = 0; i < p->all->n_probes; i++) {
        const char *d = p->all->probes[i]->origin.date;
        if (d && strcmp(d, newest) > 0) newest = d;
    }
    return lra_format("%.10s", newest);
}

void lra_page_add_facts(const lra_page *p, lra_text *to)
{
    lra_word_set models = {0}, tasks = {0}, data = {0};
    int least, most;
    lra_page_models(p, &models);
    lra_page_tasks(p, &tasks);
    lra_page_seeds(p, &least, &most);
    for (int i = 0; i < p->all->n; i++) lra_words_add(&data, p->all->list[i]->fingerprint);
    for (int i = 0; i < p->all->n_probes; i++) lra_words_add(&data, p->all->probes[i]->fingerprint);
    lra_text_add(to, "<dl class=\"facts\">\n");
    add_fact(to, models.n == 1 ? "Model" : "Models", lra_words_join(&models, 6));
    add_fact(to, tasks.n == 1 ? "Task" : "Tasks", lra_words_join(&tasks, 6));
    add_fact(to, "Seeds", range(least, most, ""));
    add_fact(to, "Test examples", examples_text(p));
    add_fact(to, "Longest example", length_text(p));
    add_fact(to, "Data", lra_words_join(&data, 1));
    add_fact(to, "Results of", newest_date(p));
    lra_text_add(to, "</dl>\n");
    lra_word_set_free(&models);
    lra_word_set_free(&tasks);
    lra_word_set_free(&data);
}
