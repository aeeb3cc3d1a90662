/* Parts of the sections of a page (page.h). */
#include "reports/html/page.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/log.h"
#include "reports/draw/draw.h"
#include "reports/html/escape.h"
#include "reports/print/table_html.h"

static const lra_page_section *const sections[] = {
#define LRA_SECTION(name) &lra_section_##name,
#include "reports/html/sections.def"
#undef LRA_SECTION
};
enum { N_SECTIONS = sizeof sections / sizeof *sections };
_Static_assert((int)N_SECTIONS <= (int)LRA_PAGE_SECTIONS, "too many sections");

const lra_page_section *lra_page_section_at(int i)
{
    return i < N_SECTIONS ? sections[i] : NULL;
}

const lra_page_tables *lra_page_tables_of(const lra_page *p, const lra_page_section *s)
{
    int i = 0;
    while (sections[i] != s) i++;
    return &p->tables[i];
}

/* ---- parts of sections ----------------------------------------------------------------------- */

void lra_page_paragraph(lra_text *to, const char *class_name, const char *text)
{
    lra_text_add(to, *class_name ? "<p class=\"%s\">" : "<p%s>", class_name);
    lra_html_number(to, text);
    lra_text_add(to, "</p>\n");
}

void lra_page_leave_out(lra_page *p, const char *what, const char *why)
{
    lra_text entry = {0};
    lra_html_wrap(&entry, "<li><b>", what, "</b>: ");
    lra_html_wrap(&entry, "", why, "</li>\n");
    if (!p->left_out.n || !strstr(p->left_out.s, entry.s)) /* several runs share a reason */
        lra_text_bytes(&p->left_out, entry.s, entry.n);
    lra_text_free(&entry);
}

static void add_data(lra_page *p, const char *kind, const char *id, char *json)
{
    lra_text_add(&p->data, "%s{\"%s\":\"%s\",\"content\":", p->data.n ? ",\n" : "", kind, id);
    lra_text_add(&p->data, "%s}", json);
    free(json);
}

/* Adds the JSON of a table without line ends and indents. */
static void add_table_data(lra_page *p, const char *id, lra_table *t)
{
    char *json = NULL, *compact = NULL;
    size_t n = 0;
    lra_err e;
    FILE *f = open_memstream(&json, &n);
    if (!f) return;
    lra_table *list[] = {t};
    int rc = lra_tables_print(list, 1, "json", f, &e);
    json_t *document = fclose(f) == 0 && rc == 0 ? json_loads(json, 0, NULL) : NULL;
    if (document) compact = json_dumps(document, JSON_COMPACT);
    if (compact) add_data(p, "table", id, compact);
    json_decref(document);
    free(json);
}

void lra_page_add_table(lra_page *p, lra_text *to, lra_table *t, bool verdict)
{
    char *id = lra_format("table-%d", ++p->n_tables);
    if (verdict && t->verdict.n) lra_text_add(to, "<p class=\"verdict\">");
    for (int k = 0; verdict && k < t->verdict.n; k++)
        lra_html_wrap_number(to, k ? " " : "", t->verdict.sentence[k], "");
    if (verdict && t->verdict.n) lra_text_add(to, "</p>\n");
    lra_table_add_html(to, t, id, true);
    add_table_data(p, id, t);
    lra_free(id);
}

static void add_figure_data(lra_page *p, const char *id, const lra_plot *plot)
{
    json_t *j = json_pack("{s:s?, s:s?, s:s?}", "title", plot->title, "sources", plot->sources.s,
                          "data", plot->data.s);
    char *json = j ? json_dumps(j, JSON_COMPACT) : NULL;
    if (json) add_data(p, "figure", id, json);
    json_decref(j);
}

