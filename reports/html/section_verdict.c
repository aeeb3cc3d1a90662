/* The verdict of the page: the first sentence in large type, then how it was reached. */
#include "reports/html/escape.h"
#include "reports/html/facts.h"

/* Links to the sections whose tables have a verdict of their own. */
static void add_links(lra_page *p, lra_text *to)
{
    lra_text links = {0};
    for (int i = 0; lra_page_section_at(i); i++) {
        const lra_page_section *s = lra_page_section_at(i);
        const lra_page_tables *made = lra_page_tables_of(p, s);
        if (s == p->headline || made->n <= 0 || made->list[0]->verdict.n == 0) continue;
        if (s == &lra_section_comparison &&
            (!p->source[LRA_FROM_RESULTS_AND_PROBES].n_probes || made->list[0]->n_rows < 2))
            continue; /* this section prints no verdict */
        lra_text_add(&links, "<li><a href=\"#%s\">%s</a>: ", s->id, s->title);
        lra_html_wrap_number(&links, "", made->list[0]->verdict.sentence[0], "</li>\n");
    }
    if (links.n)
        lra_text_add(to,
                     "<p>The other measurements of this page:</p>\n<ul class=\"links\">\n%s</ul>\n",
                     links.s);
    lra_text_free(&links);
}

static void write(lra_page *p, lra_text *to)
{
    const lra_page_section *s = p->headline;
    if (!s) {
        lra_page_paragraph(
            to, "headline",
            "These results have no verdict; their measurements are in the sections below.");
        return;
    }
    const lra_page_tables *made = lra_page_tables_of(p, s);
    const lra_verdict *v = &made->list[0]->verdict;
    lra_page_paragraph(to, "headline", v->sentence[0]);
    lra_text rest = {0};
    for (int i = 1; i < v->n; i++) lra_text_add(&rest, "%s%s", i > 1 ? " " : "", v->sentence[i]);
    if (rest.n) lra_page_paragraph(to, "support", rest.s);
    lra_text_free(&rest);
    lra_text_add(to,
                 "<h3>How it was reached</h3>\n<p>The verdict is computed from the numbers of "
                 "section <a href=\"#%s\">%s</a>",
                 s->id, s->title);
    if (made->n > 1 && !s->write)
        lra_text_add(to, " (%d tables; the sentence above is that of the first)", made->n);
    lra_text_add(to, ". ");
    if (s->how_to_read) lra_html_text(to, s->how_to_read);
    lra_text_add(to, "</p>\n");
    if (s->null_value) lra_html_wrap(to, "<p><b>Null value.</b> ", s->null_value, "</p>\n");
    add_links(p, to);
}

const lra_page_section lra_section_verdict = {.id = "verdict", .title = "Verdict", .write = write};
