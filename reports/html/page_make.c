/* Makes the HTML page of a report (page_make.h). */
#include "reports/html/page_make.h"

#include <math.h>
#include <string.h>

#include "reports/html/escape.h"
#include "reports/html/facts.h"
#include "reports/html/page.h"

/* ---- input ----------------------------------------------------------------------------------- */

/* Number of results of a source. */
static int count(const lra_report_input *in)
{
    return in->n + in->n_probes + in->n_listops + in->n_tunings;
}

/* Divides the probe results by their probe. The lists belong to the page, the results to `all`. */
static void divide(lra_page *p)
{
    static const struct {
        lra_report_source source;
        const char *probe;
    } kind[] = {{LRA_FROM_KERNELS, "kernels"},
                {LRA_FROM_ATTENTION, "attention"},
                {LRA_FROM_INFLUENCE, "influence"},
                {LRA_FROM_INFORMATION, "information"}};
    const lra_report_input *all = p->all;
    p->source[LRA_FROM_RESULTS] = (lra_report_input){
        .list = all->list, .n = all->n, .scale = all->scale};
    p->source[LRA_FROM_TUNING] = (lra_report_input){.tunings = all->tunings,
                                                    .n_tunings = all->n_tunings,
                                                    .tuned = all->tuned,
                                                    .n_tuned = all->n_tuned};
    p->source[LRA_FROM_LISTOPS] = (lra_report_input){.listops = all->listops,
                                                     .n_listops = all->n_listops};
    lra_report_input *both = &p->source[LRA_FROM_RESULTS_AND_PROBES];
    *both = p->source[LRA_FROM_RESULTS];
    lra_probe_result **of_runs = lra_alloc_array((size_t)all->n_probes + 1, sizeof *of_runs);
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++) {
        lra_probe_result **list = lra_alloc_array((size_t)all->n_probes + 1, sizeof *list);
        lra_report_input *to = &p->source[kind[k].source];
        for (int i = 0; i < all->n_probes; i++) {
            if (strcmp(all->probes[i]->probe, kind[k].probe) != 0) continue;
            list[to->n_probes++] = all->probes[i];
            if (kind[k].source != LRA_FROM_INFORMATION) of_runs[both->n_probes++] = all->probes[i];
        }
        to->probes = list;
    }
    both->probes = of_runs;
}

/* True if the verdict of section i can be the verdict of the page. That of the comparison states
 * numbers of models, so that several models and measurements of them are required. */
static bool has_headline(const lra_page *p, int i)
{
    const lra_page_tables *made = &p->tables[i];
    if (made->n <= 0 || made->list[0]->verdict.n == 0) return false;
    if (lra_page_section_at(i) != &lra_section_comparison) return true;
    return p->source[LRA_FROM_RESULTS_AND_PROBES].n_probes > 0 && made->list[0]->n_rows > 1 &&
           made->list[0]->verdict.n > 1;
}

/* Number of rungs in the table of a ladder: rows with a reach. */
static int count_rungs(const lra_table *t)
{
    int n = 0;
    for (int c = 0; c < t->n_columns; c++)
        for (int r = 0; r < t->n_rows && strcmp(t->key[c], "reach") == 0; r++)
            n += isfinite(t->cell[r][c].x);
    return n;
}

/* Removes ladders of one rung: single runs of a model with a bounded reach. */
static void remove_single_rungs(lra_page_tables *made)
{
    int n = 0;
    for (int i = 0; i < made->n; i++)
        if (count_rungs(made->list[i]) > 1)
            made->list[n++] = made->list[i];
        else
            lra_table_free(made->list[i]);
    if (made->n > 0 && n == 0) lra_free(made->list);
    if (made->n > 0) made->n = n;
}

static void make_tables(lra_page *p)
{
    for (int i = 0; lra_page_section_at(i); i++) {
        const lra_report_table *t = lra_page_section_at(i)->table;
        lra_page_tables *to = &p->tables[i];
        if (!t || count(&p->source[t->source]) == 0) continue;
        if (t->source == LRA_FROM_RESULTS_AND_PROBES && p->source[t->source].n == 0) continue;
        to->n = lra_report_make(t, &p->source[t->source], "html", &to->list, &to->why);
        if (lra_page_section_at(i) == &lra_section_ladder) remove_single_rungs(to);
    }
    for (int rank = 1; rank <= LRA_PAGE_SECTIONS && !p->headline; rank++)
        for (int i = 0; lra_page_section_at(i) && !p->headline; i++)
            if (lra_page_section_at(i)->rank == rank && has_headline(p, i))
                p->headline = lra_page_section_at(i);
}

