/* Reads and writes ListOps files.
 * Tokens: `]` becomes X, parentheses are omitted, the rest is split at blanks. A row of T tokens is
 * written as 3T-2 words: k+1 opening parentheses precede a node with k arguments, and a closing
 * parenthesis follows each argument and the closing bracket. */
#include "datasets/listops/file.h"

#include <string.h>

#include "datasets/formats/bom.h"
#include "datasets/formats/walk.h"
#include "datasets/listops/tree.h"
#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"

#define MAX_FILE ((uint64_t)1 << 33)

/* ---- read ------------------------------------------------------------------------------------ */

typedef struct {
    const char *name;
    int64_t line;
    bool check;
    enum { ANY_ORDER, LABEL_LAST, LABEL_FIRST } order; /* order of the columns, from the header */
    uint16_t *token;
    int64_t capacity;
    int64_t n_rows, n_wrong;
    lra_err first; /* error of the first invalid line */
} reader;

static int token_id(const char *word, size_t n)
{
    if (n == 1 && *word == ']') return LISTOPS_CLOSE;
    for (int id = LISTOPS_DIGIT; id < LISTOPS_VOCAB; id++)
        if (strlen(lra_listops_tokens[id]) == n && memcmp(word, lra_listops_tokens[id], n) == 0)
            return id;
    return -1;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '(' || c == ')';
}

static int64_t read_expression(reader *r, const char *text, size_t n, lra_err *e)
{
    int64_t count = 0;
    for (size_t i = 0; i < n;) {
        if (is_blank(text[i])) {
            i++;
            continue;
        }
        size_t end = i;
        while (end < n && !is_blank(text[end])) end++;
        int id = token_id(text + i, end - i);
        if (id < 0)
            return lra_fail(e,
                            "'%s' line %lld: unknown token '%.*s'; expected one of [MAX [MIN "
                            "[MED [SM ] 0-9",
                            r->name, (long long)r->line, (int)(end - i < 40 ? end - i : 40),
                            text + i);
        if (count + 2 > r->capacity) {
            r->capacity = 2 * r->capacity + 1024;
            r->token = lra_resize(r->token, (size_t)r->capacity * sizeof *r->token);
        }
        r->token[count++] = (uint16_t)id;
        i = end;
    }
    return count;
}

static int read_label(const reader *r, const char *text, size_t n, lra_err *e)
{
    if (n == 1 && *text >= '0' && *text <= '9') return *text - '0';
    return lra_fail(e, "'%s' line %lld: label is '%.*s', expected 0 to 9", r->name,
                    (long long)r->line, (int)(n < 40 ? n : 40), text);
}

static int read_line(reader *r, const char *text, size_t n, lra_sequences *out, lra_err *e)
{
    const char *tab = memchr(text, '\t', n);
    size_t left = tab ? (size_t)(tab - text) : n;
    if (!tab || memchr(tab + 1, '\t', n - left - 1))
        return lra_fail(e, "'%s' line %lld has %s, expected 2", r->name, (long long)r->line,
                        tab ? "more than 2 columns" : "1 column");
    bool digit_first = left == 1 && text[0] >= '0' && text[0] <= '9' && n - left - 1 > 1;
    bool label_first = r->order == ANY_ORDER ? digit_first : r->order == LABEL_FIRST;
    const char *source = label_first ? tab + 1 : text, *target = label_first ? text : tab + 1;
    size_t n_source = label_first ? n - left - 1 : left;
    size_t n_target = label_first ? left : n - left - 1;
    int label = read_label(r, target, n_target, e);
    int64_t count = label < 0 ? -1 : read_expression(r, source, n_source, e);
    if (label < 0 || count < 0) return LRA_FAILED;
    for (int64_t i = 1; i < count; i++)
        if (r->token[i] == LISTOPS_CLOSE && r->token[i - 1] >= LISTOPS_MIN)
            return lra_fail(e, "'%s' line %lld: operator %s has no arguments", r->name,
                            (long long)r->line, lra_listops_tokens[r->token[i - 1]]);
    lra_err why;
    int value = lra_listops_value(r->token, count, LISTOPS_WHOLE, false, &why);
    if (value < 0) return lra_fail(e, "'%s' line %lld: %s", r->name, (long long)r->line, why.msg);
    if (r->check && value != label)
        return lra_fail(e, "'%s' line %lld: label is %d, but the expression evaluates to %d",
                        r->name, (long long)r->line, label, value);
    r->token[count++] = LISTOPS_EOS;
    lra_sequences_add_tokens(out, r->token, count, label);
    return 0;
}

