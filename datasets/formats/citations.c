/* Builds pairs of papers from a citation list and the papers' texts. */
#include "datasets/formats/citations.h"

#include <stdlib.h>
#include <string.h>

#include "datasets/loader/split.h"

enum { ID = 10, SEED = 42 }; /* ID: bytes of a paper's id, including the terminating 0 */

typedef struct {
    char id[ID]; /* id of the paper in the ACL Anthology: "E12-1054", "J79-1032f" */
    size_t at, n;
} paper;

typedef struct {
    char citing[ID], cited[ID];
} citation;

struct lra_citations {
    size_t keep;
    paper *papers;
    int64_t n_papers, paper_capacity;
    citation *list;
    int64_t n_list, list_capacity, n_strange, n_usable;
    char *text;
    size_t n_text, text_capacity;
};

lra_citations *lra_citations_new(size_t keep)
{
    lra_citations *c = lra_alloc(sizeof *c);
    c->keep = keep;
    return c;
}

void lra_citations_free(lra_citations *c)
{
    if (!c) return;
    lra_free(c->papers);
    lra_free(c->list);
    lra_free(c->text);
    lra_free(c);
}

lra_citation_counts lra_citations_count(const lra_citations *c)
{
    return (lra_citation_counts){c->n_papers, c->n_list, c->n_strange, c->n_usable};
}

/* ---- papers ---------------------------------------------------------------------------------- */

bool lra_citations_is_id(const char *id, size_t n)
{
    enum { USUAL = 8 };
    if (n < USUAL || n > USUAL + 1 || id[0] < 'A' || id[0] > 'Z') return false;
    for (size_t i = 1; i < USUAL; i++)
        if (i == 3 ? id[i] != '-' : id[i] < '0' || id[i] > '9') return false;
    return n == USUAL || (id[USUAL] >= 'a' && id[USUAL] <= 'z');
}

/* Copies at most `most` bytes of a text to `to`, without tags (xml) and with single blanks between
 * words. Returns the number of bytes written. */
static size_t plain(const char *text, size_t n, bool xml, size_t most, char *to)
{
    size_t k = 0;
    bool tag = false, blank = false;
    for (size_t i = 0; i < n && k < most; i++) {
        char s = text[i];
        if (xml && s == '<') tag = true;
        if (tag || s == ' ' || (s >= '\t' && s <= '\r') || s == 0) {
            blank = k > 0;
            tag = tag && s != '>';
            continue;
        }
        if (blank && k + 1 < most) to[k++] = ' ';
        blank = false;
        to[k++] = s;
    }
    return k;
}

void lra_citations_paper(lra_citations *c, const char *id, size_t n_id, const char *text, size_t n,
                         bool xml)
{
    if (n == 0 || !lra_citations_is_id(id, n_id)) return;
    if (c->n_papers == c->paper_capacity) {
        c->paper_capacity = 2 * c->paper_capacity + 256;
        c->papers = lra_resize(c->papers, (size_t)c->paper_capacity * sizeof *c->papers);
    }
    size_t room = n < c->keep ? n : c->keep;
    if (c->n_text + room > c->text_capacity) {
        c->text_capacity = 2 * (c->n_text + room) + 4096;
        c->text = lra_resize(c->text, c->text_capacity);
    }
    paper p = {.at = c->n_text};
    memcpy(p.id, id, n_id);
    p.n = plain(text, n, xml, room, c->text + c->n_text);
    c->n_text += p.n;
    if (p.n > 0) c->papers[c->n_papers++] = p;
}

