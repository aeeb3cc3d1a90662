/* Pairs for Retrieval from a list of citations ("citing , cited", one a line, as acl.txt of the ACL
 * Anthology Network) and the texts of papers. The released pairs cannot be reproduced: the sampling
 * of their negatives is not published. */
#ifndef LRA_DATASETS_FORMATS_CITATIONS_H
#define LRA_DATASETS_FORMATS_CITATIONS_H

#include "datasets/formats/aan.h"

typedef struct lra_citations lra_citations;
lra_citations *lra_citations_new(size_t keep); /* bytes of a text that are kept */
void lra_citations_free(lra_citations *c);     /* Nullable: c */

/* Returns true for the stem of a paper's file, "E12-1054" or "J79-1032f". */
bool lra_citations_is_id(const char *id, size_t n);
/* Adds a paper; of two texts of the same paper the longer one is kept. xml: tags are removed. White
 * space is normalised to single blanks. */
void lra_citations_paper(lra_citations *c, const char *id, size_t n_id, const char *text, size_t n,
                         bool xml);
/* Reads a citation list; `name` is used in messages. Lines of another form are counted. */
void lra_citations_list(lra_citations *c, const char *bytes, size_t n);

/* Counts for people. */
typedef struct {
    int64_t n_papers, n_citations, n_strange; /* lines that are no citation */
    int64_t n_usable;                         /* citations between two papers with known texts */
} lra_citation_counts;
lra_citation_counts lra_citations_count(const lra_citations *c);

/* Every citation between two known papers is a pair of label 1; the cited papers are divided 80 :
 * 10 : 10 by their numbers of citations (PyTorch's permutation, seed 42), so that no text2 is in
 * two parts. There is the same number of pairs of label 0: text1 is permuted among the pairs of a
 * part so that neither paper cites the other, hence one document alone does not reveal the label.
 * Pairs are returned in turn, label 1 first. */
int lra_citations_pairs(lra_citations *c,
                        int (*pair)(void *of, int split, const lra_aan_pair *p, lra_err *e),
                        void *of, lra_err *e);

#endif