static void add_drawing(lra_page *p, lra_text *to, const lra_plot *plot, const lra_text *svg)
{
    lra_err e;
    lra_text drawing = {0};
    char *id = lra_format("figure-%d", p->n_figures + 1);
    char *about = lra_format("%s. Drawn from %s.%s%s", plot->title ? plot->title : "Figure",
                             plot->sources.s ? plot->sources.s : "the results",
                             plot->caption ? " " : "", plot->caption ? plot->caption : "");
    int rc = lra_svg_inline(&drawing, svg->s, id, plot->title ? plot->title : "Figure", about,
                            &p->colors, &e);
    if (rc != 0) {
        lra_page_leave_out(p, plot->title ? plot->title : "a figure", e.msg);
    } else {
        p->n_figures++;
        lra_text_add(to,
                     "<figure id=\"%s\">\n<div class=\"canvas\" role=\"region\" tabindex=\"0\" "
                     "aria-labelledby=\"%s-caption\">%s</div>\n<figcaption id=\"%s-caption\"><b>"
                     "Figure %d.</b> ",
                     id, id, drawing.s, id, p->n_figures);
        lra_html_text(to, plot->title ? plot->title : "");
        lra_text_add(to, ".");
        if (plot->caption) lra_html_wrap(to, " ", plot->caption, "");
        lra_text_add(to, "</figcaption>\n</figure>\n");
        add_figure_data(p, id, plot);
    }
    lra_text_free(&drawing);
    lra_free(about);
    lra_free(id);
}

void lra_page_add_figure(lra_page *p, lra_text *to, const lra_report_figure *f,
                         const lra_report_input *in)
{
    lra_err why = {{0}};
    lra_plot plot = {0};
    lra_text svg = {0};
    if (p->no_gnuplot) return;
    if (lra_draw_svg(f, in, &plot, &svg, &why) == 0 && svg.s) {
        add_drawing(p, to, &plot, &svg);
    } else if (strstr(why.msg, "gnuplot is not installed")) {
        p->no_gnuplot = true;
        lra_page_leave_out(p, "all figures",
                           "gnuplot is not installed; install it and make the page again");
    } else {
        char *what = lra_format("figure %s", f->name);
        lra_page_leave_out(p, what, why.msg);
        lra_free(what);
    }
    lra_text_free(&svg);
    lra_plot_free(&plot);
}

/* True if an earlier result is of the same model, task and kernel: another seed, as a rule. */
static bool is_repeated(const lra_report_input *in, int i)
{
    const lra_probe_result *r = in->probes[i];
    for (int k = 0; k < i; k++)
        if (strcmp(in->probes[k]->model, r->model) == 0 &&
            strcmp(in->probes[k]->task, r->task) == 0 && in->probes[k]->kernel == r->kernel)
            return true;
    return false;
}

/* Draws a figure that shows one run: for the first run of each of the first models. */
static void add_each(lra_page *p, lra_text *to, const lra_report_figure *f,
                     const lra_report_input *in)
{
    enum { MOST = 4 };
    int drawn = 0;
    for (int i = 0; i < in->n_probes && drawn < MOST; i++) {
        lra_report_input one = *in;
        one.probes = in->probes + i, one.n_probes = 1;
        if (is_repeated(in, i)) continue;
        lra_page_add_figure(p, to, f, &one);
        drawn++;
    }
    if (in->n_probes <= drawn) return;
    char *what = lra_format("figure %s of %d further runs", f->name, in->n_probes - drawn);
    lra_page_leave_out(p, what,
                       "the page draws one run of each of the first 4 models; 'lra-report "
                       "figures RUN' draws one");
    lra_free(what);
}

void lra_page_add_tables(lra_page *p, lra_text *to, const lra_page_section *s, int first,
                         bool verdict)
{
    enum { MOST = 24 };
    const lra_page_tables *made = lra_page_tables_of(p, s);
    int n = made->n - first;
    for (int i = 0; i < n && i < MOST; i++) {
        lra_page_add_table(p, to, made->list[first + i], verdict);
        if (i == 0 && first == 0) lra_page_add_figures(p, to, s);
    }
    if (n <= MOST) return;
    char *what = lra_format("%d further tables of section '%s'", n - MOST, s->title);
    char *why = lra_format("the page has the first %d; 'lra-report tables --table %s' prints all",
                           (int)MOST, s->table->name);
    lra_page_leave_out(p, what, why);
    lra_free(what);
    lra_free(why);
}

void lra_page_add_figures(lra_page *p, lra_text *to, const lra_page_section *s)
{
    for (int i = 0; i < LRA_PAGE_FIGURES && s->figure[i].is; i++) {
        const lra_page_figure *f = &s->figure[i];
        size_t before = p->left_out.n;
        if (f->each)
            add_each(p, to, f->is, &p->source[f->is->source]);
        else
            lra_page_add_figure(p, to, f->is, &p->source[f->is->source]);
        if (!f->rare || p->no_gnuplot || p->left_out.n == before) continue;
        p->left_out.n = before;
        p->left_out.s[before] = 0;
    }
}
