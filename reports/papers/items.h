/* Every table and figure of the papers, with the commands that make it. */
#ifndef LRA_REPORTS_PAPERS_ITEMS_H
#define LRA_REPORTS_PAPERS_ITEMS_H

typedef struct {
    const char *paper; /* "locality", "las", "spt" */
    const char *item;  /* as printed: "Table 4", "Figure 1" */
    const char *content;
    const char *train; /* command that makes the results; NULL: none is needed */
    const char *print; /* command that prints or draws */
} lra_paper_item;

const lra_paper_item *lra_paper_item_at(int i); /* NULL after the last */

#endif
