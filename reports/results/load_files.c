/* Loads the files of one kind, each cell once (load_files.h). */
#include "reports/results/load_files.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/os/file.h"
#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/cli/progress.h"
#include "reports/results/result_files.h"

enum { MOST_NAMED = 5 };

typedef struct {
    void *item;
    char *path, *cell;
    uint64_t digest;
    int at; /* rank in the order of the places */
    bool dropped;
} entry;

typedef struct {
    const lra_file_kind *kind;
    entry *entry;
    int n, unreadable;
} loader;

enum { MOST_LEFT_OUT = 100 };
static lra_err left_out[MOST_LEFT_OUT];
static int n_left_out;

const char *lra_files_left_out(int i)
{
    return i < n_left_out ? left_out[i].msg : NULL;
}

/* ---- read ------------------------------------------------------------------------------------ */

/* Reads one file; takes ownership of the path. */
static void read_one(loader *l, char *path, lra_err *first)
{
    lra_err e = {{0}};
    void *item = l->kind->read(path, l->kind->file, &e);
    if (item) {
        l->entry[l->n] = (entry){.item = item, .path = path, .at = l->n};
        l->entry[l->n].cell = l->kind->cell(item);
        l->entry[l->n].digest = l->kind->digest(item);
        l->n++;
        return;
    }
    if (n_left_out < MOST_LEFT_OUT) left_out[n_left_out++] = e;
    if (l->unreadable++ == 0) *first = e;
    if (l->unreadable > 1 && l->unreadable <= MOST_NAMED) lra_warn("left out: %s", e.msg);
    lra_free(path);
}

/* Fails with the first error if no file could be read; otherwise the error becomes a warning. */
static int report_unreadable(const loader *l, const lra_err *first, lra_err *e)
{
    if (l->unreadable && l->n == 0) {
        *e = *first;
        return LRA_FAILED;
    }
    if (l->unreadable) lra_warn("left out: %s", first->msg);
    if (l->unreadable > MOST_NAMED)
        lra_warn("%d files were skipped, %d of them are listed above", l->unreadable,
                 (int)MOST_NAMED);
    return 0;
}

/* ---- each cell once -------------------------------------------------------------------------- */

static int by_cell(const void *a, const void *b)
{
    const entry *x = *(entry *const *)a, *y = *(entry *const *)b;
    int order = strcmp(x->cell, y->cell);
    return order ? order : x->at - y->at;
}

static void note_copies(int n, const entry *copy, const entry *original)
{
    bool same = strcmp(copy->path, original->path) == 0;
    char *first = same ? lra_format("'%s' is given twice", copy->path)
                       : lra_format("'%s' is a copy of '%s'", copy->path, original->path);
    if (n == 1)
        lra_note("%s: counted once", first);
    else
        lra_note("%d files are given twice or are copies of others: each run is counted once (the "
                 "first: %s)",
                 n, first);
    lra_free(first);
}

static void drop_repeated(loader *l)
{
    entry **sorted = lra_alloc_array((size_t)l->n + 1, sizeof *sorted), *kept = NULL;
    const entry *copy = NULL, *original = NULL;
    int copies = 0, others = 0;
    for (int i = 0; i < l->n; i++) sorted[i] = &l->entry[i];
    qsort(sorted, (size_t)l->n, sizeof *sorted, by_cell);
    for (int i = 0; i < l->n; i++) {
        entry *x = sorted[i];
        if (!kept || strcmp(kept->cell, x->cell) != 0) {
            kept = x;
            continue;
        }
        x->dropped = true;
        if (x->digest == kept->digest) {
            if (copies++ == 0) copy = x, original = kept;
        } else if (others++ < MOST_NAMED) {
            lra_warn(
                "'%s' and '%s' have the same configuration and seed but different measurements; "
                "used: '%s'",
                x->path, kept->path, kept->path);
        }
    }
    if (copies) note_copies(copies, copy, original);
    if (others > MOST_NAMED)
        lra_warn("%d files have the configuration and the seed of another but other measurements; "
                 "%d of them are named above",
                 others, (int)MOST_NAMED);
    lra_free(sorted);
}

/* ---- all ------------------------------------------------------------------------------------- */

/* Moves the items that are kept to *list, in the order of their places; frees the other items and
 * all entries. */
static int hand_over(loader *l, void ***list)
{
    int n = 0;
    *list = lra_alloc_array((size_t)l->n + 1, sizeof **list);
    for (int i = 0; i < l->n; i++) {
        entry *x = &l->entry[i];
        if (x->dropped)
            l->kind->free(x->item);
        else
            (*list)[n++] = x->item;
        lra_free(x->path);
        lra_free(x->cell);
    }
    lra_free(l->entry);
    return n;
}

int lra_files_load(const lra_file_kind *kind, int n, const char *const *place, void ***list,
                   lra_err *e)
{
    char **path;
    lra_err first = {{0}};
    int n_paths = lra_result_files_find(n, place, kind->file, &path, e);
    *list = NULL;
    if (n_paths < 0) return LRA_FAILED;
    loader l = {.kind = kind, .entry = lra_alloc_array((size_t)n_paths + 1, sizeof *l.entry)};
    char *title = lra_format("reading %s", kind->file);
    lra_progress *p = lra_progress_new(title, n_paths);
    for (int i = 0; i < n_paths; i++) {
        read_one(&l, path[i], &first);
        lra_progress_at(p, i + 1, NULL);
    }
    lra_progress_free(p);
    lra_free(title);
    lra_free(path);
    int rc = report_unreadable(&l, &first, e);
    if (rc == 0) drop_repeated(&l);
    for (int i = 0; i < l.n && rc != 0; i++) l.entry[i].dropped = true;
    int n_items = hand_over(&l, list);
    if (rc == 0) return n_items;
    lra_free(*list);
    *list = NULL;
    return rc;
}

static bool begins_with(const char *line, int n_words, const char *const *word)
{
    for (int i = 0; i < n_words; i++)
        if (strncmp(line, word[i], strlen(word[i])) == 0) return true;
    return false;
}

char *lra_identity_text(const char *task, const char *preset, const char *precision,
                        const char *fingerprint, const char *config, int n_words,
                        const char *const *word)
{
    static const char *const other[] = {"train.from=", "train.matched="};
    lra_text t = {0};
    lra_text_add(&t, "%s %s %s %s\n", task, preset, precision, fingerprint);
    for (const char *line = config; *line;) {
        size_t n = strcspn(line, "\n");
        if (!begins_with(line, n_words, word) && !begins_with(line, 2, other))
            lra_text_add(&t, "%.*s\n", (int)n, line);
        line += n + (line[n] == '\n');
    }
    return t.s;
}