/* Returns true if the line is the header that most files have; it sets the order of the columns. */
static bool read_header(reader *r, const char *text, size_t n)
{
    enum { SIZE = sizeof "Source\tTarget" - 1 };
    if (r->line != 1 || n != SIZE) return false;
    if (memcmp(text, "Source\tTarget", SIZE) == 0) r->order = LABEL_LAST;
    if (memcmp(text, "Target\tSource", SIZE) == 0) r->order = LABEL_FIRST;
    return r->order != ANY_ORDER;
}

/* Reads a line. An invalid line is counted, and its error is kept if it is the first. */
static void take_line(reader *r, const char *text, size_t n, lra_sequences *out)
{
    lra_err why = {{0}};
    if (read_header(r, text, n)) return;
    r->n_rows++;
    if (read_line(r, text, n, out, &why) != 0 && r->n_wrong++ == 0) r->first = why;
}

static bool is_empty(const char *bytes, size_t n)
{
    size_t i = 0;
    while (i < n && strchr(" \t\r\n", bytes[i]) && bytes[i]) i++;
    return i == n;
}

int lra_listops_parse(const char *bytes, size_t n, const char *name, bool check, lra_sequences *out,
                      lra_err *e)
{
    reader r = {.name = name, .check = check, .capacity = 4096};
    if (lra_expect_utf8(bytes, n, name, e) != 0) return LRA_FAILED;
    r.token = lra_alloc_array((size_t)r.capacity, sizeof *r.token);
    for (size_t at = lra_bom_size(bytes, n); at < n;) {
        const char *end = memchr(bytes + at, '\n', n - at);
        size_t size = end ? (size_t)(end - bytes) - at : n - at, next = at + size + 1;
        if (size && bytes[at + size - 1] == '\r') size--;
        if (size == 0 && is_empty(bytes + at, n - at)) break;
        r.line++;
        take_line(&r, bytes + at, size, out);
        at = next;
    }
    lra_free(r.token);
    if (r.n_wrong)
        return lra_fail(e, "%s; wrong rows: %lld of %lld", r.first.msg, (long long)r.n_wrong,
                        (long long)r.n_rows);
    return out->n ? 0 : lra_fail(e, "'%s' contains no rows", name);
}

/* ---- one file -------------------------------------------------------------------------------- */

typedef struct {
    const char *path;
    bool check;
    lra_sequences *out;
} one_file;

static int parse_one(void *of, const char *name, const char *bytes, size_t n, lra_err *e)
{
    (void)name;
    const one_file *f = of;
    return lra_listops_parse(bytes, n, f->path, f->check, f->out, e);
}

int lra_listops_read(const char *path, bool check, lra_sequences *out, lra_err *e)
{
    one_file f = {path, check, out};
    lra_walk w = {.visit = parse_one, .of = &f, .empty = true, .max_file = MAX_FILE};
    return lra_walk_path(&w, path, e);
}

/* ---- the official files ---------------------------------------------------------------------- */

enum { LEVELS = 3 }; /* maximum depth of the files: lra_release/lra_release/listops-1000 */

const char *const lra_listops_files[LRA_N_SPLITS] = {"basic_train.tsv", "basic_val.tsv",
                                                     "basic_test.tsv"};

static int split_of(const char *name)
{
    int s = LRA_N_SPLITS - 1;
    while (s >= 0 && strcmp(lra_walk_base(name), lra_listops_files[s]) != 0) s--;
    return s;
}

static bool is_wanted(void *split, const char *name)
{
    (void)split;
    return split_of(name) >= 0;
}

/* Returns true for an archive of the benchmark or one of its files, compressed. */
static bool is_archive(void *split, const char *name)
{
    (void)split;
    const char *base = lra_walk_base(name);
    if (strncmp(base, "lra_release", 11) == 0 || strncmp(base, "listops", 7) == 0) return true;
    for (int s = 0; s < LRA_N_SPLITS; s++) {
        size_t n = strlen(lra_listops_files[s]);
        if (strncmp(base, lra_listops_files[s], n) == 0 && base[n] == '.') return true;
    }
    return false;
}