static void close_page(lra_page *p)
{
    for (int i = 0; lra_page_section_at(i); i++)
        if (p->tables[i].n > 0) lra_tables_free(p->tables[i].list, p->tables[i].n);
    for (int i = 0; i < LRA_PAGE_SOURCES; i++) lra_free((void *)(uintptr_t)p->source[i].probes);
    lra_svg_colors_free(&p->colors);
    lra_text_free(&p->left_out);
    lra_text_free(&p->data);
}

/* A section of a table and its figures. */
static void write_tables(lra_page *p, const lra_page_section *s, const lra_page_tables *made,
                         lra_text *to)
{
    if (made->n <= 0) return;
    if (s->how_to_read) lra_page_paragraph(to, "", s->how_to_read);
    if (s->null_value) lra_html_wrap(to, "<p><b>Null value.</b> ", s->null_value, "</p>\n");
    lra_page_add_tables(p, to, s, 0, true);
}

/* ---- page ------------------------------------------------------------------------------------ */

static void write_sections(lra_page *p, lra_text *body, lra_text *contents)
{
    for (int i = 0; lra_page_section_at(i); i++) {
        const lra_page_section *s = lra_page_section_at(i);
        lra_text own = {0};
        if (s->write)
            s->write(p, &own);
        else
            write_tables(p, s, &p->tables[i], &own);
        if (p->tables[i].n < 0) lra_page_leave_out(p, s->title, p->tables[i].why.msg);
        if (own.n) {
            lra_text_add(body,
                         "<section id=\"%s\" aria-labelledby=\"%s-title\">\n"
                         "<h2 id=\"%s-title\">%s</h2>\n",
                         s->id, s->id, s->id, s->title);
            lra_text_bytes(body, own.s, own.n);
            lra_text_add(body, "</section>\n");
            lra_text_add(contents, "<li><a href=\"#%s\">%s</a></li>\n", s->id, s->title);
        }
        lra_text_free(&own);
    }
}

static void add_head(const lra_page *p, const char *title, lra_text *out)
{
    lra_text_add(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                      "<meta name=\"generator\" content=\"lra-report " LRA_VERSION "\">\n"
                      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                      "<meta name=\"color-scheme\" content=\"light dark\">\n");
    lra_html_wrap(out, "<title>", title, "</title>\n<style>\n");
    for (int i = 0; lra_page_style[i]; i++) lra_text_add(out, "%s", lra_page_style[i]);
    lra_svg_colors_css(&p->colors, out);
    lra_text_add(out, "</style>\n</head>\n<body>\n"
                      "<a class=\"skip\" href=\"#content\">Skip to the content</a>\n");
}

static void add_foot(const lra_page *p, lra_text *out)
{
    lra_text_add(out, "</main>\n</div>\n<footer>\n<p>Made by lra-report " LRA_VERSION
                      " from result files alone. The numbers of all tables and figures are in this "
                      "page as JSON (element <code>#data</code>).</p>\n</footer>\n"
                      "<script type=\"application/json\" id=\"data\">{\"schema\":1,\"items\":[\n");
    lra_html_json(out, p->data.s ? p->data.s : "");
    lra_text_add(out, "]}</script>\n</body>\n</html>\n");
}

void lra_page_make(const lra_report_input *all, const char *command, lra_text *out)
{
    lra_page p = {.all = all, .command = command};
    lra_text body = {0}, contents = {0};
    lra_plot_use(&(lra_plot_options){.title = "none"});
    divide(&p);
    make_tables(&p);
    write_sections(&p, &body, &contents);
    char *title = lra_page_title(&p);
    add_head(&p, title, out);
    lra_html_wrap(out, "<header class=\"top\">\n<p class=\"kicker\">lra-locality report</p>\n<h1>",
                  title, "</h1>\n");
    lra_page_add_facts(&p, out);
    lra_text_add(
        out,
        "</header>\n<div class=\"page\">\n<nav aria-label=\"Contents\">\n<h2>Contents</h2>\n<ol>\n%s</ol>\n"
        "</nav>\n<main id=\"content\">\n",
        contents.s ? contents.s : "");
    if (body.n) lra_text_bytes(out, body.s, body.n);
    add_foot(&p, out);
    lra_free(title);
    lra_text_free(&body);
    lra_text_free(&contents);
    close_page(&p);
}
