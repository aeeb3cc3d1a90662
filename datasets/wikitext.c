/* WikiText-103: predicts the next word.
 * Source: Merity et al. 2016, "Pointer sentinel mixture models"; 103,227,021 / 217,646 / 245,569
 * tokens with <eos>. The vocabulary is the words of the training text (267,735 with <eos>), see
 * datasets/loader/words.h.
 * training=valid replaces a missing training text: the validation text is used for training, and
 * the test text is divided in two for validation and testing. Results are then not comparable with
 * published ones, and a warning is printed. */
#include <string.h>

#include "datasets/formats/bom.h"
#include "datasets/formats/walk.h"
#include "datasets/language.h"
#include "datasets/loader/words.h"
#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"

enum { LEVELS = 2, VOCAB = 267735 };
#define SOURCE                                                                                     \
    "wiki.{train,valid,test}.tokens (or train.txt and so on) of wikitext-103-v1.zip: "             \
    "https://huggingface.co/datasets/Salesforce/wikitext"
/* Python program that converts Parquet files with the column text; an empty text becomes a line
 * with a blank. */
#define PARQUET                                                                                    \
    "import glob,pandas as p;[open('wiki.'+f+'.tokens','w',encoding='utf8',newline='').write(''"   \
    ".join(t or ' \\n' for t in p.concat(map(p.read_parquet,sorted(glob.glob('**/'+s+"             \
    "'-*.parquet',recursive=True)))).text)) for s,f in (('train','train'),('validation','valid')," \
    "('test','test'))]"
static const char *const stems[LRA_N_SPLITS] = {"train", "valid", "test"};

typedef struct {
    lra_words *words;
    lra_word_text text[LRA_N_SPLITS];
    char *name[LRA_N_SPLITS]; /* names of the files that were read */
    bool from_valid;
    int reading; /* split of the file that is being read, -1: none */
} importer;

static bool trains_on_valid(const lra_config *c)
{
    return strcmp(lra_config_text(c, "training"), "valid") == 0;
}

/* ---- the files ------------------------------------------------------------------------------- */

/* Returns the split of a file wiki.train.tokens, train.txt and so on; -1 for other files. */
static int split_of(const char *name)
{
    for (int s = 0; s < LRA_N_SPLITS; s++) {
        char names[2][32];
        snprintf(names[0], sizeof names[0], "wiki.%s.tokens", stems[s]);
        snprintf(names[1], sizeof names[1], "%s.txt", stems[s]);
        for (int k = 0; k < 2; k++)
            if (strcmp(lra_walk_base(name), names[k]) == 0) return s;
    }
    return -1;
}

static bool is_wanted(void *of, const char *name)
{
    (void)of;
    return split_of(name) >= 0;
}

/* Returns true for the archive wikitext-103-v1.zip, or for one of its files, compressed. */
static bool looks_inside(void *of, const char *name)
{
    (void)of;
    const char *base = lra_walk_base(name);
    if (strncmp(base, "wikitext", 8) == 0 || strncmp(base, "wiki.", 5) == 0) return true;
    for (int s = 0; s < LRA_N_SPLITS; s++)
        if (strncmp(base, stems[s], strlen(stems[s])) == 0 && strstr(base, ".txt.")) return true;
    return false;
}

static int read_piece(void *of, const char *name, const char *bytes, size_t n, lra_err *e)
{
    importer *m = of;
    int split = split_of(name);
    if (m->reading < 0) {
        if (m->name[split])
            return lra_fail(
                e, "two files of the %s text: '%s' and '%s'; expected one, in the folder or below",
                stems[split], m->name[split], name);
        m->name[split] = lra_copy_text(name);
        m->reading = split;
        size_t bom = lra_bom_size(bytes, n);
        bytes += bom, n -= bom;
    }
    if (lra_words_encode(m->words, &m->text[split], bytes, n, e) != 0)
        return lra_fail_in(e, "'%s'", name);
    if (n == 0) m->reading = -1;
    return 0;
}

static int check_files(const importer *m, const lra_walk *w, const char *path, lra_err *e)
{
    bool none = !m->name[0] && !m->name[1] && !m->name[2];
    for (int s = 0; s < LRA_N_SPLITS; s++) {
        if (m->name[s] || (s == LRA_TRAIN_SPLIT && m->from_valid)) continue;
        if (s == LRA_TRAIN_SPLIT && m->name[LRA_VAL_SPLIT])
            return lra_fail(
                e,
                "no training text in '%s', which provides the vocabulary; expected %s (--set "
                "training=valid uses only the other two, for trials)",
                path, SOURCE);
        lra_fail(e, "no %s text in '%s' or %d levels below%s; expected %s", stems[s], path,
                 (int)LEVELS, lra_walk_but_empty(w), SOURCE);
        return none ? LRA_ABSENT : LRA_FAILED;
    }
    return 0;
}

static lra_walk make_walk(importer *m)
{
    return (lra_walk){.wanted = is_wanted,
                      .inside = looks_inside,
                      .piece = read_piece,
                      .of = m,
                      .levels = LEVELS};
}

