/* text8 and enwik8: predicts the next character (text8) or the next byte (enwik8).
 * Source: Mahoney, "Large text compression benchmark": 100,000,000 bytes of Wikipedia each; text8
 * has 27 different characters. The first 90 million are for training, the next 5 for validation,
 * the last 5 for testing.
 * Files of another size are divided in the same proportions, and their size is reported.
 * Known: chance is log2 27 = 4.755 bits per character of text8, 8 bits per byte of enwik8. */
#include "datasets/language.h"

#include <string.h>

#include "datasets/formats/bom.h"
#include "datasets/formats/visit.h"
#include "datasets/formats/walk.h"
#include "datasets/registry.h"
#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"

enum { PUBLISHED = 100000000, LETTERS = 27, BYTES = 256, LEVELS = 2, SHOWN = 2000 };
enum { SPELLED = 7 /* a digit becomes at most 7 bytes: " seven " */ };

static const char *const letters[LETTERS] = {" ", "a", "b", "c", "d", "e", "f", "g", "h",
                                             "i", "j", "k", "l", "m", "n", "o", "p", "q",
                                             "r", "s", "t", "u", "v", "w", "x", "y", "z"};

/* ---- shared code ----------------------------------------------------------------------------- */

int lra_language_validate(const lra_config *c, lra_err *e)
{
    int64_t context = lra_config_int(c, "context"), tokens = lra_config_int(c, "tokens");
    if (tokens != 0 && tokens < context)
        return lra_fail_usage(e, "tokens is %lld, expected 0 (all) or at least the context (%lld)",
                              (long long)tokens, (long long)context);
    return 0;
}

int lra_language_fill(const lra_config *c, const int32_t *token, int64_t n, lra_dataset *d,
                      int split, lra_err *e)
{
    int64_t most = lra_config_int(c, "tokens");
    int width = lra_token_width(d->vocab);
    if (most && n > most) n = most;
    if (n < 2)
        return lra_fail(e, "the %s split has %lld tokens, expected at least 2",
                        lra_split_names[split], (long long)n);
    uint16_t *to = lra_sequences_extend(&d->split[split], 1, n, width, e);
    if (!to) return LRA_FAILED;
    for (int64_t i = 0; i < n; i++) {
        to[i * width] = (uint16_t)(token[i] & 0xFFFF);
        if (width == 2) to[2 * i + 1] = (uint16_t)(token[i] >> 16);
    }
    d->split[split].label[0] = 0;
    return 0;
}

/* ---- text8 ----------------------------------------------------------------------------------- */

int lra_text8_parse(const char *bytes, size_t n, const char *name, int32_t *token, lra_err *e)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] == ' ')
            token[i] = 0;
        else if (bytes[i] >= 'a' && bytes[i] <= 'z')
            token[i] = 1 + bytes[i] - 'a';
        else
            return lra_fail(
                e,
                "'%s' byte %zu is %d, expected a to z or a blank (--set clean=1 cleans any text)",
                name, i + 1, (unsigned char)bytes[i]);
    }
    return 0;
}

size_t lra_text8_clean(const char *bytes, size_t n, char *to)
{
    static const char *const digits[10] = {"zero", "one", "two",   "three", "four",
                                           "five", "six", "seven", "eight", "nine"};
    size_t k = 0;
    bool blank = true; /* true: a blank precedes the next letter */
    for (size_t i = 0; i < n; i++) {
        char s = bytes[i];
        bool digit = s >= '0' && s <= '9';
        if (s >= 'A' && s <= 'Z') s = (char)(s - 'A' + 'a');
        bool letter = s >= 'a' && s <= 'z';
        if (!letter || blank) {
            if (k > 0 && to[k - 1] != ' ') to[k++] = ' ';
            blank = false;
        }
        if (letter) to[k++] = s;
        if (!digit) continue;
        size_t size = strlen(digits[s - '0']);
        memcpy(to + k, digits[s - '0'], size);
        k += size;
        blank = true;
    }
    return k;
}

/* ---- the files ------------------------------------------------------------------------------- */

/* State of an import. The file is recognised by its name in folders and archives; any_name: the
 * path is the file itself. */
typedef struct {
    const lra_task *task;
    const lra_config *config;
    bool any_name;
    char *found; /* name of the file that was read */
    lra_dataset *data;
} importer;

static bool is_wanted(void *of, const char *name)
{
    const importer *m = of;
    return m->any_name || strcmp(lra_walk_base(name), m->task->name) == 0;
}

static bool looks_inside(void *of, const char *name)
{
    const importer *m = of;
    size_t n = strlen(m->task->name);
    const char *base = lra_walk_base(name);
    return strncmp(base, m->task->name, n) == 0 && base[n] == '.';
}

static int fill_splits(importer *m, const int32_t *token, int64_t n, lra_err *e)
{
    int64_t small = n / 20, part[LRA_N_SPLITS] = {n - 2 * small, small, small}, at = 0;
    int rc = 0;
    for (int s = 0; s < LRA_N_SPLITS && rc == 0; at += part[s++])
        rc = lra_language_fill(m->config, token + at, part[s], m->data, s, e);
    return rc;
}

/* Encodes letters and blanks of text8 (already cleaned), or bytes of enwik8, as ids; token: (n). */
static int encode(const importer *m, const char *name, const char *bytes, int64_t n, int32_t *token,
                  lra_err *e)
{
    if (m->task->input.vocab == LETTERS) return lra_text8_parse(bytes, (size_t)n, name, token, e);
    for (int64_t i = 0; i < n; i++) token[i] = (unsigned char)bytes[i];
    return 0;
}

