/* sources: computes hashes of the sources that determine the arithmetic of a model, at build time.
 *
 *   sources OUT.c ROOT --models FILE... --ops FILE... --engine FILE...
 *
 * The hash of a file ignores comments, blanks, #include lines, texts with blanks (messages, help),
 * the help of keys and tables of presets. It contains no path, so that it does not change when
 * files move or comments are rewritten. The hash of a model covers the file with its record and all
 * files of --models that this file includes, directly or not, each header together with its .c
 * file. The hash of an op covers the files of --ops that its file includes, without the .c files of
 * headers. OUT.c receives the tables of kernels/base/core/sources.h. */
#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FILES = 2048, MOST_INCLUDES = 64, MOST_NAMES = 64, NAME = 256 };

typedef struct {
    char *path; /* path relative to ROOT */
    char *text;
    char **token; /* the n_tokens words of the file */
    int n_tokens;
    char *include[MOST_INCLUDES];
    int n_includes;
    uint64_t hash;
    bool pastes; /* true: a macro of the file defines lra_op records */
} source;
typedef struct {
    int n;
    source file[MOST_FILES];
} sources;

static void fail(const char *what, const char *path)
{
    fprintf(stderr, "sources: %s '%s'\n", what, path);
    exit(1);
}

static void *room(size_t n)
{
    void *p = calloc(n ? n : 1, 1);
    if (!p) fail("no memory for", "files");
    return p;
}

static uint64_t add_bytes(uint64_t h, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) h = (h ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return h;
}
static const uint64_t start = UINT64_C(0xcbf29ce484222325);

static char *copy(const char *text, size_t n)
{
    char *p = room(n + 1);
    return memcpy(p, text, n);
}

/* ---- words ----------------------------------------------------------------------------------- */

/* Finds the next word: skips blanks and comments, sets *at to its start, and returns its end. NULL:
 * there are no more words. */
static const char *next_word(const char **at)
{
    const char *p = *at;
    for (;;) {
        while (isspace((unsigned char)*p) || (*p == '\\' && p[1] == '\n')) p++;
        if (p[0] == '/' && p[1] == '/') {
            while (*p && *p != '\n') p++;
        } else if (p[0] == '/' && p[1] == '*') {
            const char *end = strstr(p + 2, "*/");
            p = end ? end + 2 : p + strlen(p);
        } else {
            break;
        }
    }
    *at = p;
    if (!*p) return NULL;
    if (*p == '"' || *p == '\'') {
        char quote = *p++;
        while (*p && *p != quote) p += *p == '\\' && p[1] ? 2 : 1;
        return *p ? p + 1 : p;
    }
    if (!isalnum((unsigned char)*p) && *p != '_') return p + 1;
    while (isalnum((unsigned char)*p) || *p == '_' || *p == '.') p++;
    return p;
}

static void add_include(source *s, const char *line)
{
    const char *from = strchr(line, '"'), *end = strchr(line, '\n');
    const char *to = from ? strchr(from + 1, '"') : NULL;
    if (!to || (end && to > end)) return;
    if (s->n_includes == MOST_INCLUDES) fail("too many includes in", s->path);
    s->include[s->n_includes++] = copy(from + 1, (size_t)(to - from - 1));
}

static void split(source *s)
{
    size_t most = strlen(s->text) + 1;
    s->token = room(most * sizeof *s->token);
    const char *at = s->text, *end;
    while ((end = next_word(&at)) != NULL) {
        const char *word = at + strspn(at, "# \t");
        if (*at == '#' && strncmp(word, "include", 7) == 0) {
            add_include(s, at);
            at += strcspn(at, "\n");
            continue;
        }
        s->token[s->n_tokens++] = copy(at, (size_t)(end - at));
        at = end;
    }
}

/* ---- one file -------------------------------------------------------------------------------- */

static bool is_text(const source *s, int i)
{
    return i < s->n_tokens && s->token[i][0] == '"';
}
static bool is(const source *s, int i, const char *word)
{
    return i >= 0 && i < s->n_tokens && strcmp(s->token[i], word) == 0;
}
static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* True if the text at i is prose: it contains blanks, or is the last argument of a key. */
static bool is_prose(const source *s, int i, int last, bool key)
{
    for (int k = i; k <= last; k++)
        if (strchr(s->token[k], ' ')) return true;
    return key && is(s, i - 1, ",") && is(s, last + 1, ")");
}

/* Index of the token after the table of presets that starts at i; i if no such table starts
 * there. */
static int behind_presets(const source *s, int i)
{
    if (!is(s, i, "lra_model_preset") || s->n_tokens <= i + 1) return i;
    while (i < s->n_tokens && !is(s, i, ";")) i++;
    return i;
}