/* ---- the streams ----------------------------------------------------------------------------- */

/* Returns the index after the first line end in the second half of the text. */
static int64_t middle_of(const lra_word_text *t)
{
    int64_t middle = t->n / 2;
    while (middle < t->n && t->token[middle] != 0) middle++;
    return middle < t->n ? middle + 1 : t->n / 2;
}

static int fill(const lra_config *c, importer *m, lra_dataset *d, lra_err *e)
{
    const lra_word_text *t = m->text;
    int rc;
    for (int s = 0; s < LRA_N_SPLITS && !m->from_valid; s++) d->n_official[s] = t[s].n;
    d->vocab = lra_words_fix(m->words);
    d->words = lra_words_lines(m->words);
    for (int s = 0; s < LRA_N_SPLITS; s++) lra_words_renumber(m->words, t[s].token, t[s].n);
    if (!m->from_valid) {
        rc = lra_language_fill(c, t[0].token, t[0].n, d, LRA_TRAIN_SPLIT, e);
        if (rc == 0) rc = lra_language_fill(c, t[1].token, t[1].n, d, LRA_VAL_SPLIT, e);
        return rc == 0 ? lra_language_fill(c, t[2].token, t[2].n, d, LRA_TEST_SPLIT, e) : rc;
    }
    int64_t half = middle_of(&t[2]);
    rc = lra_language_fill(c, t[1].token, t[1].n, d, LRA_TRAIN_SPLIT, e);
    if (rc == 0) rc = lra_language_fill(c, t[2].token, half, d, LRA_VAL_SPLIT, e);
    if (rc == 0) rc = lra_language_fill(c, t[2].token + half, t[2].n - half, d, LRA_TEST_SPLIT, e);
    lra_warn("wikitext-103: trained on the validation text, validated and tested on halves of the "
             "test text: not comparable with published results");
    return rc;
}

static int read_all(const lra_config *c, const char *path, importer *m, lra_err *e)
{
    *m = (importer){.words = lra_words_new(), .from_valid = trains_on_valid(c), .reading = -1};
    m->text[m->from_valid ? LRA_VAL_SPLIT : LRA_TRAIN_SPLIT].counted = true;
    lra_walk w = make_walk(m);
    int rc = lra_walk_path(&w, path, e);
    if (rc == 0) rc = check_files(m, &w, path, e);
    if (rc == 0) lra_walk_report(&w, path);
    return rc;
}

static void close_all(importer *m)
{
    for (int s = 0; s < LRA_N_SPLITS; s++) {
        lra_word_text_free(&m->text[s]);
        lra_free(m->name[s]);
    }
    lra_words_free(m->words);
}

static int import(const lra_config *c, const char *path, lra_dataset *d, lra_err *e)
{
    importer m;
    int rc = read_all(c, path, &m, e);
    if (rc == 0) rc = fill(c, &m, d, e);
    close_all(&m);
    return rc;
}

static int import_hash(const lra_config *c, const char *path, lra_digest *to, lra_err *e)
{
    (void)c;
    lra_walk w = make_walk(NULL);
    return lra_walk_hash(&w, path, to, e);
}

static int inspect(const lra_config *c, const char *path, lra_facts *found, lra_err *e)
{
    importer m;
    int rc = read_all(c, path, &m, e);
    for (int s = 0; s < LRA_N_SPLITS && rc == 0; s++) {
        lra_facts_add(found, (double)m.text[s].n_lines, "%s, lines", stems[s]);
        lra_facts_add(found, (double)(m.text[s].n - m.text[s].n_lines), "%s, words", stems[s]);
        lra_facts_add(found, (double)m.text[s].n, "%s, tokens with <eos>", stems[s]);
    }
    if (rc == 0) lra_facts_add(found, (double)lra_words_fix(m.words), "vocabulary");
    if (rc == 0) lra_facts_add(found, VOCAB, "vocabulary of WikiText-103");
    close_all(&m);
    return rc;
}

const lra_task lra_task_wikitext103 = {
    .name = "wikitext-103",
    .summary = "the next word of Wikipedia articles",
    .files.source = SOURCE,
    .files.from_parquet = PARQUET,
    .files.published = {103227021, 217646, 245569},
    .goal = LRA_GOAL_NEXT,
    .data.longest = lra_longest_context,
    .metric = "perplexity",
    .input.vocab = VOCAB,
    .keys =
        (const lra_key[]){
            LRA_LANGUAGE_ROWS,
            LRA_CHOICE_KEY(
                "training", "file", "file|valid",
                "valid: train on the validation text, as a trial without the large file"),
            LRA_KEYS_END},
    .quick = {"context=32 tokens=50000", LRA_LANGUAGE_QUICK,
              /* fewer seeds, because the output layer of 14,000 words or more is slow to train */
              2},
    .small = {"context=256 tokens=5000000", LRA_LANGUAGE_SMALL, 3},
    .paper = {NULL, LRA_LANGUAGE_PAPER, 3},
    .validate = lra_language_validate,
    .files.import_keys = "context tokens training",
    .files.import = import,
    .files.import_hash = import_hash,
    .files.inspect = inspect,
};
