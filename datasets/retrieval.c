/* Retrieval: classifies whether one paper cites another. A row has two documents, which are encoded
 * separately. Two classes.
 * Source: Tay et al. 2021 (pairs of the ACL Anthology Network, Radev et al. 2013): 147,086 / 18,090
 * / 17,437 pairs. Each document is truncated to length - 1 bytes and ended with <eos>. vocab=chars:
 * characters instead of bytes, with all characters of the training texts as vocabulary (S4's
 * vocabulary, 98 ids on the released files).
 * pairs=citations builds other pairs from a citation list and texts, see
 * datasets/formats/citations.h. */
#include <string.h>

#include "datasets/formats/aan.h"
#include "datasets/formats/bytes.h"
#include "datasets/formats/citations.h"
#include "datasets/formats/walk.h"
#include "datasets/loader/official.h"
#include "datasets/registry.h"
#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"

enum {
    LEVELS = 3 /* maximum depth of the files: lra_release/lra_release/tsv_data */,
    MIN_LENGTH = 16,
    MAX_LENGTH = 1 << 15
};
#define SOURCE                                                                                     \
    "tsv_data/new_aan_pairs.{train,eval,test}.tsv of lra_release.gz: "                             \
    "https://github.com/google-research/long-range-arena"
static const char *const file_names[LRA_N_SPLITS] = {
    "new_aan_pairs.train.tsv", "new_aan_pairs.eval.tsv", "new_aan_pairs.test.tsv"};

static bool in_characters(const lra_config *c)
{
    return strcmp(lra_config_text(c, "vocab"), "chars") == 0;
}

static bool from_citations(const lra_config *c)
{
    return strcmp(lra_config_text(c, "pairs"), "citations") == 0;
}

/* ---- the files ------------------------------------------------------------------------------- */

/* State of an import. */
typedef struct {
    const lra_config *config;
    lra_dataset *data;
    lra_citations *citations;   /* NULL: pairs are read from files of pairs */
    lra_characters *characters; /* NULL: tokens are bytes */
    int64_t length, rows;
    uint16_t *token; /* (2 length) tokens of the two documents */
    lra_aan_reader reader;
    int split;                /* split of the file that is being read */
    char *file[LRA_N_SPLITS]; /* file from which the pairs of each split were read */
    lra_aan_counts counts[LRA_N_SPLITS];
} importer;

/* Returns the split of a file of pairs, -1 for other files. */
static int split_of(const char *name)
{
    for (int s = 0; s < LRA_N_SPLITS; s++)
        if (strcmp(lra_walk_base(name), file_names[s]) == 0) return s;
    return -1;
}

static bool ends_with(const char *name, const char *suffix)
{
    size_t n = strlen(name), k = strlen(suffix);
    return n >= k && strcmp(name + n - k, suffix) == 0;
}

/* Returns true for the text of a paper: "E12-1054.txt" or "E12-1054.xml". */
static bool is_paper(const char *name)
{
    const char *base = lra_walk_base(name);
    return (ends_with(base, ".txt") || ends_with(base, ".xml")) &&
           lra_citations_is_id(base, strlen(base) - 4);
}

static bool is_list(const char *name)
{
    return strcmp(lra_walk_base(name), "acl.txt") == 0;
}

static bool wanted_pairs(void *of, const char *name)
{
    (void)of;
    return split_of(name) >= 0 || strstr(lra_walk_base(name), "only_ids.tsv");
}

static bool wanted_citations(void *of, const char *name)
{
    (void)of;
    return split_of(name) >= 0 || is_paper(name) || is_list(name);
}

static bool looks_inside(void *of, const char *name)
{
    (void)of;
    const char *base = lra_walk_base(name);
    return strncmp(base, "new_aan_pairs.", 14) == 0 || strncmp(base, "lra_release", 11) == 0 ||
           strncmp(base, "tsv_data", 8) == 0 || strncmp(base, "acl.txt.", 8) == 0;
}