/* Orders papers by id, then by decreasing length. */
static int by_id(const void *a, const void *b)
{
    const paper *x = a, *y = b;
    int order = strcmp(x->id, y->id);
    if (order) return order;
    if (x->n != y->n) return x->n > y->n ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static void sort_papers(lra_citations *c)
{
    int64_t n = 0;
    if (c->n_papers) qsort(c->papers, (size_t)c->n_papers, sizeof *c->papers, by_id);
    for (int64_t i = 0; i < c->n_papers; i++)
        if (n == 0 || strcmp(c->papers[n - 1].id, c->papers[i].id) != 0)
            c->papers[n++] = c->papers[i];
    c->n_papers = n;
}

/* Returns the index of the paper with this id, -1 if there is none. */
static int64_t find_paper(const lra_citations *c, const char *id)
{
    int64_t low = 0, high = c->n_papers;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        int order = strcmp(c->papers[middle].id, id);
        if (order == 0) return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

/* ---- citations ------------------------------------------------------------------------------- */

static void read_citation(lra_citations *c, const char *line, size_t n)
{
    static const char between[] = " , ";
    enum { BETWEEN = sizeof between - 1 };
    if (n > 0 && line[n - 1] == '\r') n--;
    if (n == 0) return;
    const char *blank = memchr(line, ' ', n);
    size_t first = blank ? (size_t)(blank - line) : n;
    size_t second = first + BETWEEN < n ? n - first - BETWEEN : 0;
    if (second == 0 || memcmp(line + first, between, BETWEEN) != 0 ||
        !lra_citations_is_id(line, first) || !lra_citations_is_id(line + n - second, second)) {
        c->n_strange++;
        return;
    }
    if (c->n_list == c->list_capacity) {
        c->list_capacity = 2 * c->list_capacity + 1024;
        c->list = lra_resize(c->list, (size_t)c->list_capacity * sizeof *c->list);
    }
    citation *to = &c->list[c->n_list++];
    *to = (citation){{0}, {0}};
    memcpy(to->citing, line, first);
    memcpy(to->cited, line + n - second, second);
}

void lra_citations_list(lra_citations *c, const char *bytes, size_t n)
{
    for (size_t at = 0; at < n;) {
        const char *end = memchr(bytes + at, '\n', n - at);
        size_t size = end ? (size_t)(end - bytes) - at : n - at;
        read_citation(c, bytes + at, size);
        at += size + 1;
    }
}

/* Orders citations by the cited paper. */
static int by_cited(const void *a, const void *b)
{
    const citation *x = a, *y = b;
    int order = strcmp(x->cited, y->cited);
    return order ? order : strcmp(x->citing, y->citing);
}

static void sort_citations(lra_citations *c)
{
    int64_t n = 0;
    if (c->n_list) qsort(c->list, (size_t)c->n_list, sizeof *c->list, by_cited);
    for (int64_t i = 0; i < c->n_list; i++)
        if (n == 0 || by_cited(&c->list[n - 1], &c->list[i]) != 0) c->list[n++] = c->list[i];
    c->n_list = n;
}

static bool cites(const lra_citations *c, int64_t citing, int64_t cited)
{
    citation key;
    memcpy(key.citing, c->papers[citing].id, ID);
    memcpy(key.cited, c->papers[cited].id, ID);
    return bsearch(&key, c->list, (size_t)c->n_list, sizeof key, by_cited) != NULL;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

/* Citations between papers with known texts: edge[i][0] cites edge[i][1]. Edges with the same cited
 * paper are contiguous. */
typedef struct {
    int64_t n;
    int64_t (*edge)[2];
} edges;

static edges find_edges(const lra_citations *c)
{
    edges g = {0, lra_alloc_array((size_t)c->n_list, sizeof *g.edge)};
    for (int64_t i = 0; i < c->n_list; i++) {
        int64_t citing = find_paper(c, c->list[i].citing), cited = find_paper(c, c->list[i].cited);
        if (citing < 0 || cited < 0 || citing == cited) continue;
        g.edge[g.n][0] = citing, g.edge[g.n++][1] = cited;
    }
    return g;
}

/* Permutes the cited papers and sorts the edges accordingly; edges with the same cited paper stay
 * together. part[s]: number of edges in each split. */
static void divide(edges *g, int64_t part[LRA_N_SPLITS])
{
    int64_t *first = lra_alloc_array((size_t)g->n + 1, sizeof *first), n_groups = 0, n = 0;
    for (int64_t i = 0; i < g->n; i++)
        if (i == 0 || g->edge[i][1] != g->edge[i - 1][1]) first[n_groups++] = i;
    first[n_groups] = g->n;
    int64_t *order = lra_alloc_array((size_t)n_groups, sizeof *order);
    int64_t(*sorted)[2] = lra_alloc_array((size_t)g->n, sizeof *sorted);
    lra_split_torch(SEED, n_groups, order);
    for (int64_t k = 0; k < n_groups; k++) {
        int split = 10 * n < 8 * g->n ? LRA_TRAIN_SPLIT : 10 * n < 9 * g->n ? LRA_VAL_SPLIT : 2;
        int64_t from = first[order[k]], size = first[order[k] + 1] - from;
        memcpy(sorted + n, g->edge + from, (size_t)size * sizeof *sorted);
        part[split] += size, n += size;
    }
    lra_free(g->edge);
    lra_free(first);
    lra_free(order);
    g->edge = sorted;
}

/* Returns true if two papers may be a pair of label 0: they differ, and neither cites the other. */
static bool unrelated(const lra_citations *c, int64_t a, int64_t b)
{
    return a != b && !cites(c, a, b) && !cites(c, b, a);
}

/* Draws the first papers of the pairs of label 0. other[k] is the citing paper of another edge that
 * is unrelated to the paper that edge k cites. Candidates are the unused entries of a permutation;
 * if none fits, entries are exchanged with an earlier edge. -1: there is no such paper. */
static void draw_others(const lra_citations *c, const edges *g, int64_t from, int64_t n,
                        int64_t *other)
{
    const int64_t(*edge)[2] = (const int64_t(*)[2])(g->edge + from);
    int64_t *order = lra_alloc_array((size_t)n, sizeof *order);
    lra_split_torch(SEED, n, order);
    for (int64_t k = 0; k < n; k++) {
        int64_t cited = edge[k][1], mine = order[k], found = -1;
        for (int64_t j = k; j < n && found < 0; j++)
            if (unrelated(c, edge[order[j]][0], cited)) found = j;
        for (int64_t j = 0; j < k && found < 0; j++)
            if (other[j] >= 0 && unrelated(c, other[j], cited) &&
                unrelated(c, edge[mine][0], edge[j][1]))
                found = j;
        other[k] = -1;
        if (found < 0) continue;
        order[k] = order[found], order[found] = mine;
        other[k] = edge[order[k]][0];
        if (found < k) other[found] = edge[mine][0];
    }
    lra_free(order);
}

static lra_aan_pair pair_of(const lra_citations *c, int64_t citing, int64_t cited, int label)
{
    lra_aan_pair p = {.label = label};
    const paper *of[2] = {&c->papers[citing], &c->papers[cited]};
    for (int k = 0; k < 2; k++) {
        p.id[k] = of[k]->id, p.n_id[k] = strlen(of[k]->id);
        p.text[k] = c->text + of[k]->at, p.n_text[k] = of[k]->n;
    }
    return p;
}

int lra_citations_pairs(lra_citations *c,
                        int (*pair)(void *of, int split, const lra_aan_pair *p, lra_err *e),
                        void *of, lra_err *e)
{
    int64_t part[LRA_N_SPLITS] = {0}, from = 0;
    sort_papers(c);
    sort_citations(c);
    edges g = find_edges(c);
    c->n_usable = g.n;
    divide(&g, part);
    int64_t *other = lra_alloc_array((size_t)g.n, sizeof *other);
    int rc = 0;
    for (int s = 0; s < LRA_N_SPLITS && rc == 0; from += part[s++]) {
        if (part[s] < 2)
            rc = lra_fail(
                e,
                "%lld citations between the %lld papers with texts, of %lld: too few for three "
                "splits",
                (long long)g.n, (long long)c->n_papers, (long long)c->n_list);
        if (rc == 0) draw_others(c, &g, from, part[s], other);
        for (int64_t k = 0; k < part[s] && rc == 0; k++) {
            int64_t cited = g.edge[from + k][1];
            lra_aan_pair p = pair_of(c, g.edge[from + k][0], cited, 1);
            rc = pair(of, s, &p, e);
            if (rc != 0 || other[k] < 0) continue;
            p = pair_of(c, other[k], cited, 0);
            rc = pair(of, s, &p, e);
        }
    }
    lra_free(other);
    lra_free(g.edge);
    return rc;
}
