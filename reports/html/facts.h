/* Facts about the results of a page: names of models and tasks, seeds, examples. */
#ifndef LRA_REPORTS_HTML_FACTS_H
#define LRA_REPORTS_HTML_FACTS_H

#include "reports/html/page.h"

/* A set of texts in the order of their addition. */
typedef struct {
    int n;
    char **text;
} lra_word_set;
void lra_words_add(lra_word_set *s, const char *text);
void lra_word_set_free(lra_word_set *s);
/* "a, b and c", at most `most` words and the number of the others. The caller frees it. */
char *lra_words_join(const lra_word_set *s, int most);

/* Names of the models as in their papers, and of the tasks, of all results. */
void lra_page_models(const lra_page *p, lra_word_set *to);
void lra_page_tasks(const lra_page *p, lra_word_set *to);
/* Smallest and largest number of seeds of a configuration; 0: no results of training. */
void lra_page_seeds(const lra_page *p, int *least, int *most);
/* True if all results are of models that another program trained. */
bool lra_page_is_audit(const lra_page *p);
/* Value of a key in "key=value" lines; NULL: missing. The caller frees it. */
char *lra_page_value(const char *lines, const char *key);

/* Title of the page. The caller frees it. */
char *lra_page_title(const lra_page *p);
/* Appends the facts below the title as a list of terms and values. */
void lra_page_add_facts(const lra_page *p, lra_text *to);

#endif