/* ---- pairs of the files ---------------------------------------------------------------------- */

static int add_row(void *of, int split, const lra_aan_pair *pair, lra_err *e)
{
    (void)e;
    importer *m = of;
    lra_sequences *to = &m->data->split[split];
    if (m->rows && to->n >= m->rows) return 0;
    lra_aan_add(pair, m->characters, split == LRA_TRAIN_SPLIT, m->length, m->token, to);
    return 0;
}

static int take_pair(void *of, const lra_aan_pair *pair, lra_err *e)
{
    importer *m = of;
    if (!m->citations) return add_row(m, m->split, pair, e);
    for (int k = 0; k < 2; k++)
        lra_citations_paper(m->citations, pair->id[k], pair->n_id[k], pair->text[k],
                            pair->n_text[k], false);
    return 0;
}

/* Starts reading the file of a split; a second file of the same split is an error. */
static int begin_file(importer *m, const char *name, int split, lra_err *e)
{
    if (m->file[split])
        return lra_fail(
            e, "two files of the %s pairs: '%s' and '%s'; expected one, in the folder or below",
            lra_split_names[split], m->file[split], name);
    m->file[split] = lra_copy_text(name);
    m->split = split;
    m->reader = (lra_aan_reader){.name = m->file[split], .pair = take_pair, .of = m};
    return 0;
}

static int read_pairs(void *of, const char *name, const char *bytes, size_t n, lra_err *e)
{
    importer *m = of;
    int split = split_of(name), rc = 0;
    /* a file of ids without texts: the reader fails with an explanation */
    if (split < 0) split = LRA_TRAIN_SPLIT;
    if (!m->reader.name) rc = begin_file(m, name, split, e);
    if (rc == 0) rc = lra_aan_read(&m->reader, bytes, n, e);
    if (n > 0 && rc == 0) return 0;
    m->counts[m->split] = m->reader.counts;
    lra_aan_free(&m->reader);
    m->reader = (lra_aan_reader){0};
    return rc;
}

static int read_file(void *of, const char *name, const char *bytes, size_t n, lra_err *e)
{
    importer *m = of;
    if (split_of(name) >= 0) {
        int rc = read_pairs(m, name, bytes, n, e);
        return rc == 0 ? read_pairs(m, name, NULL, 0, e) : rc;
    }
    const char *base = lra_walk_base(name);
    if (is_list(name))
        lra_citations_list(m->citations, bytes, n);
    else
        lra_citations_paper(m->citations, base, strlen(base) - 4, bytes, n,
                            ends_with(base, ".xml"));
    return 0;
}

static void report(const importer *m)
{
    for (int s = 0; s < LRA_N_SPLITS; s++) {
        const lra_aan_counts *c = &m->counts[s];
        if (c->n_columns + c->n_labels)
            lra_warn("'%s': %lld lines without 5 columns and %lld without a label 0.0 or 1.0 are "
                     "excluded",
                     m->file[s], (long long)c->n_columns, (long long)c->n_labels);
        if (c->n_quoted)
            lra_note(
                "'%s': %lld texts start with a quote, which is an ordinary character here; S4's "
                "reader interprets it as the start of a quoted column",
                m->file[s], (long long)c->n_quoted);
        if (c->n_empty) lra_warn("'%s': %lld texts are empty", m->file[s], (long long)c->n_empty);
    }
}

static int check_pairs(const importer *m, const lra_walk *w, const char *path, lra_err *e)
{
    const lra_sequences *r = m->data->split;
    bool none = r[0].n + r[1].n + r[2].n == 0;
    for (int s = 0; s < LRA_N_SPLITS; s++)
        if (r[s].n == 0) {
            const lra_aan_counts *c = &m->counts[s];
            if (c->n_columns + c->n_labels)
                return lra_fail(e,
                                "no pairs in '%s': %lld lines without 5 columns, %lld without a "
                                "label 0.0 or 1.0; expected %s",
                                m->file[s], (long long)c->n_columns, (long long)c->n_labels,
                                SOURCE);
            lra_fail(e, "no pairs in a file '%s' in '%s' or %d levels below%s; expected %s",
                     file_names[s], path, (int)LEVELS, lra_walk_but_empty(w), SOURCE);
            return none ? LRA_ABSENT : LRA_FAILED;
        }
    return 0;
}

