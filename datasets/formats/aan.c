/* Reads the pairs of documents of Retrieval.
 * Source: Tay et al. 2021, new_aan_pairs.{train,eval,test}.tsv of lra_release.gz. */
#include "datasets/formats/aan.h"

#include <string.h>

#include "datasets/formats/bom.h"

enum { COLUMNS = 5, IDS_ALONE = 3, MAX_LINE = 1 << 28 };

typedef struct {
    const char *s;
    size_t n;
} column;

/* Splits a line at tabs. Writes at most MAX columns to `to`, and returns the number of all
 * columns. */
static int split_line(const char *line, size_t n, column *to)
{
    const char *end = line + n;
    for (int k = 0;; k++) {
        const char *tab = memchr(line, '\t', (size_t)(end - line)), *stop = tab ? tab : end;
        if (k < COLUMNS) to[k] = (column){line, (size_t)(stop - line)};
        if (!tab) return k + 1;
        line = tab + 1;
    }
}

static bool read_label(column c, int *label)
{
    static const char *const words[] = {"0.0", "1.0", "0", "1"};
    for (int k = 0; k < 4; k++)
        if (strlen(words[k]) == c.n && memcmp(words[k], c.s, c.n) == 0) {
            *label = k % 2;
            return true;
        }
    return false;
}

static int read_line(lra_aan_reader *r, const char *line, size_t n, lra_err *e)
{
    column c[COLUMNS];
    if (r->line == 0 && lra_expect_utf8(line, n, r->name, e) != 0) return LRA_FAILED;
    size_t bom = r->line++ == 0 ? lra_bom_size(line, n) : 0;
    line += bom, n -= bom;
    if (n > 0 && line[n - 1] == '\r') n--;
    if (n == 0) return 0;
    int found = split_line(line, n, c);
    if (found == IDS_ALONE)
        return lra_fail(
            e,
            "'%s' line %lld has 3 columns (ids without texts); expected 5 (label, id1, id2, text1, "
            "text2), or a citation list with texts (--set pairs=citations)",
            r->name, (long long)r->line);
    lra_aan_pair pair;
    if (found != COLUMNS) {
        r->counts.n_columns++;
        return 0;
    }
    if (!read_label(c[0], &pair.label)) {
        r->counts.n_labels++;
        return 0;
    }
    for (int k = 0; k < 2; k++) {
        pair.id[k] = c[1 + k].s, pair.n_id[k] = c[1 + k].n;
        pair.text[k] = c[3 + k].s, pair.n_text[k] = c[3 + k].n;
        r->counts.n_quoted += c[3 + k].n > 0 && c[3 + k].s[0] == '"';
        r->counts.n_empty += c[3 + k].n == 0;
    }
    r->counts.n_rows++;
    return r->pair(r->of, &pair, e);
}

static int keep_rest(lra_aan_reader *r, const char *bytes, size_t n, lra_err *e)
{
    if (r->rest.n + n > MAX_LINE)
        return lra_fail(e, "'%s' line %lld has more than %d bytes", r->name, (long long)r->line + 1,
                        (int)MAX_LINE);
    lra_text_bytes(&r->rest, bytes, n);
    return 0;
}

int lra_aan_read(lra_aan_reader *r, const char *bytes, size_t n, lra_err *e)
{
    int rc = 0;
    if (n == 0) {
        if (r->rest.n) rc = read_line(r, r->rest.s, r->rest.n, e);
        r->rest.n = 0;
        return rc;
    }
    for (size_t at = 0; at < n && rc == 0;) {
        const char *end = memchr(bytes + at, '\n', n - at);
        size_t size = end ? (size_t)(end - bytes) - at : n - at;
        if (end && r->rest.n == 0) {
            rc = read_line(r, bytes + at, size, e);
        } else {
            rc = keep_rest(r, bytes + at, size, e);
            if (rc == 0 && end) {
                rc = read_line(r, r->rest.s, r->rest.n, e);
                r->rest.n = 0;
            }
        }
        at += size + 1;
    }
    return rc;
}

void lra_aan_free(lra_aan_reader *r)
{
    lra_text_free(&r->rest);
}

void lra_aan_add(const lra_aan_pair *pair, lra_characters *characters, bool counted, int64_t length,
                 uint16_t *token, lra_sequences *to)
{
    lra_row row = {.width = 1, .label = pair->label, .token = token};
    for (int k = 0; k < 2; k++) {
        row.n += lra_characters_encode(characters, pair->text[k], pair->n_text[k], length, counted,
                                       token + row.n);
        if (k == 0) row.middle = row.n;
    }
    lra_sequences_add(to, &row);
}
