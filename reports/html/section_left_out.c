/* Lists the parts that the page lacks, and the reasons. */
#include <math.h>
#include <string.h>

#include "reports/html/escape.h"
#include "reports/html/facts.h"
#include "reports/results/load_files.h"

/* True if a file states why it has no part of this name. */
static bool is_told(const lra_page *p, const char *part)
{
    size_t size = strlen(part);
    for (int i = 0; i < p->all->n_probes; i++)
        for (const char *at = p->all->probes[i]->left_out; at && *at; at = strchr(at, '\n')) {
            at += *at == '\n';
            if (strncmp(at, part, size) == 0 && at[size] == ':') return true;
        }
    return false;
}

/* Command that makes the results of a section. The caller frees it. */
static char *command_of(const lra_page *p, const lra_page_section *s)
{
    bool part = s == &lra_section_attention || s == &lra_section_kernels;
    return part && lra_page_is_audit(p) ? lra_format("lra-probe audit --parts %s", s->id)
                                        : lra_copy_text(s->command);
}

/* Adds the kinds of results that no file holds, with the command that makes them. */
static void add_missing_kinds(lra_page *p)
{
    for (int i = 0; lra_page_section_at(i); i++) {
        const lra_page_section *s = lra_page_section_at(i);
        const lra_page_tables *made = lra_page_tables_of(p, s);
        bool listops = s == &lra_section_listops, any = false;
        if (!s->command || made->n != 0) continue;
        for (int k = 0; k < p->all->n; k++)
            any = any || strcmp(p->all->list[k]->task, "listops") == 0;
        if ((listops && !any) || is_told(p, s->id)) continue;
        char *command = command_of(p, s);
        char *why = lra_format("no results of this kind in the given folders; '%s' makes them",
                               command);
        lra_free(command);
        lra_page_leave_out(p, s->title, why);
        lra_free(why);
    }
}

/* Counts the measurements of a result that have no value, and adds their parts. */
static int count_undefined(const lra_probe_result *r, lra_word_set *parts)
{
    int n = 0;
    for (int u = 0; u < r->n_units; u++)
        for (int k = 0; k < r->unit[u]->n_measurements; k++) {
            const char *unit = r->unit[u]->name;
            if (!isnan(r->unit[u]->measurement[k].value)) continue;
            char *part = lra_format("%.*s", (int)strcspn(unit, "."), unit);
            lra_words_add(parts, part);
            lra_free(part);
            n++;
        }
    return n;
}

/* Adds the number of measurements without a value for each model and probe, over all seeds. */
static void add_undefined(lra_page *p)
{
    int n_probes = p->all->n_probes;
    lra_probe_result *const *list = p->all->probes;
    for (int i = 0; i < n_probes; i++) {
        lra_word_set parts = {0};
        int n = 0, first = 1;
        for (int k = 0; k < n_probes; k++) {
            bool same = strcmp(list[k]->model, list[i]->model) == 0 &&
                        strcmp(list[k]->task, list[i]->task) == 0 &&
                        strcmp(list[k]->probe, list[i]->probe) == 0;
            first = first && !(same && k < i);
            n += same ? count_undefined(list[k], &parts) : 0;
        }
        if (n && first && strcmp(list[i]->probe, "information") != 0) {
            char *names = lra_words_join(&parts, 6);
            char *what = lra_format("%d measurement%s of %s on %s (%s)", n, n == 1 ? "" : "s",
                                    list[i]->model, list[i]->task, list[i]->probe);
            char *why = lra_format(
                "undefined, in %s; a gain is undefined if the model is not clearly "
                "above chance on the measured examples, or if they have no labels",
                names);
            lra_page_leave_out(p, what, why);
            lra_free(names);
            lra_free(what);
            lra_free(why);
        }
        lra_word_set_free(&parts);
    }
}

static void write(lra_page *p, lra_text *to)
{
    for (int i = 0; lra_files_left_out(i); i++)
        lra_page_leave_out(p, "A file that cannot be read", lra_files_left_out(i));
    add_undefined(p);
    add_missing_kinds(p);
    if (!p->left_out.n) return;
    lra_text_add(to, "<ul class=\"left-out\">\n%s</ul>\n", p->left_out.s);
}

const lra_page_section lra_section_left_out = {
    .id = "left-out", .title = "Sections left out, and why", .write = write};