/* Reads a file. The archive contains the files twice: only the first copy is read. */
static int visit(void *splits, const char *name, const char *bytes, size_t n, lra_err *e)
{
    lra_sequences *to = (lra_sequences *)splits + split_of(name);
    return to->n ? 0 : lra_listops_parse(bytes, n, name, true, to, e);
}

static lra_walk make_walk(lra_sequences *split)
{
    return (lra_walk){.wanted = is_wanted,
                      .inside = is_archive,
                      .visit = visit,
                      .of = split,
                      .levels = LEVELS,
                      .max_file = MAX_FILE};
}

int lra_listops_import(const char *path, lra_sequences split[LRA_N_SPLITS], lra_err *e)
{
    lra_walk w = make_walk(split);
    int rc = lra_walk_path(&w, path, e);
    bool none = split[0].n + split[1].n + split[2].n == 0;
    for (int s = 0; s < LRA_N_SPLITS && rc == 0; s++) {
        if (split[s].n) continue;
        lra_fail(e, "no '%s' in '%s' or %d levels below%s; expected " LRA_LISTOPS_SOURCE,
                 lra_listops_files[s], path, LEVELS, lra_walk_but_empty(&w));
        rc = none ? LRA_ABSENT : LRA_FAILED;
    }
    if (rc == 0) lra_walk_report(&w, path);
    return rc;
}

int lra_listops_hash(const char *path, lra_digest *to, lra_err *e)
{
    lra_walk w = make_walk(NULL);
    return lra_walk_hash(&w, path, to, e);
}

/* ---- write ----------------------------------------------------------------------------------- */

static bool is_op(uint16_t t)
{
    return t >= LISTOPS_MIN;
}

/* arity[i] = number of arguments of the operator at token i; stack: (n) working memory. */
static void count_arguments(const uint16_t *token, int64_t n, int64_t *arity, int64_t *stack)
{
    int64_t top = 0;
    for (int64_t i = 0; i < n; i++) {
        if (token[i] != LISTOPS_CLOSE && top > 0) arity[stack[top - 1]]++;
        if (is_op(token[i])) arity[i] = 0, stack[top++] = i;
        if (token[i] == LISTOPS_CLOSE) top--;
    }
}

static void add_row(lra_text *t, const uint16_t *token, int64_t n, int label, int64_t *arity)
{
    count_arguments(token, n, arity, arity + n);
    int64_t open = 0;
    for (int64_t i = 0; i < n; i++) {
        bool op = is_op(token[i]), close = token[i] == LISTOPS_CLOSE;
        if (i) lra_text_bytes(t, " ", 1);
        for (int64_t k = 0; op && k < arity[i] + 1; k++) lra_text_bytes(t, "( ", 2);
        const char *word = close ? "]" : lra_listops_tokens[token[i]];
        lra_text_bytes(t, word, strlen(word));
        if (close) open--;
        /* A closing bracket closes its own parenthesis; a complete argument also closes one of its
         * parent node. */
        if (close) lra_text_bytes(t, " )", 2);
        if (!op && open > 0) lra_text_bytes(t, " )", 2);
        if (op) open++;
    }
    lra_text_add(t, "\t%d\r\n", label);
}

int lra_listops_write(const char *path, const lra_sequences *r, lra_err *e)
{
    lra_file *w = lra_file_create(path, e);
    if (!w) return LRA_FAILED;
    lra_text t = {0};
    lra_text_add(&t, "Source\tTarget\r\n");
    int rc = 0;
    int64_t *arity = NULL;
    for (int64_t i = 0; i < r->n && rc == 0; i++) {
        int64_t n = r->start[i + 1] - r->start[i] - 1; /* number of tokens without <eos> */
        arity = lra_resize(arity, (size_t)(2 * n + 2) * sizeof *arity);
        add_row(&t, r->token + r->start[i], n, r->label[i], arity);
        if (t.n < (1 << 20) && i + 1 < r->n) continue;
        if (fwrite(t.s, 1, t.n, lra_file_stream(w)) != t.n)
            rc = lra_fail_errno(e, "cannot write '%s'", path);
        t.n = 0;
    }
    lra_free(arity);
    lra_text_free(&t);
    if (rc == 0) return lra_file_commit(w, e);
    lra_file_abort(w);
    return rc;
}