/* ---- pairs of citations ---------------------------------------------------------------------- */

static int build_pairs(importer *m, const char *path, lra_err *e)
{
    lra_citation_counts found = lra_citations_count(m->citations);
    if (found.n_citations == 0)
        return lra_fail(e,
                        "no citations in a file 'acl.txt' in '%s' or %d levels below; expected "
                        "lines 'E12-1054 , N04-1038' (ACL Anthology Network)",
                        path, (int)LEVELS);
    if (found.n_papers == 0)
        return lra_fail(e,
                        "no texts in '%s' or %d levels below; expected E12-1054.txt or .xml and so "
                        "on, or new_aan_pairs.*.tsv",
                        path, (int)LEVELS);
    int rc = lra_citations_pairs(m->citations, add_row, m, e);
    if (rc != 0) return rc;
    found = lra_citations_count(m->citations);
    lra_note("retrieval: %lld papers; %lld of %lld citations are between two of them",
             (long long)found.n_papers, (long long)found.n_usable, (long long)found.n_citations);
    if (found.n_strange)
        lra_warn("'%s': %lld lines of acl.txt are not citations 'E12-1054 , N04-1038'", path,
                 (long long)found.n_strange);
    return 0;
}

/* ---- the task -------------------------------------------------------------------------------- */

static lra_walk make_walk(const lra_config *c, importer *m)
{
    bool citations = from_citations(c);
    return (lra_walk){.wanted = citations ? wanted_citations : wanted_pairs,
                      .inside = looks_inside,
                      .visit = read_file,
                      .piece = citations ? NULL : read_pairs,
                      .of = m,
                      .levels = LEVELS};
}

static int fix_vocabulary(importer *m, lra_err *e)
{
    lra_dataset *d = m->data;
    d->vocab = lra_characters_fix(m->characters, 1, e);
    if (d->vocab < 0) return LRA_FAILED;
    d->words = lra_characters_words(m->characters);
    for (int s = 0; s < LRA_N_SPLITS; s++)
        lra_characters_renumber(m->characters, d->split[s].token, d->split[s].start[d->split[s].n]);
    return 0;
}

static int read_all(importer *m, const char *folder, lra_err *e)
{
    lra_walk w = make_walk(m->config, m);
    int rc = lra_walk_path(&w, folder, e);
    if (rc != 0) return rc;
    rc = m->citations ? build_pairs(m, folder, e) : check_pairs(m, &w, folder, e);
    if (rc == 0) lra_walk_report(&w, folder);
    if (rc == 0) report(m);
    return rc;
}

static int import_counting(const lra_config *c, const char *folder, lra_dataset *d,
                           lra_aan_counts counts[LRA_N_SPLITS], lra_err *e)
{
    importer m = {.config = c,
                  .data = d,
                  .length = lra_config_int(c, "length"),
                  .rows = lra_config_int(c, "rows"),
                  .characters = in_characters(c) ? lra_characters_new() : NULL};
    if (from_citations(c))
        m.citations = lra_citations_new((size_t)(in_characters(c) ? 4 : 1) * (size_t)m.length);
    m.token = lra_alloc_array((size_t)(2 * m.length), sizeof *m.token);
    int rc = read_all(&m, folder, e);
    if (rc == 0 && m.characters) rc = fix_vocabulary(&m, e);
    if (counts) memcpy(counts, m.counts, sizeof m.counts);
    for (int s = 0; s < LRA_N_SPLITS; s++) d->n_official[s] = m.citations ? 0 : m.counts[s].n_rows;
    for (int s = 0; s < LRA_N_SPLITS; s++) lra_free(m.file[s]);
    lra_aan_free(&m.reader);
    lra_citations_free(m.citations);
    lra_characters_free(m.characters);
    lra_free(m.token);
    return rc;
}

