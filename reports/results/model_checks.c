/* Stores the check table of an external model (model_checks.h). */
#include "reports/results/model_checks.h"

#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/printable.h"
#include "reports/results/check_names.h"

enum { NAME, OUTCOME, FOUND, MEANING, REMEDY, DISABLES, TEXTS };
static const char *const path[TEXTS] = {"/check/name",    "/check/outcome", "/check/found",
                                        "/check/meaning", "/check/remedy",  "/check/disables"};
const char *const lra_check_outcome_names[] = {"skipped", "passed", "failed"};
enum { OUTCOMES = sizeof lra_check_outcome_names / sizeof *lra_check_outcome_names };

static char *printable(const char *text)
{
    return lra_make_printable(lra_copy_text(text ? text : ""));
}

void lra_model_checks_add(lra_model_checks *c, const char *name, lra_check_outcome outcome,
                          const char *found, const char *meaning, const char *remedy,
                          const char *disables)
{
    c->row = lra_resize(c->row, (size_t)(c->n + 1) * sizeof *c->row);
    c->row[c->n++] = (lra_model_check){.name = printable(name),
                                       .outcome = outcome,
                                       .found = printable(found),
                                       .meaning = printable(meaning),
                                       .remedy = printable(remedy),
                                       .disables = printable(disables)};
}

void lra_model_checks_free(lra_model_checks *c)
{
    for (int i = 0; i < c->n; i++) {
        lra_free(c->row[i].name);
        lra_free(c->row[i].found);
        lra_free(c->row[i].meaning);
        lra_free(c->row[i].remedy);
        lra_free(c->row[i].disables);
    }
    lra_free(c->row);
    *c = (lra_model_checks){0};
}

void lra_model_checks_copy(lra_model_checks *to, const lra_model_checks *from)
{
    lra_model_checks_free(to);
    for (int i = 0; i < from->n; i++) {
        const lra_model_check *r = &from->row[i];
        lra_model_checks_add(to, r->name, r->outcome, r->found, r->meaning, r->remedy, r->disables);
    }
}

bool lra_model_checks_agree(const lra_model_checks *a, const lra_model_checks *b)
{
    bool agree = a->n == b->n;
    for (int i = 0; i < a->n && agree; i++)
        agree = a->row[i].outcome == b->row[i].outcome &&
                strcmp(a->row[i].name, b->row[i].name) == 0;
    return agree;
}

/* ---- file ------------------------------------------------------------------------------------ */

static const char *entry_of(const lra_model_check *r, int text)
{
    const char *const all[TEXTS] = {
        r->name, lra_check_outcome_names[r->outcome], r->found, r->meaning, r->remedy, r->disables};
    return *all[text] ? all[text] : "-";
}

int lra_model_checks_write(lra_h5 *f, const lra_model_checks *c, lra_err *e)
{
    int rc = 0;
    for (int k = 0; k < TEXTS && rc == 0 && c->n; k++) {
        lra_text t = {0};
        for (int i = 0; i < c->n; i++) lra_text_add(&t, "%s\n", entry_of(&c->row[i], k));
        rc = lra_h5_put_text(f, path[k], t.s, e);
        lra_text_free(&t);
    }
    return rc;
}

/* Splits the text into its lines, in place. Returns their number, at most `most` + 1. */
static int split(char *text, int most, const char **line)
{
    int n = 0;
    for (char *at = text; *at && n <= most;) {
        size_t length = strcspn(at, "\n");
        bool last = at[length] == '\0';
        at[length] = '\0';
        if (n < most) line[n] = strcmp(at, "-") == 0 ? "" : at;
        n++;
        at += length + !last;
    }
    return n;
}

static int add_row(lra_model_checks *c, const char *const *entry, lra_err *e)
{
    int outcome = 0;
    while (outcome < OUTCOMES && strcmp(entry[OUTCOME], lra_check_outcome_names[outcome]) != 0)
        outcome++;
    if (outcome == OUTCOMES)
        return lra_fail(e, "'%s' holds '%.40s', expected passed, failed or skipped", path[OUTCOME],
                        entry[OUTCOME]);
    lra_model_checks_add(c, entry[NAME], (lra_check_outcome)outcome, entry[FOUND], entry[MEANING],
                         entry[REMEDY], entry[DISABLES]);
    return 0;
}

int lra_model_checks_read(lra_h5 *f, lra_model_checks *c, lra_err *e)
{
    char *text[TEXTS] = {NULL};
    const char *line[TEXTS][LRA_MODEL_CHECKS];
    int n = 0, rc = 0;
    if (!lra_h5_has(f, path[NAME])) return 0;
    for (int k = 0; k < TEXTS && rc == 0; k++) {
        text[k] = lra_h5_get_text(f, path[k], e);
        rc = text[k] ? lra_check_lines(1, &(lra_named_text){path[k], text[k]}, e) : LRA_FAILED;
        if (rc != 0) break;
        int lines = split(text[k], LRA_MODEL_CHECKS, line[k]);
        if (k == 0) n = lines;
        if (lines != n || n > LRA_MODEL_CHECKS)
            rc = lra_fail(e, "'%s' has %d lines, expected %d and at most %d", path[k], lines, n,
                          (int)LRA_MODEL_CHECKS);
    }
    for (int i = 0; i < n && rc == 0; i++) {
        const char *entry[TEXTS];
        for (int k = 0; k < TEXTS; k++) entry[k] = line[k][i];
        rc = add_row(c, entry, e);
    }
    for (int k = 0; k < TEXTS; k++) lra_free(text[k]);
    return rc;
}
