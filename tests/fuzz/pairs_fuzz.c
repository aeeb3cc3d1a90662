/* Pairs of papers from arbitrary bytes: as rows and as papers, in one and in two pieces, and as a
 * citation list. All columns have the same number of rows, the result does not depend on the
 * pieces, and every cited paper is in one split only. */
#include "datasets/formats/aan.h"
#include "datasets/formats/bytes.h"
#include "datasets/formats/citations.h"
#include "kernels/base/os/file.h"
#include "tests/fuzz/fuzz.h"

enum { LENGTH = 24 };

bool lra_fuzz_seed(int i, lra_text *to)
{
    static const char *const seeds[] = {
        "1.0\tE12-1054\tN04-1038\tone paper\tanother \"paper\"\n0.0\tW10-1012\tN04-1038\t\"x\t\n",
        "1\tA00-1000\tA00-1001\ta\tb\r\n0\tA00-1001\tA00-1000\tb\ta",
        "1.0\tP01-0001\tP01-0002\n",
        "0.0\tA00-1000\tA00-1001\t\t\n",
        "P01-0001 , P01-0002\nJ79-1032f , C73-2028\nnothing\nP01-0002 , P01-0001\n",
        "2.0\ta\tb\tc\td\n1.0\ta\tb\tc\td\te\n\n1.0\tA00-1000\tB00-1000\t\xC3\xA9\xE2\x82\tx y\n",
    };
    if (i >= (int)(sizeof seeds / sizeof *seeds)) return false;
    lra_text_bytes(to, seeds[i], strlen(seeds[i]));
    return true;
}

typedef struct {
    lra_sequences rows;
    lra_characters *characters;
    lra_citations *citations;
    int64_t n_pairs;
    /* for each split, hashes of the cited papers of its first pairs */
    uint64_t cited[LRA_N_SPLITS][64];
    int n_cited[LRA_N_SPLITS];
} seen;

static int take(void *of, const lra_aan_pair *pair, lra_err *e)
{
    (void)e;
    seen *s = of;
    uint16_t token[2 * LENGTH];
    lra_aan_add(pair, s->characters, true, LENGTH, token, &s->rows);
    for (int k = 0; k < 2; k++)
        lra_citations_paper(s->citations, pair->id[k], pair->n_id[k], pair->text[k],
                            pair->n_text[k], k == 1);
    return 0;
}

static int read_pairs(const uint8_t *data, size_t n, size_t cut, seen *s)
{
    lra_err e = {{0}};
    *s = (seen){.characters = lra_characters_new(), .citations = lra_citations_new(LENGTH)};
    lra_aan_reader r = {.name = "x", .pair = take, .of = s};
    int rc = cut ? lra_aan_read(&r, (const char *)data, cut, &e) : 0;
    if (rc == 0 && n > cut) rc = lra_aan_read(&r, (const char *)data + cut, n - cut, &e);
    if (rc == 0) rc = lra_aan_read(&r, NULL, 0, &e);
    if (rc != 0) lra_fuzz_check_message(&e);
    if (r.counts.n_rows != s->rows.n) LRA_BUG("rows are lost");
    lra_aan_free(&r);
    return rc;
}

static void check_rows(seen *s)
{
    lra_err e = {{0}};
    int n = lra_characters_fix(s->characters, 1, &e);
    for (int64_t i = 0; i < s->rows.n; i++) {
        lra_row row = lra_sequences_row(&s->rows, i);
        lra_characters_renumber(s->characters, row.token, row.n);
        if (row.middle < 1 || row.middle >= row.n || row.middle > LENGTH ||
            row.n - row.middle > LENGTH || (row.label != 0 && row.label != 1))
            LRA_BUG("documents of %lld and %lld", (long long)row.middle, (long long)row.n);
        for (int64_t k = 0; k < row.n; k++) {
            bool end = k == row.middle - 1 || k == row.n - 1;
            if (row.token[k] >= n || (row.token[k] == LRA_BYTES_EOS) != end)
                LRA_BUG("token %d", row.token[k]);
        }
    }
    char *words = lra_characters_words(s->characters);
    int lines = 0;
    for (const char *at = words; *at; at++) lines += *at == '\n';
    if (lines != n) LRA_BUG("%d lines for %d words", lines, n);
    lra_free(words);
}

static int take_built(void *of, int split, const lra_aan_pair *p, lra_err *e)
{
    (void)e;
    seen *s = of;
    s->n_pairs++;
    if (p->label != 1 || s->n_cited[split] == 64) return 0;
    uint64_t hash = lra_hash64(p->id[1], p->n_id[1]);
    for (int other = 0; other < LRA_N_SPLITS; other++)
        for (int i = 0; other != split && i < s->n_cited[other]; i++)
            if (s->cited[other][i] == hash) LRA_BUG("a cited paper is in two splits");
    s->cited[split][s->n_cited[split]++] = hash;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    lra_err e = {{0}};
    seen a, b;
    int first = read_pairs(data, n, 0, &a), second = read_pairs(data, n, n / 3, &b);
    if (first != second || a.rows.n != b.rows.n ||
        (a.rows.n && memcmp(a.rows.token, b.rows.token,
                            (size_t)a.rows.start[a.rows.n] * sizeof *a.rows.token) != 0))
        LRA_BUG("pieces matter");
    check_rows(&a);
    /* The citations follow from the input's bytes; three papers also cite each other in a cycle. */
    static const char ring[] = "A00-1000 , A00-1001\nB00-1000 , A00-1000\nE12-1054 , N04-1038\n";
    lra_citations_list(a.citations, (const char *)data, n);
    lra_citations_list(a.citations, ring, sizeof ring - 1);
    lra_citation_counts counts = lra_citations_count(a.citations);
    if (lra_citations_pairs(a.citations, take_built, &a, &e) != 0) lra_fuzz_check_message(&e);
    if (a.n_pairs > 2 * counts.n_citations) LRA_BUG("more pairs than citations give");
    lra_sequences_free(&a.rows);
    lra_sequences_free(&b.rows);
    lra_citations_free(a.citations);
    lra_citations_free(b.citations);
    lra_characters_free(a.characters);
    lra_characters_free(b.characters);
    return 0;
}
