/* Pairs of documents for Retrieval, built from a list of citations (lines "citing , cited", as in
 * acl.txt of the ACL Anthology Network) and the texts of papers. The pairs of the Long Range Arena
 * cannot be reproduced, because the sampling of their negative pairs is not published. */
#ifndef LRA_DATASETS_FORMATS_CITATIONS_H
#define LRA_DATASETS_FORMATS_CITATIONS_H

#include "datasets/formats/aan.h"

typedef struct lra_citations lra_citations;
lra_citations *lra_citations_new(size_t keep); /* keep: stored bytes of each text */
void lra_citations_free(lra_citations *c);     /* Nullable: c */

/* Returns true if the text is the id of a paper, such as "E12-1054" or "J79-1032f". */
bool lra_citations_is_id(const char *id, size_t n);
/* Adds a paper; if a paper has two texts, the longer one is kept. xml: tags are removed. White
 * space is normalised to single blanks. */
void lra_citations_paper(lra_citations *c, const char *id, size_t n_id, const char *text, size_t n,
                         bool xml);
/* Adds the citations of a citation list. Lines that are not "citing , cited" are counted. */
void lra_citations_list(lra_citations *c, const char *bytes, size_t n);

/* Counts of papers and citations, for messages. */
typedef struct {
    int64_t n_papers, n_citations, n_strange; /* n_strange: lines that are not a citation */
    int64_t n_usable;                         /* citations between two papers with known texts */
} lra_citation_counts;
lra_citation_counts lra_citations_count(const lra_citations *c);

/* Builds pairs of documents. Every citation between two known papers is a pair of label 1. The
 * cited papers are divided 80 : 10 : 10 by their numbers of citations (PyTorch's permutation, seed
 * 42), so that no text2 is in two splits. There is the same number of pairs of label 0: text1 is
 * permuted among the pairs of a split so that neither paper cites the other. One document alone
 * therefore does not reveal the label. Pairs are returned in alternation, label 1 first. */
int lra_citations_pairs(lra_citations *c,
                        int (*pair)(void *of, int split, const lra_aan_pair *p, lra_err *e),
                        void *of, lra_err *e);

#endif
