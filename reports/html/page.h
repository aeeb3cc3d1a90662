/* A report as one HTML page that needs no other file and no script. A page is a list of sections
 * (sections.def): one file each, section_NAME.c. Most sections print a table of reports/tables.def
 * with its figures; the others write their own contents. */
#ifndef LRA_REPORTS_HTML_PAGE_H
#define LRA_REPORTS_HTML_PAGE_H

#include "reports/html/svg_inline.h"
#include "reports/report.h"

enum { LRA_PAGE_SECTIONS = 32, LRA_PAGE_FIGURES = 4, LRA_PAGE_SOURCES = LRA_FROM_INFORMATION + 1 };

typedef struct lra_page lra_page;

/* A figure of a section. each: the figure shows a single probe result, so one is drawn per result.
 * rare: few results have it, so that its absence is not listed in the section of missing parts. */
typedef struct {
    const lra_report_figure *is;
    bool each, rare;
} lra_page_figure;

typedef struct {
    const char *id, *title;
    /* Writes the contents below the heading. If it writes nothing, the page has no such section.
     * NULL: the section consists of the table and the figures below. */
    void (*write)(lra_page *p, lra_text *to);
    const lra_report_table *table; /* table of the section; NULL: none */
    lra_page_figure figure[LRA_PAGE_FIGURES];
    const char *how_to_read; /* sentences below the heading */
    const char *null_value;  /* sentence: the null value of its measurements */
    /* Rank of the verdict of this section as the verdict of the page, 1 first; 0: not used. */
    int rank;
    const char *command; /* command that makes its results, for the list of missing parts */
} lra_page_section;

/* The tables of a section; n < 0: they could not be made, `why` has the reason. */
typedef struct {
    lra_table **list;
    int n;
    lra_err why;
} lra_page_tables;

struct lra_page {
    const lra_report_input *all;
    const char *command;                       /* command line that makes the page */
    lra_report_input source[LRA_PAGE_SOURCES]; /* results of each source: parts of `all` */
    lra_page_tables tables[LRA_PAGE_SECTIONS];
    const lra_page_section *headline; /* section whose verdict is that of the page; NULL: none */
    lra_svg_colors colors;
    int n_tables, n_figures; /* numbers of the captions so far */
    lra_text left_out;       /* list items: missing parts of the page, with reasons */
    lra_text data;           /* members of the JSON data: tables and figures */
    bool no_gnuplot;
};

#define LRA_SECTION(name) extern const lra_page_section lra_section_##name;
#include "reports/html/sections.def"
#undef LRA_SECTION
/* Section i in the order of the page; NULL after the last. */
const lra_page_section *lra_page_section_at(int i);
const lra_page_tables *lra_page_tables_of(const lra_page *p, const lra_page_section *s);

/* Appends a paragraph of the given class; its text is escaped. */
void lra_page_paragraph(lra_text *to, const char *class_name, const char *text);
/* Appends a numbered table. verdict: with the verdict of the table above it. */
void lra_page_add_table(lra_page *p, lra_text *to, lra_table *t, bool verdict);
/* Appends the tables of a section from table `first` on, at most 24; after the section's first
 * table, also its figures. */
void lra_page_add_tables(lra_page *p, lra_text *to, const lra_page_section *s, int first,
                         bool verdict);
/* Appends a numbered figure, or adds the reason why there is none to the list of missing parts. */
void lra_page_add_figure(lra_page *p, lra_text *to, const lra_report_figure *f,
                         const lra_report_input *in);
/* Appends the figures of a section. */
void lra_page_add_figures(lra_page *p, lra_text *to, const lra_page_section *s);
/* Adds an entry "what: why" to the list of missing parts. */
void lra_page_leave_out(lra_page *p, const char *what, const char *why);

/* The CSS rules of all pages. */
extern const char *const lra_page_style[]; /* ends with NULL */

#endif