static int import(const lra_config *c, const char *folder, lra_dataset *d, lra_err *e)
{
    return import_counting(c, folder, d, NULL, e);
}

static int import_hash(const lra_config *c, const char *folder, lra_digest *to, lra_err *e)
{
    lra_walk w = make_walk(c, NULL);
    return lra_walk_hash(&w, folder, to, e);
}

static int inspect(const lra_config *c, const char *folder, lra_facts *found, lra_err *e)
{
    lra_aan_counts counts[LRA_N_SPLITS];
    lra_dataset d = {.task = &lra_task_retrieval};
    int rc = import_counting(c, folder, &d, counts, e);
    for (int s = 0; s < LRA_N_SPLITS && rc == 0; s++) {
        const char *name = lra_split_names[s];
        int64_t positive = 0;
        for (int64_t i = 0; i < d.split[s].n; i++) positive += d.split[s].label[i];
        lra_facts_add(found, (double)d.split[s].n, "%s pairs", name);
        lra_facts_add(found, (double)positive, "%s pairs of label 1", name);
        lra_facts_defect(found, counts[s].n_columns, "%s lines without 5 columns", name);
        lra_facts_defect(found, counts[s].n_labels, "%s lines without a label", name);
        lra_facts_add(found, (double)counts[s].n_quoted, "%s texts that start with a quote", name);
        lra_facts_defect(found, counts[s].n_empty, "%s empty texts", name);
    }
    for (int s = 0; s < LRA_N_SPLITS; s++) lra_sequences_free(&d.split[s]);
    lra_free(d.words);
    return rc;
}

static void show(const lra_row *row, FILE *out)
{
    lra_row part[2] = {*row, *row};
    part[0].n = row->middle;
    part[1].n = row->n - row->middle, part[1].token = row->token + row->middle;
    lra_bytes_show(&part[0], out);
    fputs("----\n", out);
    lra_bytes_show(&part[1], out);
}

static const lra_key keys[] = {
    LRA_INT_KEY("length", "4000", MIN_LENGTH, MAX_LENGTH, "number of tokens kept of each document"),
    LRA_ROWS_KEY("maximum number of rows of each split (0 = all)"),
    LRA_CHOICE_KEY("vocab", "bytes", "bytes|chars",
                   "tokens: bytes, or characters of the training set"),
    LRA_CHOICE_KEY("pairs", "files", "files|citations",
                   "pairs: read from the files, or made from citations"),
    LRA_KEYS_END};

const lra_task lra_task_retrieval = {
    .name = "retrieval",
    .summary = "does one paper cite the other? pairs of papers (AAN), two classes",
    .files.source = SOURCE,
    .files.published = {147086, 18090, 17437},
    .goal = LRA_GOAL_PAIR,
    .n_classes = 2,
    .data.longest = lra_longest_length,
    .input.vocab = LRA_BYTES_VOCAB,
    .input.first_word = LRA_BYTES_FIRST,
    .input.mask = LRA_BYTES_MASK,
    .keys = keys,
    .quick = {"length=256 rows=3000",
              "batch=32 epochs=8 warmup=0.05 final-share=0.34 final-rate=0.1", 2},
    .small = {"length=1024 rows=20000", "batch=32 epochs=6 warmup=0.02", 3},
    .paper = {NULL, "batch=64 epochs=60 patience=5", 3},
    .files.import_keys = "length rows vocab pairs",
    .files.import = import,
    .files.import_hash = import_hash,
    .baseline = lra_baseline_constant,
    .files.inspect = inspect,
    .text.show = show,
};