static int read_file(void *of, const char *name, const char *bytes, size_t n, lra_err *e)
{
    importer *m = of;
    if (m->found)
        return lra_fail(e, "two files for '%s': '%s' and '%s'; name one of them", m->task->name,
                        m->found, name);
    m->found = lra_copy_text(name);
    char *clean = NULL;
    size_t bom = m->task->input.vocab == LETTERS ? lra_bom_size(bytes, n) : 0;
    bytes += bom, n -= bom;
    if (m->task->input.vocab == LETTERS && lra_config_int(m->config, "clean")) {
        clean = lra_try_alloc(SPELLED * n, name, e);
        if (!clean) return LRA_FAILED;
        n = lra_text8_clean(bytes, n, clean);
        bytes = clean;
    }
    m->data->n_official[LRA_TRAIN_SPLIT] = (int64_t)n;
    int32_t *token = lra_try_array((int64_t)n, sizeof *token, name, e);
    int rc = token ? encode(m, name, bytes, (int64_t)n, token, e) : LRA_FAILED;
    if (rc == 0) rc = fill_splits(m, token, (int64_t)n, e);
    lra_free(token);
    lra_free_large(clean);
    return rc;
}

static lra_walk make_walk(importer *m)
{
    return (lra_walk){
        .wanted = is_wanted, .inside = looks_inside, .visit = read_file, .of = m, .levels = LEVELS};
}

static int import_file(const lra_task *t, const lra_config *c, const char *path, lra_dataset *d,
                       lra_err *e)
{
    importer m = {.task = t, .config = c, .data = d, .any_name = !lra_is_folder(path)};
    lra_walk w = make_walk(&m);
    int rc = lra_walk_path(&w, path, e);
    if (rc == 0 && !m.found)
        rc = lra_fail_absent(e, "no file '%s' in '%s' or %d levels below%s; expected %s", t->name,
                             path, (int)LEVELS, lra_walk_but_empty(&w), t->files.source);
    if (rc == 0) lra_walk_report(&w, path);
    lra_free(m.found);
    return rc;
}

static int hash_file(const lra_task *t, const char *path, lra_digest *to, lra_err *e)
{
    importer m = {.task = t};
    lra_walk w = make_walk(&m);
    return lra_walk_hash(&w, path, to, e);
}

static int import_text8(const lra_config *c, const char *path, lra_dataset *d, lra_err *e)
{
    return import_file(&lra_task_text8, c, path, d, e);
}

static int import_enwik8(const lra_config *c, const char *path, lra_dataset *d, lra_err *e)
{
    return import_file(&lra_task_enwik8, c, path, d, e);
}

static int hash_text8(const lra_config *c, const char *path, lra_digest *to, lra_err *e)
{
    (void)c;
    return hash_file(&lra_task_text8, path, to, e);
}

static int hash_enwik8(const lra_config *c, const char *path, lra_digest *to, lra_err *e)
{
    (void)c;
    return hash_file(&lra_task_enwik8, path, to, e);
}

/* ---- the tasks ------------------------------------------------------------------------------- */

/* Prints the first SHOWN tokens of the stream. */
static void show_text8(const lra_row *row, FILE *out)
{
    for (int64_t i = 0; i < row->n && i < SHOWN; i++) fputs(letters[row->token[i]], out);
    fputs(row->n > SHOWN ? "...\n" : "\n", out);
}

static void show_enwik8(const lra_row *row, FILE *out)
{
    for (int64_t i = 0; i < row->n && i < SHOWN; i++) {
        int byte = row->token[i];
        fputc((byte < ' ' && byte != '\n' && byte != '\t') || byte == 127 ? '?' : byte, out);
    }
    fputs(row->n > SHOWN ? "...\n" : "\n", out);
}

const lra_task lra_task_text8 = {
    .name = "text8",
    .summary = "the next character of Wikipedia, 27 characters",
    .files.source = "text8.zip: http://mattmahoney.net/dc/text8.zip",
    .files.published = {PUBLISHED},
    .goal = LRA_GOAL_NEXT,
    .data.longest = lra_longest_context,
    .metric = "bits-per-character",
    .input.vocab = LETTERS,
    .text.token_names = letters,
    .keys = (const lra_key[]){LRA_LANGUAGE_ROWS,
                              LRA_FLAG_KEY("clean", "0",
                                           "clean the file first: keep letters, spell out digits"),
                              LRA_KEYS_END},
    .quick = {"context=64 tokens=200000", LRA_LANGUAGE_QUICK, 2},
    .small = {"context=256 tokens=5000000", LRA_LANGUAGE_SMALL, 3},
    .paper = {NULL, LRA_LANGUAGE_PAPER, 3},
    .validate = lra_language_validate,
    .files.import_keys = "context tokens clean",
    .files.import = import_text8,
    .files.import_hash = hash_text8,
    .text.show = show_text8,
};

const lra_task lra_task_enwik8 = {
    .name = "enwik8",
    .summary = "the next byte of Wikipedia, with its markup",
    .files.source = "enwik8.zip: http://mattmahoney.net/dc/enwik8.zip",
    .files.published = {PUBLISHED},
    .goal = LRA_GOAL_NEXT,
    .data.longest = lra_longest_context,
    .metric = "bits-per-byte",
    .input.vocab = BYTES,
    .keys = (const lra_key[]){LRA_LANGUAGE_ROWS, LRA_KEYS_END},
    .quick = {"context=64 tokens=200000", LRA_LANGUAGE_QUICK, 2},
    .small = {"context=256 tokens=5000000", LRA_LANGUAGE_SMALL, 3},
    .paper = {NULL, LRA_LANGUAGE_PAPER, 3},
    .validate = lra_language_validate,
    .files.import_keys = "context tokens",
    .files.import = import_enwik8,
    .files.import_hash = hash_enwik8,
    .text.show = show_enwik8,
};
