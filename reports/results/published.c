/* Searches the published numbers (published.h). */
#include "reports/results/published.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 9, LONGEST = 96 };

/* Reads one line of CSV to fields: quotes are removed, texts are cut to LONGEST bytes. Returns the
 * start of the next line. */
static const char *read_line(const char *at, char field[FIELDS][LONGEST])
{
    for (int f = 0; f < FIELDS; f++) {
        size_t n = 0;
        bool quoted = *at == '"';
        if (quoted) at++;
        for (; *at; at++) {
            if (quoted && *at == '"' && at[1] != '"') break;
            if (quoted && *at == '"') at++;
            if (!quoted && (*at == ',' || *at == '\n' || *at == '\r')) break;
            if (n + 1 < LONGEST) field[f][n++] = *at;
        }
        field[f][n] = 0;
        if (quoted && *at == '"') at++;
        if (*at == ',') at++;
    }
    at += strcspn(at, "\n");
    return at + (*at == '\n');
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Name of a task in published.csv; most names are equal to those of this program. */
static const char *task_name(const char *task, bool causal)
{
    static const char *const names[][2] = {
        {"path-x", "pathx"}, {"path-x-256", "pathx256"}, {"wikitext-103", "wikitext103"}};
    if (strcmp(task, "speech-commands") == 0) return causal ? "sc35-causal" : "sc35-bidirectional";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(task, names[i][0]) == 0) return names[i][1];
    return task;
}

/* Name of a metric in published.csv, where bits per character are called bits per byte ("bpb"). */
static const char *metric_name(const char *metric)
{
    bool bits = strcmp(metric, "bits-per-byte") == 0 || strcmp(metric, "bits-per-character") == 0;
    return bits ? "bpb" : metric;
}

/* ---- values ---------------------------------------------------------------------------------- */

enum { PAPER, TABLE, MODEL, VARIANT, TASK, METRIC, VALUE };

/* Value of a line; NAN if the paper does not report it. */
static double value_of(char field[FIELDS][LONGEST])
{
    return field[VALUE][0] ? strtod(field[VALUE], NULL) : NAN;
}

double lra_published(const char *paper, const char *table, const char *model, const char *variant,
                     const char *task, const char *metric)
{
    const char *const wanted[] = {paper, table, model, variant, task_name(task, false), metric};
    char field[FIELDS][LONGEST];
    for (const char *at = (const char *)lra_published_csv; *at;) {
        at = read_line(at, field);
        bool same = true;
        for (int i = 0; i < 6 && same; i++) same = !wanted[i] || strcmp(field[i], wanted[i]) == 0;
        if (same) return value_of(field);
    }
    return NAN;
}

lra_published_best lra_published_find_best(const char *task, bool causal, const lra_metric *m)
{
    lra_published_best best = {.value = NAN};
    const char *name = task_name(task, causal), *metric = metric_name(m->name);
    char field[FIELDS][LONGEST];
    for (const char *at = (const char *)lra_published_csv; *at;) {
        at = read_line(at, field);
        if (strcmp(field[TASK], name) != 0 || strcmp(field[METRIC], metric) != 0) continue;
        if (!lra_metric_better(m, value_of(field), best.value)) continue;
        best.value = value_of(field);
        snprintf(best.model, sizeof best.model, "%.31s", field[MODEL]);
    }
    return best;
}