static void hash_file(source *s)
{
    uint64_t h = start;
    bool key = false; /* true between the parentheses of a key's macro */
    for (int i = 0; i < s->n_tokens; i++) {
        i = behind_presets(s, i);
        if (i == s->n_tokens) break;
        const char *word = s->token[i];
        if (is(s, i + 1, "(") && (ends_with(word, "_KEY") || ends_with(word, "_FIELD"))) key = true;
        if (is(s, i, "#") && is(s, i + 1, "#")) s->pastes |= is(s, i - 1, "lra_op_");
        int last = i;
        while (is_text(s, i) && is_text(s, last + 1)) last++;
        bool prose = is_text(s, i) && is_prose(s, i, last, key);
        for (int k = i; k <= last && !prose; k++)
            h = add_bytes(h, s->token[k], strlen(s->token[k]) + 1);
        if (prose) h = add_bytes(h, "\"\"", 3);
        if (is_text(s, i) && is(s, last + 1, ")")) key = false;
        i = last;
    }
    s->hash = h;
}

static void read_file(sources *all, const char *root, const char *name)
{
    if (all->n == MOST_FILES) fail("too many files at", name);
    source *s = &all->file[all->n++];
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", root, name);
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END) != 0) fail("cannot read", path);
    long size = ftell(f);
    rewind(f);
    s->path = copy(name, strlen(name));
    s->text = room((size_t)size + 1);
    if (fread(s->text, 1, (size_t)size, f) != (size_t)size) fail("cannot read", path);
    fclose(f);
    split(s);
    hash_file(s);
}

/* ---- dependencies of a file ------------------------------------------------------------------ */

static int find(const sources *all, const char *path)
{
    for (int i = 0; i < all->n; i++)
        if (strcmp(all->file[i].path, path) == 0) return i;
    return -1;
}

static void visit(const sources *all, int i, bool bodies, bool *seen)
{
    if (i < 0 || seen[i]) return;
    seen[i] = true;
    const source *s = &all->file[i];
    for (int k = 0; k < s->n_includes; k++) {
        char body[4096];
        visit(all, find(all, s->include[k]), bodies, seen);
        snprintf(body, sizeof body, "%s", s->include[k]);
        size_t n = strlen(body);
        if (!bodies || n < 2 || strcmp(body + n - 2, ".h") != 0) continue;
        body[n - 1] = 'c';
        visit(all, find(all, body), bodies, seen);
    }
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Combines the hashes of files in ascending order, so that file names do not matter. */
static uint64_t combined(const sources *all, const bool *seen)
{
    uint64_t list[MOST_FILES], h = start;
    int n = 0;
    for (int i = 0; i < all->n; i++)
        if (seen[i]) list[n++] = all->file[i].hash;
    qsort(list, (size_t)n, sizeof *list, compare);
    for (int i = 0; i < n; i++) h = add_bytes(h, (const char *)&list[i], sizeof list[i]);
    return h;
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Writes a row of the table for each record. Records are "TYPE PREFIXname" or "PREFIXname =" in any
 * file. */
static void write_records(FILE *to, const sources *all, const char *type, const char *prefix,
                          bool bodies)
{
    size_t n = strlen(prefix);
    bool *seen = room(MOST_FILES * sizeof *seen);
    for (int i = 0; i < all->n; i++) {
        const source *s = &all->file[i];
        memset(seen, 0, MOST_FILES * sizeof *seen);
        visit(all, i, bodies, seen);
        for (int k = 1; k < s->n_tokens; k++)
            if (strncmp(s->token[k], prefix, n) == 0 && is(s, k - 1, type) && is(s, k + 1, "="))
                fprintf(to, "    {\"%s\", UINT64_C(0x%016llx)},\n", s->token[k] + n,
                        (unsigned long long)combined(all, seen));
        if (s->pastes)
            fprintf(to, "    {\"\", UINT64_C(0x%016llx)},\n",
                    (unsigned long long)combined(all, seen));
    }
    free(seen);
}

static void write_tables(FILE *to, const sources *models, const sources *ops, const sources *engine)
{
    bool *all = room(MOST_FILES * sizeof *all);
    memset(all, 1, MOST_FILES * sizeof *all);
    fprintf(to, "/* Made when the program is built. */\n#include <stddef.h>\n\n"
                "#include \"kernels/base/core/sources.h\"\n\n"
                "const lra_source_hash lra_model_sources[] = {\n");
    write_records(to, models, "lra_model", "lra_model_", true);
    fprintf(to, "    {NULL, 0}};\nconst lra_source_hash lra_op_sources[] = {\n");
    write_records(to, ops, "lra_op", "lra_op_", false);
    fprintf(to, "    {NULL, 0}};\nconst uint64_t lra_engine_sources = UINT64_C(0x%016llx);\n",
            (unsigned long long)combined(engine, all));
    free(all);
}

int main(int argc, char **argv)
{
    static sources group[3];
    static const char *const name[] = {"--models", "--ops", "--engine"};
    sources *to = NULL;
    if (argc < 4) fail("usage: sources OUT.c ROOT --models ... --ops ... --engine ...", "");
    for (int i = 3; i < argc; i++) {
        bool option = false;
        for (int g = 0; g < 3; g++)
            if (strcmp(argv[i], name[g]) == 0) to = &group[g], option = true;
        if (option) continue;
        if (!to) fail("a file before --models:", argv[i]);
        read_file(to, argv[2], argv[i]);
    }
    FILE *f = fopen(argv[1], "w");
    if (!f) fail("cannot write", argv[1]);
    write_tables(f, &group[0], &group[1], &group[2]);
    if (fclose(f) != 0) fail("cannot write", argv[1]);
    return 0;
}
